#include "otlp/attribute_text.h"

#include "base/text.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <simdjson.h>

namespace hone::otlp {

namespace {

namespace dom = simdjson::dom;

constexpr char hex_digits[] = "0123456789abcdef";

bool is_special(const Attributes& map) {
    return map.size() == 1 && map[0].key.starts_with('$');
}

void append_number(std::string& out, double number) {
    if (!std::isfinite(number)) {
        out += std::isnan(number) ? R"({"$real":"NaN"})"
               : number > 0       ? R"({"$real":"Infinity"})"
                                  : R"({"$real":"-Infinity"})";
        return;
    }
    char digits[40];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
    const std::string_view text(digits, static_cast<size_t>(end - digits));
    out += text;
    if (text.find_first_of(".e") == std::string_view::npos) out += ".0"; // a real stays a real
}

void append_integer(std::string& out, int64_t number) {
    char digits[24];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
    out.append(digits, end);
}

class Reader {
public:
    explicit Reader(Batch& batch) : m_batch(batch) {}

    // Views point into the parser's buffer, which the batch keeps.
    Result<Attributes> read(std::string_view text) {
        auto parser = std::make_shared<dom::parser>();
        if (parser->allocate(std::max<size_t>(text.size(), 64), 256) != simdjson::SUCCESS)
            return too_large("attributes are too large");
        dom::object object;
        if (parser->parse(text.data(), text.size()).get(object) != simdjson::SUCCESS)
            return corrupt("attributes are not a JSON object");
        auto attributes = map(object);
        keep(std::move(parser));
        if (m_bad) return corrupt("attributes hold an unknown special value");
        return attributes;
    }

private:
    Attributes map(const dom::object& object) {
        Attributes attributes;
        for (const auto [key, value] : object) attributes.push_back({key, Value{this->value(value)}});
        return attributes;
    }

    Value value(const dom::element& element) {
        switch (element.type()) {
        case dom::element_type::BOOL:
            return {bool(element)};
        case dom::element_type::INT64:
            return {int64_t(element)};
        case dom::element_type::UINT64:
            return bad();
        case dom::element_type::DOUBLE:
            return {double(element)};
        case dom::element_type::STRING:
            return {std::string_view(element)};
        case dom::element_type::ARRAY:
            return list(element);
        case dom::element_type::OBJECT:
            return object(element);
        case dom::element_type::NULL_VALUE:
            break;
        }
        return bad();
    }

    Value list(const dom::element& element) {
        Value result;
        auto& values = result.data.emplace<std::vector<Value>>();
        for (const dom::element& entry : dom::array(element)) values.push_back(value(entry));
        return result;
    }

    Value object(const dom::element& element) {
        const dom::object entries(element);
        const auto first = entries.begin();
        if (entries.size() != 1 || !first.key().starts_with('$')) return {map(entries)};
        return special(first.key(), first.value());
    }

    Value special(std::string_view key, const dom::element& value) {
        std::string_view text;
        dom::object inner;
        if (key == "$unset") return {};
        if (key == "$map" && value.get(inner) == simdjson::SUCCESS) return {map(inner)};
        if (value.get(text) != simdjson::SUCCESS) return bad();
        if (key == "$bytes") {
            auto bytes = from_hex(text);
            return bytes.ok() ? Value{Bytes{m_batch.keep(std::move(bytes).value())}} : bad();
        }
        if (key != "$real") return bad();
        if (text == "NaN") return {std::numeric_limits<double>::quiet_NaN()};
        const double infinity = std::numeric_limits<double>::infinity();
        return {text == "-Infinity" ? -infinity : infinity};
    }

    Value bad() {
        m_bad = true;
        return {};
    }

    // One batch may read many texts: chain the parsers.
    void keep(std::shared_ptr<void> parser) {
        using Chain = std::pair<std::shared_ptr<void>, std::shared_ptr<void>>;
        m_batch.document = std::make_shared<Chain>(std::move(parser), std::move(m_batch.document));
    }

    Batch& m_batch;
    bool m_bad = false;
};

} // namespace

void append_json_string(std::string& out, std::string_view text) {
    out += '"';
    size_t done = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        const auto letter = static_cast<unsigned char>(text[i]);
        if (letter >= 0x20 && letter != '"' && letter != '\\') continue;
        out.append(text, done, i - done);
        done = i + 1;
        switch (letter) {
        case '"':
            out += "\\\"";
            break;
        case '\\':
            out += "\\\\";
            break;
        case '\n':
            out += "\\n";
            break;
        case '\r':
            out += "\\r";
            break;
        case '\t':
            out += "\\t";
            break;
        default:
            out += "\\u00";
            out += hex_digits[letter >> 4];
            out += hex_digits[letter & 15];
        }
    }
    out.append(text, done, text.size() - done);
    out += '"';
}

void append_value_text(std::string& out, const Value& value) {
    struct Writer {
        std::string& out;
        void operator()(std::monostate) { out += R"({"$unset":true})"; }
        void operator()(bool flag) { out += flag ? "true" : "false"; }
        void operator()(int64_t number) { append_integer(out, number); }
        void operator()(double number) { append_number(out, number); }
        void operator()(std::string_view text) { append_json_string(out, text); }
        void operator()(const Bytes& bytes) { out += R"({"$bytes":")" + to_hex(bytes.data) + "\"}"; }
        void operator()(const std::vector<Value>& list) {
            out += '[';
            for (size_t i = 0; i < list.size(); ++i) {
                if (i) out += ',';
                append_value_text(out, list[i]);
            }
            out += ']';
        }
        void operator()(const Attributes& map) {
            const bool wrap = is_special(map);
            if (wrap) out += R"({"$map":)";
            append_attribute_text(out, map);
            if (wrap) out += '}';
        }
    };
    std::visit(Writer{out}, value.data);
}

void append_attribute_text(std::string& out, const Attributes& attributes) {
    out += '{';
    for (size_t i = 0; i < attributes.size(); ++i) {
        if (i) out += ',';
        append_json_string(out, attributes[i].key);
        out += ':';
        append_value_text(out, attributes[i].value);
    }
    out += '}';
}

Result<Attributes> read_attribute_text(std::string_view text, Batch& batch) {
    return Reader(batch).read(text);
}

} // namespace hone::otlp
