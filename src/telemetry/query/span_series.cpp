// Numbers over time and counts of values: the part of SpanStore that reads many spans and returns few rows.
#include "telemetry/query/scoped_query.h"
#include "telemetry/span/binary.h"

#include <algorithm>
#include <map>
#include <set>

namespace hone::telemetry {

namespace {

constexpr size_t most_points = 100'000;

// How evals of a target and spans find each other: a column of hone.spans, and the target's id of its type.
struct EvalJoin {
    std::string_view column, evaluated, target;
};

EvalJoin eval_join(EvalTarget target) {
    switch (target) {
    case EvalTarget::trace:
        return {"trace_id", "toFixedString(target_id, 32)", "trace"};
    case EvalTarget::chat_session:
        return {"chat_session", "target_id", "chat_session"};
    case EvalTarget::span:
        break;
    }
    return {"span_id", "toFixedString(target_id, 16)", "span"};
}

// A trace or a chat session has many spans in a bucket and counts once.
std::string eval_expression(Metric metric, EvalTarget target) {
    const std::string column(eval_join(target).column);
    if (target == EvalTarget::span)
        return metric == Metric::eval_rate
                   ? "countIf(has_eval AND eval_label = {eval_label:String}) / countIf(has_eval)"
                   : "avgOrNullIf(eval_score, has_eval)";
    if (metric == Metric::eval_rate)
        return "uniqExactIf(" + column + ", has_eval AND eval_label = {eval_label:String}) / uniqExactIf(" + column +
               ", has_eval)";
    const std::string evals =
        "groupUniqArrayIf((" + column + ", assumeNotNull(eval_score)), has_eval AND isNotNull(eval_score))";
    return "arrayAvg(eval -> eval.2, " + evals + ")";
}

std::string metric_expression(Metric metric, EvalTarget target) {
    switch (metric) {
    case Metric::count:
        return "toFloat64(count())";
    case Metric::errors:
        return "toFloat64(countIf(status = 'error'))";
    case Metric::error_rate:
        return "countIf(status = 'error') / count()";
    case Metric::latency_p50:
        return "toFloat64(quantile(0.5)(duration_ns))";
    case Metric::latency_p95:
        return "toFloat64(quantile(0.95)(duration_ns))";
    case Metric::latency_p99:
        return "toFloat64(quantile(0.99)(duration_ns))";
    case Metric::latency_mean:
        return "avg(duration_ns)";
    case Metric::first_token_p50: // of the spans that report it
        return "toFloat64(quantileIf(0.5)(first_token_ns, first_token_ns > 0))";
    case Metric::first_token_p95:
        return "toFloat64(quantileIf(0.95)(first_token_ns, first_token_ns > 0))";
    case Metric::tokens:
        return "toFloat64(sum" + std::string(all_tokens) + ")";
    case Metric::cost:
        return "sum(cost_nano_usd) / 1e9";
    case Metric::traces:
        return "toFloat64(uniqExact(trace_id))";
    case Metric::eval_rate:
    case Metric::eval_score:
        return eval_expression(metric, target);
    }
    return "0.";
}

using GroupCounts = std::map<std::string, uint64_t>; // spans of each group

std::vector<SeriesPoint> read_points(const std::string& bytes, size_t metrics, GroupCounts& counts) {
    std::vector<SeriesPoint> points;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        SeriesPoint point;
        point.bucket_ns = reader.number<int64_t>();
        point.group = reader.text();
        counts[point.group] += reader.number<uint64_t>();
        for (size_t i = 0; i < metrics; ++i) point.values.push_back(reader.number<double>());
        points.push_back(std::move(point));
    }
    return points;
}

// Only the groups with most spans stay.
void keep_largest(std::vector<SeriesPoint>& points, const GroupCounts& counts, size_t most) {
    std::vector<std::pair<uint64_t, std::string>> order;
    for (const auto& [group, count] : counts) order.emplace_back(count, group);
    std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(most), order.end(), std::greater<>());
    std::set<std::string> kept;
    for (size_t i = 0; i < most; ++i) kept.insert(order[i].second);
    std::erase_if(points, [&](const SeriesPoint& point) { return !kept.contains(point.group); });
}

} // namespace

Result<std::vector<SeriesPoint>> SpanStore::series(const Series& request) {
    if (request.metrics.empty() || request.metrics.size() > 12) return invalid("a series needs one to twelve metrics");
    if (request.bucket.count() < 0) return invalid("a bucket is not negative");
    ScopedQuery scoped = TRY(scope_query(request.scope));
    ClickHouseQuery& query = scoped.query;
    Grouping group{"''", true};
    if (!request.group_by.empty()) {
        auto known = grouping_of(request.group_by, query);
        if (!known) return invalid("spans cannot be grouped by \"" + request.group_by + "\"");
        group = std::move(*known);
    }
    GroupCounts counts;
    const size_t most_groups = std::clamp<size_t>(request.groups, 1, 200);
    std::string from = "hone.spans", metrics;
    bool needs_evals = false;
    for (const Metric metric : request.metrics) {
        metrics += ", ifNull(" + metric_expression(metric, request.eval_target) + ", nan)";
        needs_evals = needs_evals || metric == Metric::eval_rate || metric == Metric::eval_score;
    }
    if (needs_evals) {
        query.bind("eval_name", request.eval_name).bind("eval_label", request.eval_label);
        const EvalJoin join = eval_join(request.eval_target);
        from += " LEFT JOIN (SELECT " + std::string(join.evaluated) +
                " AS eval_target, any(label) AS eval_label, any(score) AS eval_score, 1 AS has_eval FROM hone.evals "
                "FINAL WHERE project = {project:String} AND target = '" +
                std::string(join.target) + "' AND name = {eval_name:String} GROUP BY target_id) AS labels ON " +
                std::string(join.column) + " = eval_target";
    }
    const std::string bucket =
        request.bucket.count() == 0 ? "{from:Int64}" : "intDiv(start_ns, {bucket:Int64}) * {bucket:Int64}";
    if (request.bucket.count() > 0) query.bind("bucket", request.bucket.count());
    const auto measure = [&](const std::string& largest) -> Result<std::vector<SeriesPoint>> {
        query.sql = "SELECT toInt64(" + bucket + ") AS bucket_ns, " + group.expression + " AS group_name, count()" +
                    metrics + " FROM " + from + " WHERE " + scoped.where + largest +
                    " GROUP BY bucket_ns, group_name ORDER BY bucket_ns, group_name LIMIT " +
                    std::to_string(most_points) + " FORMAT RowBinary";
        return read_points(TRY(m_engine.query(query)), request.metrics.size(), counts);
    };
    // With few values all groups are measured and the largest kept: one reading. With many they are found first.
    if (group.has_few_values) {
        std::vector<SeriesPoint> points = TRY(measure(""));
        if (counts.size() <= most_groups) return points;
        if (points.size() < most_points) {
            keep_largest(points, counts, most_groups);
            return points;
        }
    }
    return measure(" AND " + group.expression + " IN (SELECT " + group.expression + " AS g FROM hone.spans WHERE " +
                   scoped.where + " GROUP BY g ORDER BY count() DESC LIMIT " + std::to_string(most_groups) + ")");
}

Result<std::vector<Facet>> SpanStore::facet(const Scope& scope, const std::string& field, size_t limit) {
    ScopedQuery scoped = TRY(scope_query(scope));
    const auto group = grouping_of(field, scoped.query);
    if (!group) return invalid("there is no facet \"" + field + "\"");
    scoped.query.sql = "SELECT " + group->expression + " AS value, count() FROM hone.spans WHERE " + scoped.where +
                       " GROUP BY value ORDER BY count() DESC, value LIMIT " +
                       std::to_string(std::clamp<size_t>(limit, 1, 1000)) + " FORMAT RowBinary";
    const std::string bytes = TRY(m_engine.query(scoped.query));
    std::vector<Facet> facets;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        std::string value(reader.text());
        facets.push_back({std::move(value), static_cast<int64_t>(reader.number<uint64_t>())});
    }
    return facets;
}

Result<std::vector<AttributeKey>> SpanStore::attribute_keys(const Scope& scope, size_t limit) {
    ScopedQuery scoped = TRY(scope_query(scope));
    scoped.query.sql =
        "SELECT toString(key) AS name, count() FROM hone.spans ARRAY JOIN mapKeys(attribute_index) AS key WHERE " +
        scoped.where + " GROUP BY name ORDER BY count() DESC, name LIMIT " +
        std::to_string(std::clamp<size_t>(limit, 1, 10'000)) + " FORMAT RowBinary";
    const std::string bytes = TRY(m_engine.query(scoped.query));
    std::vector<AttributeKey> keys;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        std::string key(reader.text());
        keys.push_back({std::move(key), static_cast<int64_t>(reader.number<uint64_t>())});
    }
    return keys;
}

} // namespace hone::telemetry
