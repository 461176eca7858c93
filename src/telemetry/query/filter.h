// The filter language of people, API, monitors and evaluators:
//   status = error and latency > 2s and attributes["user.tier"] = "gold" and output ~ "refund"
//   and eval["correct"].label = "no" and session_eval["solved"].score < 0.5
// One parser, one tree, errors that point at the column; compiled to SQL with bound values. Pure, bounded, fuzzed.
#pragma once

#include "base/result.h"
#include "telemetry/engine/clickhouse.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone::telemetry {

enum class FilterOperator {
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    matches,
    not_matches,
    one_of,
    exists
};

// What stands left of an operator.
struct FilterOperand {
    enum class Source { field, attribute, metadata, resource, span_eval, trace_eval, session_eval };
    Source source = Source::field;
    std::string name;   // the field, the attribute's key, or the eval's name
    std::string aspect; // of an eval: label, score, explanation
};

struct FilterNode {
    enum class Kind { all, any, negation, comparison };
    Kind kind = Kind::all;
    std::vector<FilterNode> children; // of all, any and negation
    FilterOperand operand;            // of a comparison
    FilterOperator comparison = FilterOperator::equal;
    std::vector<std::string> values; // texts; numbers are checked and made plain: "2s" is "2000000000"
};

// An empty text matches everything. Errors: "column 9: …".
Result<FilterNode> parse_filter(std::string_view text);

// The text in quotes (" or ') that begins at `at`, with \n, \t and any other letter after a backslash as itself; `at`
// moves behind the end quote. Nothing: there is no end quote. Also for the conditions of Phoenix' clients.
std::optional<std::string> read_quoted(std::string_view text, size_t& at);

// Where the condition stands. The engine searches words through the text index, and so regardless of case, only in the
// WHERE of a SELECT; a column of a result and a deletion have to lower the text themselves.
enum class FilterPlace { where, elsewhere };

// A condition over hone.spans; values are bound to `query` under names that start with "f". The project parameter
// {project:String} must be bound by the caller.
std::string compile_filter(const FilterNode& node, ClickHouseQuery& query, FilterPlace place = FilterPlace::where);

struct FilterField {
    std::string_view name;
    std::string_view type; // text, number, duration, money, time, flag, or the allowed words
    std::string_view doc;
};
// For completion in the UI and for the documentation.
std::span<const FilterField> filter_fields();

} // namespace hone::telemetry
