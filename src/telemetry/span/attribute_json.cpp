#include "telemetry/span/attribute_json.h"

#include <cmath>
#include <simdjson.h>

namespace hone::telemetry {

struct AttributeJson::Parsed {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
};

namespace {

// Making a parser costs more than reading a short text with it, so each thread keeps one.
constexpr size_t longest_kept = 64 << 10;
thread_local std::unique_ptr<AttributeJson::Parsed> spare_parser;

} // namespace

AttributeJson::AttributeJson(std::string_view json) {
    constexpr size_t longest = 4 << 20;
    if (json.size() < 2 || json.size() > longest) return;
    auto parsed = spare_parser ? std::move(spare_parser) : std::make_unique<Parsed>();
    if (parsed->parser.parse(json.data(), json.size()).get(parsed->root) == simdjson::SUCCESS)
        m_parsed = std::move(parsed);
    else if (parsed->parser.capacity() <= longest_kept)
        spare_parser = std::move(parsed);
}

AttributeJson::~AttributeJson() {
    if (m_parsed && m_parsed->parser.capacity() <= longest_kept) spare_parser = std::move(m_parsed);
}

bool AttributeJson::ok() const {
    return m_parsed != nullptr;
}

std::optional<double> AttributeJson::real(std::initializer_list<std::string_view> pointers,
                                          std::string_view under) const {
    double number = 0;
    for (const std::string_view pointer : pointers)
        if (m_parsed &&
            m_parsed->root.at_pointer(std::string(under).append(pointer)).get(number) == simdjson::SUCCESS &&
            std::abs(number) < 1e15)
            return number;
    return std::nullopt;
}

std::optional<int64_t> AttributeJson::whole(std::initializer_list<std::string_view> pointers,
                                            std::string_view under) const {
    const auto number = real(pointers, under);
    return number ? std::optional(static_cast<int64_t>(*number)) : std::nullopt;
}

std::string AttributeJson::text(std::initializer_list<std::string_view> pointers, std::string_view under) const {
    std::string_view text;
    for (const std::string_view pointer : pointers)
        if (m_parsed && m_parsed->root.at_pointer(std::string(under).append(pointer)).get(text) == simdjson::SUCCESS &&
            !text.empty())
            return std::string(text);
    return {};
}

namespace {

std::string short_json(const simdjson::dom::element& element) {
    std::string_view text;
    if (element.get(text) == simdjson::SUCCESS) return std::string(text);
    return element.is_null() ? std::string() : simdjson::minify(element);
}

} // namespace

void AttributeJson::each_member(const std::function<void(std::string_view name, std::string value)>& use) const {
    simdjson::dom::object object;
    if (!m_parsed || m_parsed->root.get(object) != simdjson::SUCCESS) return;
    for (const auto [name, value] : object) use(name, short_json(value));
}

void AttributeJson::each_entry(const std::function<void(std::string value)>& use) const {
    simdjson::dom::array list;
    if (!m_parsed || m_parsed->root.get(list) != simdjson::SUCCESS) return;
    for (const simdjson::dom::element value : list) use(short_json(value));
}

std::optional<std::string> decode_json_string(std::string_view text) {
    if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
    simdjson::dom::parser parser;
    std::string_view decoded;
    if (parser.parse(text.data(), text.size()).get(decoded) != simdjson::SUCCESS) return std::nullopt;
    return std::string(decoded);
}

} // namespace hone::telemetry
