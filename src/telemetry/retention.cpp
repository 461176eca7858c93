#include "telemetry/retention.h"

#include "telemetry/binary.h"
#include "telemetry/filter.h"

#include <algorithm>
#include <set>

namespace hone::telemetry {

namespace {

constexpr int64_t day_ns = 86'400'000'000'000;
constexpr Duration patience = std::chrono::minutes(5);

uint64_t read_count(std::string_view bytes) {
    return BinaryReader(bytes).number<uint64_t>();
}

} // namespace

Result<int64_t> Retention::bytes_on_disk() {
    const std::string bytes = TRY(m_engine.query(ClickHouseQuery(
        "SELECT toUInt64(sum(bytes_on_disk)) FROM system.parts WHERE database = 'hone' AND active FORMAT RowBinary")));
    return static_cast<int64_t>(read_count(bytes));
}

// Rewrites the parts concerned, so that the rows are gone from the disk when it returns.
Result<int64_t> Retention::delete_where(ClickHouseQuery query, const std::string& condition) {
    query.deadline = patience;
    query.sql = "SELECT count() FROM hone.spans WHERE " + condition + " FORMAT RowBinary";
    const auto count = static_cast<int64_t>(read_count(TRY(m_engine.query(query))));
    if (count == 0) return 0;
    query.sql = "ALTER TABLE hone.spans DELETE WHERE " + condition;
    query.set("mutations_sync", "1").set("allow_nondeterministic_mutations", "1");
    TRY(m_engine.query(query));
    return count;
}

Result<RetentionReport> Retention::apply(const RetentionPolicy& policy) {
    RetentionReport report;
    report.bytes_before = TRY(bytes_on_disk());
    const int64_t now = to_ns(m_clock.now());
    ClickHouseQuery query("SELECT intDiv(start_ns, 86400000000000) AS day, toString(project) AS name FROM hone.spans "
                          "GROUP BY day, name FORMAT RowBinary");
    query.deadline = patience;
    const std::string bytes = TRY(m_engine.query(query));
    std::map<int64_t, std::set<std::string>> days;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        const auto day = reader.number<int64_t>();
        days[day].insert(std::string(reader.text()));
    }
    // A trace stays when it or one of its spans has an eval in the same project.
    const std::string kept_by_evals =
        " AND (project, trace_id) NOT IN (SELECT project, toFixedString(target_id, 32) FROM hone.evals FINAL WHERE "
        "target = 'trace')"
        " AND (project, trace_id) NOT IN (SELECT project, trace_id FROM hone.spans WHERE (project, span_id) IN "
        "(SELECT project, toFixedString(target_id, 16) FROM hone.evals FINAL WHERE target = 'span'))";
    for (const auto& [day, projects] : days) {
        std::vector<std::string> expired;
        for (const std::string& project : projects) {
            const auto own = policy.days.find(project);
            const int64_t keep = own == policy.days.end() ? policy.default_days : own->second;
            if (keep > 0 && (day + 1) * day_ns <= now - keep * day_ns) expired.push_back(project);
        }
        if (expired.empty()) continue;
        ClickHouseQuery rows("");
        rows.bind("expired", expired);
        std::string condition = "project IN {expired:Array(String)} AND start_ns >= " + std::to_string(day * day_ns) +
                                " AND start_ns < " + std::to_string((day + 1) * day_ns);
        std::vector<std::string> kept;
        for (const std::string& project : expired)
            if (const auto own = policy.kept_traces.find(project); own != policy.kept_traces.end())
                kept.insert(kept.end(), own->second.begin(), own->second.end());
        if (!kept.empty()) rows.bind("kept", kept), condition += " AND trace_id NOT IN {kept:Array(String)}";
        if (policy.keep_evaluated) condition += kept_by_evals;
        // When nothing of the day stays, the whole partition goes: at once, and the disk with it.
        rows.sql = "SELECT count() FROM hone.spans WHERE start_ns >= " + std::to_string(day * day_ns) +
                   " AND start_ns < " + std::to_string((day + 1) * day_ns) + " AND NOT (" + condition +
                   ") FORMAT RowBinary";
        rows.deadline = patience;
        if (read_count(TRY(m_engine.query(rows))) == 0) {
            ClickHouseQuery drop("ALTER TABLE hone.spans DROP PARTITION " + std::to_string(day));
            drop.deadline = patience;
            TRY(m_engine.query(drop));
            report.dropped_days++;
        } else
            report.deleted_spans += TRY(delete_where(rows, condition));
    }
    report.bytes_after = TRY(bytes_on_disk());
    return report;
}

Result<int64_t> Retention::delete_traces(const std::string& project, const std::vector<std::string>& trace_ids) {
    ClickHouseQuery query("");
    query.bind("project", project).bind("traces", trace_ids);
    return delete_where(std::move(query), "project = {project:String} AND trace_id IN {traces:Array(String)}");
}

Result<int64_t> Retention::delete_spans(const std::string& project, const std::vector<std::string>& span_ids) {
    ClickHouseQuery query("");
    query.bind("project", project).bind("spans", span_ids);
    return delete_where(std::move(query), "project = {project:String} AND span_id IN {spans:Array(String)}");
}

Result<int64_t> Retention::delete_matching(const std::string& project, const std::string& filter, int64_t from_ns,
                                           int64_t to_ns) {
    const FilterNode node = TRY(parse_filter(filter));
    ClickHouseQuery query("");
    query.bind("project", project).bind("from", from_ns).bind("to", to_ns);
    const std::string condition = compile_filter(node, query);
    return delete_where(std::move(query),
                        "project = {project:String} AND start_ns >= {from:Int64} AND start_ns < {to:Int64} AND " +
                            condition);
}

Result<> Retention::delete_project(const std::string& project) {
    for (const char* table : {"spans", "trace_times", "evals", "eval_history"}) {
        ClickHouseQuery query(std::string("ALTER TABLE hone.") + table + " DELETE WHERE project = {project:String}");
        query.bind("project", project).set("mutations_sync", "1");
        query.deadline = patience;
        TRY(m_engine.query(query));
    }
    return {};
}

Result<std::vector<DiskUse>> Retention::disk_use() {
    // A project's share of each day's parts, by rows.
    ClickHouseQuery query("SELECT toString(rows.project), sum(rows.spans), toUInt64(sum(rows.spans / parts.spans * "
                          "parts.bytes)), min(rows.oldest), max(rows.newest) FROM (SELECT "
                          "project, toString(intDiv(start_ns, 86400000000000)) AS day, count() AS spans, min(start_ns) "
                          "AS oldest, max(start_ns) AS newest FROM hone.spans GROUP BY "
                          "project, day) AS rows INNER JOIN (SELECT partition AS day, sum(rows) AS spans, "
                          "sum(bytes_on_disk) AS bytes FROM system.parts WHERE database = 'hone' AND "
                          "table = 'spans' AND active GROUP BY day) AS parts ON rows.day = parts.day GROUP BY "
                          "rows.project ORDER BY 3 DESC FORMAT RowBinary");
    query.deadline = std::chrono::seconds(60);
    const std::string bytes = TRY(m_engine.query(query));
    std::vector<DiskUse> uses;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        DiskUse use;
        use.project = reader.text();
        use.spans = static_cast<int64_t>(reader.number<uint64_t>());
        use.bytes = static_cast<int64_t>(reader.number<uint64_t>());
        use.oldest_ns = reader.number<int64_t>();
        use.newest_ns = reader.number<int64_t>();
        uses.push_back(std::move(use));
    }
    return uses;
}

} // namespace hone::telemetry
