#include "telemetry/transfer/import_lines.h"

#include "base/text.h"
#include "base/time.h"
#include "otlp/decode.h"
#include "otlp/encode.h"
#include "telemetry/query/span_store.h"

#include <climits>
#include <simdjson.h>

namespace hone::telemetry {

namespace {

namespace dom = simdjson::dom;

constexpr size_t json_depth = 128;

// Nothing is cut here: that is for the decoder that reads the result.
otlp::Limits no_limits() {
    otlp::Limits limits;
    limits.text_bytes = limits.name_bytes = limits.key_bytes = limits.attributes = limits.events = limits.links =
        limits.span_bytes = largest_element;
    return limits;
}

class JsonText {
public:
    Result<dom::object> parse(std::string_view json) {
        if (m_parser.allocate(std::max<size_t>(json.size(), 64), json_depth) != simdjson::SUCCESS)
            return too_large("too large");
        dom::element root;
        if (const auto error = m_parser.parse(json.data(), json.size()).get(root); error != simdjson::SUCCESS)
            return invalid(std::string("not JSON: ") + simdjson::error_message(error));
        dom::object object;
        if (root.get(object) != simdjson::SUCCESS) return invalid("not a JSON object");
        return object;
    }

private:
    dom::parser m_parser;
};

std::string text_of(const dom::object& object, std::string_view name) {
    std::string_view text;
    return object.at_key(name).get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

// JSON inside JSON: an object or a list as such, or as a text that holds it.
std::string json_of(const dom::object& object, std::string_view name, std::string_view absent) {
    dom::element value;
    if (object.at_key(name).get(value) != simdjson::SUCCESS || value.is_null()) return std::string(absent);
    if (std::string_view text; value.get(text) == simdjson::SUCCESS) return std::string(text.empty() ? absent : text);
    return simdjson::minify(value);
}

// A time as a number, in the unit that puts it between the years 1973 and 5138.
Result<int64_t> time_of_number(int64_t number, std::string_view name) {
    for (const int64_t unit : {int64_t{1}, int64_t{1'000}, int64_t{1'000'000}, int64_t{1'000'000'000}})
        if (number >= 100'000'000'000'000'000 / unit && number <= INT64_MAX / unit) return number * unit;
    return invalid(std::string(name) + " is a number that is no time");
}

Result<int64_t> time_of(const dom::object& object, std::string_view name) {
    dom::element value;
    if (object.at_key(name).get(value) != simdjson::SUCCESS || value.is_null())
        return invalid(std::string(name) + " is missing");
    if (int64_t number = 0; value.get(number) == simdjson::SUCCESS) return time_of_number(number, name);
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) return invalid(std::string(name) + " is not a time");
    auto time = parse_time(text);
    if (!time.ok()) return invalid(std::string(name) + " is not a time like 2026-01-31T12:00:00Z");
    return to_ns(time.value());
}

otlp::StatusCode status_of(std::string_view name) {
    if (equals_ignoring_case(name, "ok")) return otlp::StatusCode::ok;
    if (equals_ignoring_case(name, "error")) return otlp::StatusCode::error;
    return otlp::StatusCode::unset;
}

// Phoenix's attributes: nested as its data frames have them, or flat; flat here, as OpenInference sends them.
class PhoenixSpan {
public:
    Result<otlp::Batch> read(const dom::object& object) {
        otlp::Span span;
        dom::object context;
        const bool is_nested = object.at_key("context").get(context) == simdjson::SUCCESS;
        span.trace_id = TRY(id(is_nested ? text_of(context, "trace_id") : text_of(object, "context.trace_id")));
        span.span_id = TRY(id(is_nested ? text_of(context, "span_id") : text_of(object, "context.span_id")));
        span.parent_span_id = TRY(id(text_of(object, "parent_id")));
        span.name = m_batch.keep(text_of(object, "name"));
        span.start_ns = static_cast<uint64_t>(TRY(time_of(object, "start_time")));
        dom::element end;
        const bool has_end = object.at_key("end_time").get(end) == simdjson::SUCCESS && !end.is_null();
        span.end_ns = has_end ? static_cast<uint64_t>(TRY(time_of(object, "end_time"))) : span.start_ns;
        span.status = status_of(text_of(object, "status_code"));
        span.status_message = m_batch.keep(text_of(object, "status_message"));
        for (const auto [key, value] : object) {
            if (key == "attributes") {
                dom::object inner;
                if (value.get(inner) == simdjson::SUCCESS)
                    for (const auto [name, entry] : inner) flatten(span.attributes, std::string(name), entry, 0);
            } else if (key.starts_with("attributes."))
                flatten(span.attributes, std::string(key.substr(11)), value, 0);
        }
        const std::string kind = text_of(object, "span_kind");
        if (!kind.empty() && otlp::find(span.attributes, "openinference.span.kind") == nullptr)
            span.attributes.push_back({"openinference.span.kind", {m_batch.keep(kind)}});
        TRY(add_events(object, span));
        m_batch.resources.emplace_back();
        m_batch.scopes.emplace_back();
        m_batch.spans.push_back(std::move(span));
        return std::move(m_batch);
    }

private:
    Result<std::string_view> id(const std::string& text) {
        if (text.empty()) return std::string_view();
        auto bytes = from_hex(text);
        if (!bytes.ok()) return invalid("an id is not hexadecimal");
        return m_batch.keep(std::move(bytes).value());
    }

    static bool holds_objects(const dom::array& list) {
        for (const dom::element& entry : list)
            if (entry.is_object() || entry.is_array()) return true;
        return false;
    }

    void flatten(otlp::Attributes& attributes, std::string key, const dom::element& value, int depth) {
        if (value.is_null() || depth > 32) return;
        if (dom::object object; value.get(object) == simdjson::SUCCESS) {
            for (const auto [name, entry] : object)
                flatten(attributes, key + "." + std::string(name), entry, depth + 1);
            return;
        }
        dom::array list;
        if (value.get(list) == simdjson::SUCCESS && holds_objects(list)) {
            size_t index = 0;
            for (const dom::element& entry : list)
                flatten(attributes, key + "." + std::to_string(index++), entry, depth + 1);
            return;
        }
        attributes.push_back({m_batch.keep(std::move(key)), plain(value)});
    }

    otlp::Value plain(const dom::element& value) {
        otlp::Value made;
        if (std::string_view text; value.get(text) == simdjson::SUCCESS)
            made.data = m_batch.keep(std::string(text));
        else if (bool flag = false; value.get(flag) == simdjson::SUCCESS)
            made.data = flag;
        else if (int64_t number = 0; value.get(number) == simdjson::SUCCESS)
            made.data = number;
        else if (double real = 0; value.get(real) == simdjson::SUCCESS)
            made.data = real;
        else if (dom::array list; value.get(list) == simdjson::SUCCESS) {
            auto& values = made.data.emplace<std::vector<otlp::Value>>();
            for (const dom::element& entry : list) values.push_back(plain(entry));
        }
        return made;
    }

    Result<> add_events(const dom::object& object, otlp::Span& span) {
        dom::array events;
        if (object.at_key("events").get(events) != simdjson::SUCCESS) return {};
        for (const dom::element& entry : events) {
            dom::object fields;
            if (entry.get(fields) != simdjson::SUCCESS) continue;
            otlp::Event event;
            event.name = m_batch.keep(text_of(fields, "name"));
            event.time_ns = static_cast<uint64_t>(TRY(time_of(fields, "timestamp")));
            dom::object attributes;
            if (fields.at_key("attributes").get(attributes) == simdjson::SUCCESS)
                for (const auto [name, value] : attributes) flatten(event.attributes, std::string(name), value, 0);
            span.events.push_back(std::move(event));
        }
        return {};
    }

    otlp::Batch m_batch;
};

} // namespace

Result<ImportElement> read_span_line(std::string_view json) {
    JsonText document;
    const dom::object object = TRY(document.parse(json));
    SpanPayload span;
    span.row.trace_id = lowercase_ascii(text_of(object, "trace_id"));
    span.row.span_id = lowercase_ascii(text_of(object, "span_id"));
    span.row.parent_id = lowercase_ascii(text_of(object, "parent_id"));
    span.row.name = text_of(object, "name");
    uint64_t otel_kind = 0;
    if (object.at_key("otel_kind").get(otel_kind) == simdjson::SUCCESS)
        span.row.otel_kind = static_cast<uint8_t>(std::min<uint64_t>(otel_kind, 255));
    int64_t duration = 0;
    if (object.at_key("start_ns").get(span.row.start_ns) == simdjson::SUCCESS) { // as tables have it
        if (object.at_key("duration_ns").get(duration) == simdjson::SUCCESS) span.row.duration_ns = duration;
    } else {
        span.row.start_ns = TRY(time_of(object, "start_time"));
        span.row.duration_ns = TRY(time_of(object, "end_time")) - span.row.start_ns;
    }
    if (span.row.start_ns <= 0 || span.row.duration_ns < 0 || span.row.duration_ns > INT64_MAX - span.row.start_ns)
        return invalid("times are out of range");
    span.row.status = status_of(text_of(object, "status"));
    span.row.status_message = text_of(object, "status_message");
    span.input = text_of(object, "input");
    span.output = text_of(object, "output");
    span.attributes = json_of(object, "attributes", "{}");
    span.resource = json_of(object, "resource", "{}");
    span.scope = json_of(object, "scope", "{}");
    span.events = json_of(object, "events", "[]");
    span.links = json_of(object, "links", "[]");
    span.wire = json_of(object, "wire", "{}");
    auto batch = to_otlp({span});
    if (!batch.ok()) return invalid("not a span in the format of Hone: " + batch.error().message);
    ImportElement element = element_of(batch.value());
    dom::array truncated;
    if (object.at_key("truncated").get(truncated) == simdjson::SUCCESS)
        for (const dom::element& key : truncated)
            if (std::string_view text; key.get(text) == simdjson::SUCCESS && element.truncated.size() < 2048)
                element.truncated.emplace_back(text);
    return element;
}

Result<ImportElement> read_otlp_line(std::string_view json) {
    const otlp::Batch batch = TRY(otlp::decode_json(json, no_limits()));
    return element_of(batch);
}

Result<ImportElement> read_phoenix_span(std::string_view json) {
    JsonText document;
    const dom::object object = TRY(document.parse(json));
    const otlp::Batch batch = TRY(PhoenixSpan().read(object));
    return element_of(batch);
}

// --- cutting -------------------------------------------------------------------------------------------------------

// False: the bytes do not decide it yet.
bool ElementSplitter::find_kind() {
    const size_t begin = m_buffer.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos) return m_is_over;
    const size_t end = m_buffer.find('\n', std::max(begin, m_at));
    if (m_buffer[begin] != '[' && end == std::string::npos && !m_is_over && m_buffer.size() < largest_element) {
        m_at = m_buffer.size(); // has no line end after `begin`
        return false;
    }
    m_at = 0;
    const std::string_view line = trim(std::string_view(m_buffer).substr(begin, end - begin));
    // An indented value breaks after a bracket or a comma; any other line stands alone, also when it is broken.
    const bool is_open = !line.empty() && std::string_view("{[,").find(line.back()) != std::string_view::npos;
    const bool begins_value = line.starts_with('[') || (line.starts_with('{') && is_open);
    m_kind = begins_value ? Kind::json_values : Kind::lines;
    return true;
}

Result<> ElementSplitter::add(std::string_view bytes) {
    m_buffer += bytes;
    if (m_kind == Kind::json && !find_kind()) return {};
    switch (m_kind) {
    case Kind::lines:
        return add_lines();
    case Kind::json_values:
        return add_values();
    case Kind::otlp_messages:
        return add_messages();
    case Kind::json:
        break;
    }
    return {};
}

Result<> ElementSplitter::finish() {
    m_is_over = true;
    if (m_kind == Kind::json) (void)find_kind();
    if (m_kind == Kind::lines && !m_buffer.empty() && m_buffer.back() != '\n') m_buffer += '\n';
    TRY(add(""));
    if (m_kind == Kind::otlp_messages && !m_buffer.empty()) m_refuse(m_number + 1, "the file ends inside a message");
    if (m_kind == Kind::json_values && (m_depth > 0 || m_in_text))
        m_refuse(m_number + 1, "the file ends inside a value");
    return {};
}

Result<> ElementSplitter::add_lines() {
    size_t begin = 0;
    for (size_t end = m_buffer.find('\n', m_at); end != std::string::npos; end = m_buffer.find('\n', begin)) {
        ++m_number;
        const std::string_view line = trim(std::string_view(m_buffer).substr(begin, end - begin));
        begin = end + 1;
        if (m_skips_line)
            m_skips_line = false;
        else if (!line.empty())
            TRY(m_take(line, m_number));
    }
    m_buffer.erase(0, begin);
    m_at = m_buffer.size(); // has no line end
    if (m_buffer.size() > largest_element) {
        if (!m_skips_line) m_refuse(m_number + 1, "the line is longer than 64 MB");
        m_skips_line = true;
        m_buffer.clear();
        m_at = 0;
    }
    return {};
}

// A document is a list of elements, an object whose first member "data" or "runs" is one, or an element itself. False:
// the bytes do do not decide it yet.
Result<bool> ElementSplitter::begin_document(size_t& at) {
    const std::string_view rest = std::string_view(m_buffer).substr(at);
    const auto skip = [&](size_t from) {
        while (from < rest.size() && std::string_view(" \t\r\n").find(rest[from]) != std::string_view::npos) ++from;
        return from;
    };
    if (rest.front() == '[') {
        m_depth = m_element_depth = 1;
        ++at;
        return true;
    }
    const size_t key = skip(1);
    const size_t colon = skip(key + 6);
    const size_t list = skip(colon + 1);
    if (list >= rest.size() && !m_is_over && rest.size() < 4096) return false;
    const std::string_view name = rest.substr(std::min(key, rest.size()), 6);
    if (list < rest.size() && (name == "\"data\"" || name == "\"runs\"") && rest[colon] == ':' && rest[list] == '[') {
        m_depth = m_element_depth = 2;
        at += list + 1;
    } else {
        m_depth = m_element_depth = 0;
        m_element = at;
    }
    return true;
}

Result<> ElementSplitter::take_value(size_t end) {
    ++m_number;
    return m_take(std::string_view(m_buffer).substr(m_element, end - m_element), m_number);
}

Result<> ElementSplitter::add_values() {
    while (m_at < m_buffer.size()) {
        const char letter = m_buffer[m_at];
        if (m_element_depth < 0) {
            if (letter == '{' || letter == '[') {
                if (!TRY(begin_document(m_at))) break;
                continue;
            }
            if (std::string_view(" \t\r\n,").find(letter) == std::string_view::npos)
                return invalid("element " + std::to_string(m_number + 1) + ": a JSON object or a list is expected");
            ++m_at;
            continue;
        }
        ++m_at;
        if (m_in_text) {
            if (m_is_escaped)
                m_is_escaped = false;
            else if (letter == '\\')
                m_is_escaped = true;
            else if (letter == '"')
                m_in_text = false;
        } else if (letter == '"') {
            m_in_text = true;
        } else if (letter == '{' || letter == '[') {
            if (m_depth == m_element_depth) m_element = m_at - 1;
            ++m_depth;
        } else if (letter == '}' || letter == ']') {
            --m_depth;
            if (m_depth == m_element_depth && letter == '}') TRY(take_value(m_at));
            if (m_depth < m_element_depth) m_element_depth = INT_MAX; // the list is over: what follows is not wanted
            if (m_depth <= 0) m_element_depth = -1, m_depth = 0;
        }
    }
    // Bytes before the element that is being read are done with.
    const bool is_inside = m_element_depth >= 0 && m_element_depth != INT_MAX && m_depth > m_element_depth;
    const size_t done = is_inside ? m_element : m_at;
    m_buffer.erase(0, done);
    m_at -= done;
    m_element = 0;
    if (m_buffer.size() > largest_element)
        return invalid("element " + std::to_string(m_number + 1) + " is longer than 64 MB");
    return {};
}

// ResourceSpans, field 1 of the request: tag 0x0a, length, bytes.
Result<> ElementSplitter::add_messages() {
    size_t begin = 0;
    for (;;) {
        const std::string_view rest = std::string_view(m_buffer).substr(begin);
        if (rest.empty()) break;
        if (rest.front() != 0x0a) return invalid("message " + std::to_string(m_number + 1) + ": not OTLP in protobuf");
        uint64_t length = 0;
        size_t at = 1;
        bool is_whole = false;
        for (int shift = 0; at < rest.size() && shift < 35 && !is_whole; shift += 7) {
            const auto byte = static_cast<unsigned char>(rest[at++]);
            length |= static_cast<uint64_t>(byte & 0x7f) << shift;
            is_whole = byte < 0x80;
        }
        if (!is_whole && at < 6 && at == rest.size()) break; // the length is not in yet
        if (!is_whole || length > largest_element)
            return invalid("message " + std::to_string(m_number + 1) + " is longer than 64 MB");
        if (rest.size() - at < length) break;
        ++m_number;
        TRY(m_take(rest.substr(0, at + length), m_number));
        begin += at + length;
    }
    m_buffer.erase(0, begin);
    return {};
}

} // namespace hone::telemetry
