#include "cli/terminal/amount.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace hone::cli {

namespace {

std::string with_digits(double number, int digits) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, number);
    return text;
}

// "1.2", "12.5", "125", "2": three digits are enough.
std::string short_number(double number) {
    std::string text = with_digits(number, std::abs(number) < 99.95 ? 1 : 0);
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text;
}

// The larger unit and what is left of the smaller one.
std::string two_units(int64_t count, int64_t per_large, std::string_view large, std::string_view small) {
    std::string text = std::to_string(count / per_large) + " " + std::string(large);
    if (count % per_large != 0) text += " " + std::to_string(count % per_large) + " " + std::string(small);
    return text;
}

} // namespace

std::string duration_text(int64_t ns) {
    constexpr int64_t microsecond = 1000, millisecond = 1'000'000, second = 1'000'000'000;
    if (ns < 0) return "-" + duration_text(ns == INT64_MIN ? INT64_MAX : -ns);
    if (ns == 0) return "0 ms";
    if (ns < microsecond) return std::to_string(ns) + " ns";
    if (ns < millisecond) return std::to_string(ns / microsecond) + " µs";
    if (ns < 10 * millisecond) return short_number(static_cast<double>(ns) / millisecond) + " ms";
    if (ns < second) return std::to_string(ns / millisecond) + " ms";
    if (ns < 60 * second) return short_number(static_cast<double>(ns) / second) + " s";
    const int64_t seconds = ns / second;
    if (seconds < 3600) return two_units(seconds, 60, "min", "s");
    return two_units(seconds / 60, 60, "h", "min");
}

std::string count_text(int64_t count) {
    if (count < 0) return "-" + count_text(count == INT64_MIN ? INT64_MAX : -count);
    if (count < 1000) return std::to_string(count);
    const auto amount = static_cast<double>(count);
    if (amount < 999'500) return short_number(amount / 1e3) + "k";
    if (amount < 999'500'000) return short_number(amount / 1e6) + "M";
    return short_number(amount / 1e9) + "G";
}

std::string money_text(int64_t micro_usd) {
    if (micro_usd < 0) return "-" + money_text(micro_usd == INT64_MIN ? INT64_MAX : -micro_usd);
    if (micro_usd == 0) return "$0";
    const double dollars = static_cast<double>(micro_usd) / 1e6;
    if (micro_usd < 100) return "$" + with_digits(dollars, 6);
    return "$" + with_digits(dollars, micro_usd < 1'000'000 ? 4 : 2);
}

std::string bytes_text(uint64_t bytes) {
    constexpr std::string_view units[] = {"B", "KB", "MB", "GB", "TB"};
    auto amount = static_cast<double>(bytes);
    size_t unit = 0;
    while (amount >= 1000 && unit + 1 < std::size(units)) {
        amount /= 1000;
        ++unit;
    }
    return with_digits(amount, unit == 0 ? 0 : 1) + " " + std::string(units[unit]);
}

std::string decimal_text(double number) {
    std::array<char, 64> digits{};
    const bool is_ordinary = number == 0 || (std::abs(number) >= 1e-6 && std::abs(number) < 1e15);
    const auto [end, error] =
        is_ordinary ? std::to_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::fixed)
                    : std::to_chars(digits.data(), digits.data() + digits.size(), number);
    return error == std::errc() ? std::string(digits.data(), end) : std::string("?");
}

std::string share_text(double share) {
    return with_digits(share * 100, 1) + " %";
}

} // namespace hone::cli
