#include "telemetry/targets/eval_targets.h"

#include "telemetry/query/filter.h"
#include "telemetry/span/binary.h"

namespace hone::telemetry {

namespace {

constexpr int64_t hour_of_ns = 3'600'000'000'000;
// A span may have begun this long before it was received.
constexpr int64_t longest_span_ns = 24 * hour_of_ns;
// The spans of a chat session are searched this far before.
constexpr int64_t longest_session_ns = 7 * 24 * hour_of_ns;
constexpr Duration target_patience = std::chrono::seconds(60);

// The parts of a query that the kind of the target decides.
struct TargetSql {
    std::string key;     // column that names the target
    std::string matches; // whether it matches the filter
    std::string rate;    // ppm of its stratum
    std::string hash;    // place in the sample, below a million
    bool is_group = false;
};

Result<TargetSql> target_sql(const TargetSample& sample, ClickHouseQuery& query) {
    TargetSql sql;
    sql.is_group = sample.target != EvalTarget::span;
    sql.key = sample.target == EvalTarget::span    ? "span_id"
              : sample.target == EvalTarget::trace ? "trace_id"
                                                   : "chat_session";
    const auto condition = [&](const std::string& filter) -> Result<std::string> {
        const std::string compiled = compile_filter(TRY(parse_filter(filter)), query, FilterPlace::elsewhere);
        return sql.is_group ? "max(" + compiled + ")" : "(" + compiled + ")";
    };
    sql.matches = TRY(condition(sample.filter));
    std::string cases;
    for (const TargetStratum& stratum : sample.strata)
        cases += TRY(condition(stratum.filter)) + ", toInt64(" + std::to_string(stratum.rate_ppm) + "), ";
    const std::string rest = "toInt64(" + std::to_string(sample.rate_ppm) + ")";
    sql.rate = cases.empty() ? rest : "multiIf(" + cases + rest + ")";
    sql.hash = "cityHash64(" + std::string(sample.target == EvalTarget::chat_session ? "chat_session" : "trace_id") +
               ") % 1000000";
    query.bind("project", sample.project);
    query.project = sample.project;
    query.deadline = target_patience;
    query.set("max_memory_usage", "1000000000");
    return sql;
}

// What is never a target: spans of evaluators, and spans without a chat session where one is needed.
Result<std::string> allowed_spans(const TargetSample& sample, ClickHouseQuery& query) {
    const std::string own = compile_filter(TRY(parse_filter("kind = evaluator")), query);
    return "project = {project:String} AND NOT (" + own + ")" +
           (sample.target == EvalTarget::chat_session ? " AND chat_session != ''" : "");
}

std::vector<FoundTarget> read_targets(const std::string& bytes) {
    std::vector<FoundTarget> found;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        FoundTarget& one = found.emplace_back();
        one.id = reader.text();
        one.trace_id = reader.text();
        one.start_ns = reader.number<int64_t>();
        one.last_ns = reader.number<int64_t>();
        one.inclusion = static_cast<double>(reader.number<int64_t>()) / static_cast<double>(whole_ppm);
        one.is_complete = reader.number<uint8_t>() != 0;
    }
    return found;
}

// Groups of spans with their times, among those with a span that was received after a time.
std::string new_groups(const TargetSql& sql, const std::string& allowed, std::string_view searched_from) {
    const std::string spans = " FROM hone.spans WHERE " + allowed + " AND start_ns >= " + std::string(searched_from);
    return "SELECT toString(" + sql.key +
           ") AS id, min(start_ns) AS start, max(received_ns) AS last, min(received_ns) AS first, countIf(parent_id = "
           "'') > 0 AS has_root, " +
           sql.matches + " AS is_match, " + sql.rate + " AS ppm, any(" + sql.hash + ") AS place" + spans + " AND " +
           sql.key + " IN (SELECT " + sql.key + " FROM hone.spans WHERE " + allowed +
           " AND start_ns >= {began:Int64} AND received_ns > {after:Int64}) GROUP BY " + sql.key;
}

std::string is_ready(EvalTarget target) {
    if (target == EvalTarget::trace) return "last <= {until:Int64} AND (has_root OR last <= {rootless:Int64})";
    return "(last <= {until:Int64} OR first <= {first:Int64})";
}

void bind_ready(ClickHouseQuery& query, const TargetSample& sample, const ReadyTargets& ready, int64_t after) {
    query.bind("after", after)
        .bind("until", ready.last_until)
        .bind("began", after - longest_span_ns)
        .bind("searched", after - (sample.target == EvalTarget::chat_session ? longest_session_ns : longest_span_ns));
    if (sample.target == EvalTarget::trace) query.bind("rootless", ready.rootless_until);
    if (sample.target == EvalTarget::chat_session) query.bind("first", ready.first_until);
}

// Targets by their start, with everything that the queries about the past need.
std::string past_groups(const TargetSql& sql, const std::string& allowed) {
    const std::string between =
        " FROM hone.spans WHERE " + allowed + " AND start_ns >= {from:Int64} AND start_ns < {to:Int64}";
    if (!sql.is_group)
        return "SELECT toString(span_id) AS id, toString(trace_id) AS trace, start_ns AS start, received_ns AS last, " +
               sql.matches + " AS is_match, " + sql.rate + " AS ppm, " + sql.hash + " AS place" + between;
    return "SELECT toString(" + sql.key + ") AS id, '' AS trace, min(start_ns) AS start, max(received_ns) AS last, " +
           sql.matches + " AS is_match, " + sql.rate + " AS ppm, any(" + sql.hash + ") AS place" + between +
           " GROUP BY " + sql.key;
}

} // namespace

Result<std::vector<FoundTarget>> EvalTargets::find_new(const TargetSample& sample, const ReadyTargets& ready,
                                                       const TargetCursor& after, size_t limit) {
    ClickHouseQuery query("");
    const TargetSql sql = TRY(target_sql(sample, query));
    const std::string allowed = TRY(allowed_spans(sample, query));
    const std::string order = " AND (last, id) > ({cursor:Int64}, {cursor_id:String}) ORDER BY last, id LIMIT " +
                              std::to_string(limit) + " FORMAT RowBinary";
    if (sql.is_group)
        query.sql = "SELECT id, '', start, last, ppm, toUInt8(last <= {until:Int64}) FROM (" +
                    new_groups(sql, allowed, "{searched:Int64}") + ") WHERE is_match AND place < ppm AND " +
                    is_ready(sample.target) + order;
    else
        query.sql = "SELECT id, trace, start, last, ppm, toUInt8(1) FROM (SELECT toString(span_id) AS id, "
                    "toString(trace_id) AS trace, start_ns AS start, received_ns AS last, " +
                    sql.rate + " AS ppm FROM hone.spans WHERE " + allowed +
                    " AND start_ns >= {began:Int64} AND received_ns > {after:Int64} AND received_ns <= {until:Int64} "
                    "AND " +
                    sql.matches + " AND " + sql.hash + " < ppm) WHERE 1" + order;
    bind_ready(query, sample, ready, ready.received_after);
    query.bind("cursor", after.at).bind("cursor_id", after.id);
    return read_targets(TRY(m_engine.query(query)));
}

Result<std::vector<TargetCount>> EvalTargets::count_by_hour(const TargetSample& sample, const ReadyTargets& ready,
                                                            int64_t from_ns) {
    ClickHouseQuery query("");
    const TargetSql sql = TRY(target_sql(sample, query));
    const std::string allowed = TRY(allowed_spans(sample, query));
    const std::string hour = "toInt64(intDiv(last, 3600000000000) * 3600000000000)";
    const std::string counted = "SELECT " + hour + " AS hour, toInt64(count()), toInt64(countIf(is_match)) FROM (";
    const std::string grouped = ") WHERE last >= {from:Int64} GROUP BY hour ORDER BY hour FORMAT RowBinary";
    if (sql.is_group)
        query.sql = counted + "SELECT * FROM (" + new_groups(sql, allowed, "{searched:Int64}") + ") WHERE " +
                    is_ready(sample.target) + grouped;
    else
        query.sql =
            counted + "SELECT received_ns AS last, " + sql.matches + " AS is_match FROM hone.spans WHERE " + allowed +
            " AND start_ns >= {began:Int64} AND received_ns > {after:Int64} AND received_ns <= {until:Int64}" + grouped;
    bind_ready(query, sample, ready, from_ns - 1);
    query.bind("from", from_ns);
    const std::string bytes = TRY(m_engine.query(query));
    std::vector<TargetCount> counts;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        TargetCount& one = counts.emplace_back();
        one.hour_ns = reader.number<int64_t>();
        one.received = reader.number<int64_t>();
        one.matched = reader.number<int64_t>();
    }
    return counts;
}

Result<std::vector<FoundTarget>> EvalTargets::find_past(const TargetSample& sample, int64_t from_ns, int64_t to_ns,
                                                        const std::optional<TargetCursor>& before, size_t limit) {
    ClickHouseQuery query("");
    const TargetSql sql = TRY(target_sql(sample, query));
    query.sql = "SELECT id, trace, start, last, ppm, toUInt8(1) FROM (" +
                past_groups(sql, TRY(allowed_spans(sample, query))) + ") WHERE is_match AND place < ppm";
    if (before) {
        query.sql += " AND (start, id) < ({cursor:Int64}, {cursor_id:String})";
        query.bind("cursor", before->at).bind("cursor_id", before->id);
    }
    query.sql += " ORDER BY start DESC, id DESC LIMIT " + std::to_string(limit) + " FORMAT RowBinary";
    query.bind("from", from_ns).bind("to", to_ns);
    return read_targets(TRY(m_engine.query(query)));
}

Result<PastTargets> EvalTargets::count_past(const TargetSample& sample, int64_t from_ns, int64_t to_ns) {
    ClickHouseQuery query("");
    const TargetSql sql = TRY(target_sql(sample, query));
    query.sql =
        "SELECT toInt64(count()), toInt64(countIf(is_match)), toInt64(countIf(is_match AND place < ppm)) FROM (" +
        past_groups(sql, TRY(allowed_spans(sample, query))) + ") FORMAT RowBinary";
    query.bind("from", from_ns).bind("to", to_ns);
    const std::string bytes = TRY(m_engine.query(query));
    PastTargets counts;
    BinaryReader reader(bytes);
    if (reader.at_end()) return counts;
    counts.received = reader.number<int64_t>();
    counts.matched = reader.number<int64_t>();
    counts.sampled = reader.number<int64_t>();
    return counts;
}

} // namespace hone::telemetry
