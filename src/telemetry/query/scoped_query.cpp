#include "telemetry/query/scoped_query.h"

#include "telemetry/query/filter.h"

#include <algorithm>

namespace hone::telemetry {

Result<ScopedQuery> scope_query(const Scope& scope) {
    const FilterNode filter = TRY(parse_filter(scope.filter));
    ScopedQuery scoped;
    scoped.query.bind("project", scope.project).bind("from", scope.from_ns).bind("to", scope.to_ns);
    scoped.query.project = scope.project;
    scoped.query.deadline = scope.deadline;
    scoped.query.cancel = scope.cancel.get();
    const auto seconds = std::max<int64_t>(1, std::chrono::duration_cast<std::chrono::seconds>(scope.deadline).count());
    scoped.query.set("max_execution_time", std::to_string(seconds));
    scoped.where = "project = {project:String} AND start_ns >= {from:Int64} AND start_ns < {to:Int64}";
    if (!filter.children.empty() || filter.kind == FilterNode::Kind::comparison)
        scoped.where += " AND " + compile_filter(filter, scoped.query);
    if (scope.received_from_ns > 0 || scope.received_to_ns < INT64_MAX) {
        scoped.query.bind("received_from", scope.received_from_ns).bind("received_to", scope.received_to_ns);
        scoped.where += " AND received_ns >= {received_from:Int64} AND received_ns < {received_to:Int64}";
    }
    return scoped;
}

std::optional<Grouping> grouping_of(const std::string& field, ClickHouseQuery& query) {
    struct Known {
        std::string_view field, column;
        bool has_few_values;
    };
    static constexpr Known known[] = {{"name", "name", true},
                                      {"kind", "kind", true},
                                      {"status", "status", true},
                                      {"service", "service", true},
                                      {"version", "version", true},
                                      {"model", "model", true},
                                      {"provider", "provider", true},
                                      {"user", "user_id", false},
                                      {"session", "chat_session", false},
                                      {"tool", "tool_name", true},
                                      {"finish_reason", "finish_reason", true},
                                      {"exception", "exception_type", true},
                                      {"status_message", "status_message", false}};
    // Five buckets for every factor of ten: wide enough to count, narrow enough to show a second peak.
    if (field == "latency_bucket")
        return Grouping{"toString(toInt64(round(exp10(floor(5 * log10(greatest(duration_ns, 1)) + 1e-9) / 5))))", true};
    for (const Known& one : known)
        if (field == one.field) return Grouping{"toString(" + std::string(one.column) + ")", one.has_few_values};
    constexpr std::string_view metadata = "metadata[\"";
    if (field.starts_with(metadata) && field.ends_with("\"]") && field.size() >= metadata.size() + 2) {
        query.bind("group_key", std::string_view(field).substr(metadata.size(), field.size() - metadata.size() - 2));
        return Grouping{"metadata[{group_key:String}]", false};
    }
    if (!field.starts_with("attributes[\"") || !field.ends_with("\"]")) return std::nullopt;
    query.bind("group_key", std::string_view(field).substr(12, field.size() - 14));
    return Grouping{"attribute_index[{group_key:String}]", false};
}

} // namespace hone::telemetry
