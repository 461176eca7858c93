#include "monitor/sql_value.h"

#include "base/text.h"

#include <charconv>
#include <cmath>

namespace hone::monitor {

namespace {

constexpr std::string_view window_from = "{{window.from}}";
constexpr std::string_view window_to = "{{window.to}}";

std::string replaced(std::string text, std::string_view variable, const std::string& value) {
    for (size_t at = text.find(variable); at != text.npos; at = text.find(variable, at + value.size()))
        text.replace(at, variable.size(), value);
    return text;
}

// 64-bit numbers come as text.
std::optional<double> number_in(const json::Value& value) {
    if (value.is_double()) return value.get_double();
    if (value.is_int64()) return static_cast<double>(value.get_int64());
    if (value.is_uint64()) return static_cast<double>(value.get_uint64());
    if (value.is_bool()) return value.get_bool() ? 1 : 0;
    if (!value.is_string()) return std::nullopt;
    const std::string_view text(value.get_string());
    double number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
    return number;
}

} // namespace

Result<> check_sql(const std::string& sql) {
    if (sql.size() > longest_monitor_sql || !is_valid_utf8(sql))
        return invalid("sql must be at most 10000 bytes of text");
    if (sql.find(window_from) == sql.npos || sql.find(window_to) == sql.npos)
        return invalid("sql must use {{window.from}} and {{window.to}}, such as: SELECT count() FROM spans WHERE "
                       "start_ns >= {{window.from}} AND start_ns < {{window.to}}");
    const std::string rest = replaced(replaced(sql, window_from, ""), window_to, "");
    if (rest.find("{{") != rest.npos) return invalid("sql has the variables {{window.from}} and {{window.to}} only");
    return {};
}

std::string sql_for_window(const std::string& sql, Time from, Time to) {
    return replaced(replaced(sql, window_from, std::to_string(to_ns(from))), window_to, std::to_string(to_ns(to)));
}

Result<std::optional<double>> number_in_result(std::string_view json_result) {
    const json::Value result = TRY(json::parse(json_result));
    const json::Value* rows = result.is_object() ? result.get_object().if_contains("data") : nullptr;
    if (rows == nullptr || !rows->is_array()) return invalid("sql returned no table");
    if (rows->get_array().empty()) return std::optional<double>();
    if (rows->get_array().size() > 1) return invalid("sql must return one row");
    const json::Value& row = rows->get_array().front();
    if (!row.is_object() || row.get_object().size() != 1) return invalid("sql must return one column");
    const json::Value& value = row.get_object().begin()->value();
    if (value.is_null()) return std::optional<double>();
    const auto number = number_in(value);
    if (!number) return invalid("sql must return a number");
    if (!std::isfinite(*number)) return std::optional<double>();
    return number;
}

} // namespace hone::monitor
