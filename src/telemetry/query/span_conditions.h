// Conditions on spans beside the filter language: lists of ids, names and typed attributes, as Phoenix' lists request
// them. Compiled to SQL with bound values. Pure; any thread.
#pragma once

#include "telemetry/engine/clickhouse.h"
#include "telemetry/span/span.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace hone::telemetry {

// The attribute must have this value and this type: the text "12" is not the number 12.
struct AttributeCondition {
    std::string key;
    std::variant<std::string, double, bool> value;
};

// All of them must hold; an empty list adds none.
struct SpanConditions {
    std::vector<std::string> trace_ids{};
    std::optional<std::string> parent_id{}; // empty: roots
    std::vector<std::string> names{};
    std::vector<SpanKind> kinds{};
    std::vector<otlp::StatusCode> statuses{};
    std::vector<AttributeCondition> attributes{};

    bool is_empty() const {
        return trace_ids.empty() && !parent_id && names.empty() && kinds.empty() && statuses.empty() &&
               attributes.empty();
    }
};

// " AND … AND …", or nothing.
std::string compile_conditions(const SpanConditions& conditions, ClickHouseQuery& query);

} // namespace hone::telemetry
