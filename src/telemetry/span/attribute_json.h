// A JSON text inside an attribute, read by pointers: "/usage/inputTokens". Bounded; a text that is not JSON has
// nothing. Internal to telemetry/span.
#pragma once

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
    // Calls use(name, text) for each member of an object whose value is short; other values as JSON text.
    template <class Use>
    void each_member(Use use) const {
        for (size_t i = 0;; ++i) {
            std::string name, value;
            if (!member(i, name, value)) return;
            use(std::move(name), std::move(value));
        }
    }
    template <class Use>
    void each_entry(Use use) const {
        for (size_t i = 0;; ++i) {
            std::string value;
            if (!entry(i, value)) return;
            use(std::move(value));
        }
    }

private:
    bool member(size_t index, std::string& name, std::string& value) const;
    bool entry(size_t index, std::string& value) const;

    struct Parsed;
    std::unique_ptr<Parsed> m_parsed;
};

// A text that is one JSON string, decoded; nothing for any other text.
std::optional<std::string> decode_json_string(std::string_view text);

} // namespace hone::telemetry
