// Responses of the API for people and for programs: tables, records, JSON. A family declares its columns once and shows
// lists and single things with them. One thread.
#pragma once

#include "cli/remote/context.h"
#include "cli/remote/remote.h"
#include "json/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace hone::cli {

// duration: nanoseconds; count: shortened; money: micro-dollars; bytes: a size.
enum class Kind { text, id, time, yes_no, number, list, duration, count, money, bytes };

struct Column {
    std::string_view title; // "created"
    std::string_view field; // "created_at"; "tokens.total" inside another
    Kind kind = Kind::text;
    std::string_view absent = "-"; // shown for null and for what is missing
    bool only_single = false;      // not in lists
};
using Columns = std::vector<Column>;

// "3 min ago", "in 5 days", and the date when it is more than a month away.
std::string relative_time(Time time, Time now);

// Null when it is not an object, or has no such member.
const json::Value* member(const json::Value& object, std::string_view name);

// The field as text; empty when it is absent or no string.
std::string text_of(const json::Value& object, std::string_view field);
// The field as a whole number; 0 when it is absent or none.
int64_t number_of(const json::Value& object, std::string_view field);

// Fetches with --limit and --all, and shows. `empty` describes what would be here and the next command.
Result<> show_list(const Context& context, std::string path, Query query, const Columns& columns,
                   std::string_view empty);
// A list that is here already.
Result<> show_rows(const Context& context, const json::Value& rows, const Columns& columns, std::string_view empty);
Result<> show_record(const Context& context, const json::Value& object, const Columns& columns);
// With --json the data, otherwise the sentence.
Result<> show_done(const Context& context, const json::Value& data, const std::string& sentence);
void print_json(const Context& context, const json::Value& value);

} // namespace hone::cli
