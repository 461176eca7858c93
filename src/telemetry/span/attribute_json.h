// A JSON text inside an attribute, read by pointers: "/usage/inputTokens". Bounded; a text that is not JSON has
// nothing. Internal to telemetry/span.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace hone::telemetry {

class AttributeJson {
public:
    explicit AttributeJson(std::string_view json);
    ~AttributeJson();

    bool ok() const;
    // The first of the pointers below `under` that leads to a number, or to a text that is not empty.
    std::optional<int64_t> whole(std::initializer_list<std::string_view> pointers, std::string_view under = {}) const;
    std::optional<double> real(std::initializer_list<std::string_view> pointers, std::string_view under = {}) const;
    std::string text(std::initializer_list<std::string_view> pointers, std::string_view under = {}) const;
    // Each member of an object, each entry of a list: texts as they are, other values as JSON text.
    void each_member(const std::function<void(std::string_view name, std::string value)>& use) const;
    void each_entry(const std::function<void(std::string value)>& use) const;

    struct Parsed; // of the library

private:
    std::unique_ptr<Parsed> m_parsed;
};

// A text that is one JSON string, decoded; nothing for any other text.
std::optional<std::string> decode_json_string(std::string_view text);

} // namespace hone::telemetry
