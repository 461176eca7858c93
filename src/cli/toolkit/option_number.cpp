#include "cli/toolkit/option_number.h"

#include "base/text.h"

#include <charconv>
#include <cmath>

namespace hone::cli {

Result<> set_number(const Context& context, std::string_view option, const char* key, json::Object& into) {
    const auto text = context.parsed.value(option);
    if (!text) return {};
    double value = 0;
    const auto [end, failed] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (failed != std::errc() || end != text->data() + text->size())
        return context.usage(std::string(option) + " must be a number");
    into[key] = value;
    return {};
}

Result<> set_seconds(const Context& context, std::string_view option, const char* key, json::Object& into) {
    const auto text = context.parsed.value(option);
    if (!text) return {};
    const auto length = parse_duration_ns(*text);
    if (!length.ok()) return context.usage(std::string(option) + " must be a duration like 15m or 24h");
    into[key] = length.value() / 1'000'000'000;
    return {};
}

Result<> set_dollars(const Context& context, std::string_view option, const char* key, json::Object& into) {
    json::Object given;
    TRY(set_number(context, option, "dollars", given));
    if (given.empty()) return {};
    const double dollars = given["dollars"].get_double();
    if (!(dollars >= 0) || dollars > 1e9) return context.usage(std::string(option) + " must be an amount in dollars");
    into[key] = std::llround(dollars * 1e6);
    return {};
}

} // namespace hone::cli
