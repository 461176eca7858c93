#include "sql/connection.h"

#include "base/text.h"

namespace hone::sql {

namespace {
Result<> check_value(const Value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) {
        if (text->find('\0') != std::string::npos) return invalid("text must not contain the character NUL");
        if (!is_valid_utf8(*text)) return invalid("text must be valid UTF-8");
    }
    // SQLite would store NULL.
    if (const auto* number = std::get_if<double>(&value); number != nullptr && std::isnan(*number))
        return invalid("not a number");
    return {};
}
} // namespace

Result<StatementResult> Connection::run(std::string_view sql, std::span<const Value> values) {
    m_may_run_again = false;
    for (const Value& value : values) TRY(check_value(value));
    return run_checked(sql, values);
}

Error result_too_large(std::string_view sql) {
    return {Code::too_large, "the result of the database is too large", std::string(sql)};
}
Error write_in_query(std::string_view sql) {
    return internal("a statement that writes was given to query()", std::string(sql));
}
Error already_exists(std::string trail) {
    return {Code::conflict, "it exists already", std::move(trail)};
}
Error broken_reference(std::string trail) {
    return {Code::conflict, "it refers to something that does not exist, or something still refers to it",
            std::move(trail)};
}
Error broken_rule(std::string trail) {
    return {Code::invalid, "a value is not allowed", std::move(trail)};
}
Error took_too_long(std::string trail) {
    return {Code::busy, "the database did not respond in time; try again", std::move(trail)};
}

} // namespace hone::sql
