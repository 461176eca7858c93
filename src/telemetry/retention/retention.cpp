#include "telemetry/retention/retention.h"

#include "telemetry/engine/project_views.h"
#include "telemetry/query/filter.h"
#include "telemetry/retention/kept_traces.h"
#include "telemetry/span/binary.h"

#include <algorithm>
#include <set>

namespace hone::telemetry {

namespace {

constexpr int64_t hour_ns = 3'600'000'000'000;
constexpr int64_t retention_day_ns = 24 * hour_ns;
constexpr Duration retention_patience = std::chrono::minutes(5);
// Bound values go in the URL, which the engine takes up to a megabyte of.
constexpr size_t most_ids_at_once = 10'000;

uint64_t read_count(std::string_view bytes) {
    return BinaryReader(bytes).number<uint64_t>();
}

// A trace stays when a person evaluated it, one of its spans or its chat session, in the same project; of each kind the
// last 100,000 of a project count. Evals of models, code and workers keep nothing: an evaluator that reads every trace
// would keep every trace.
std::string kept_by_people(std::string_view target, std::string_view id) {
    return "(SELECT project, " + std::string(id) +
           " FROM (SELECT project, target_id FROM hone.evals FINAL WHERE target = '" + std::string(target) + "' AND " +
           std::string(keeping_eval) + " ORDER BY updated_ns DESC LIMIT " + std::to_string(most_kept_by_people) +
           " BY project))";
}

std::string not_kept_by_people() {
    const auto traces_of = [](const std::string& spans) {
        return " AND (project, trace_id) NOT IN (SELECT project, trace_id FROM hone.spans WHERE " + spans + ")";
    };
    return " AND (project, trace_id) NOT IN " + kept_by_people("trace", "toFixedString(target_id, 32)") +
           traces_of("(project, span_id) IN " + kept_by_people("span", "toFixedString(target_id, 16)")) +
           traces_of("chat_session != '' AND (project, chat_session) IN " +
                     kept_by_people("chat_session", "target_id"));
}

// "(… OR …)" of the projects whose cut is in or after the day; empty when none does.
std::string expired_on(int64_t day, const std::set<std::string>& projects, const std::map<std::string, int64_t>& cuts,
                       ClickHouseQuery& rows) {
    std::string condition;
    size_t number = 0;
    for (const std::string& project : projects) {
        const auto cut = cuts.find(project);
        if (cut == cuts.end() || cut->second <= day * retention_day_ns) continue;
        const std::string name = "project" + std::to_string(number++);
        rows.bind(name, project);
        condition += (condition.empty() ? "((" : " OR (") + ("project = {" + name) + ":String} AND start_ns < " +
                     std::to_string(std::min(cut->second, (day + 1) * retention_day_ns)) + ")";
    }
    if (condition.empty()) return condition;
    return condition + ") AND start_ns >= " + std::to_string(day * retention_day_ns) + " AND start_ns < " +
           std::to_string((day + 1) * retention_day_ns);
}

} // namespace

Result<int64_t> Retention::bytes_on_disk() {
    const std::string bytes = TRY(m_engine.query(ClickHouseQuery(
        "SELECT toUInt64(sum(bytes_on_disk)) FROM system.parts WHERE database = 'hone' AND active FORMAT RowBinary")));
    return static_cast<int64_t>(read_count(bytes));
}

// Rewrites the parts concerned, so that the rows are gone from the disk when it returns.
Result<int64_t> Retention::delete_where(ClickHouseQuery query, const std::string& condition) {
    query.deadline = retention_patience;
    query.sql = "SELECT count() FROM hone.spans WHERE " + condition + " FORMAT RowBinary";
    const auto count = static_cast<int64_t>(read_count(TRY(m_engine.query(query))));
    if (count == 0) return 0;
    query.sql = "ALTER TABLE hone.spans DELETE WHERE " + condition;
    query.set("mutations_sync", "1").set("allow_nondeterministic_mutations", "1");
    TRY(m_engine.query(query));
    return count;
}

Result<> Retention::delete_evals(ClickHouseQuery query, const std::string& condition) {
    query.deadline = retention_patience;
    query.set("mutations_sync", "1").set("max_query_size", "100000000").set("max_ast_elements", "10000000");
    for (const std::string table : {"hone.evals", "hone.eval_history"}) {
        const std::string which = " WHERE project = {project:String} AND " + condition;
        query.sql = "SELECT count() FROM " + table + which + " FORMAT RowBinary";
        if (read_count(TRY(m_engine.query(query))) == 0) continue;
        query.sql = "ALTER TABLE " + table + " DELETE" + which;
        TRY(m_engine.query(query));
    }
    return {};
}

// Names can be anything, and those of people: they do not stay behind the last span.
Result<> Retention::delete_sessions(const std::string& project, std::string_view names) {
    constexpr size_t most_bytes_at_once = 200'000;
    for (BinaryReader reader(names); !reader.at_end();) {
        std::vector<std::string> some;
        for (size_t bytes = 0; bytes < most_bytes_at_once && !reader.at_end(); bytes += some.back().size() + 3)
            some.emplace_back(reader.text());
        ClickHouseQuery query(
            "ALTER TABLE hone.session_times DELETE WHERE project = {project:String} AND chat_session IN "
            "{names:Array(String)} AND chat_session NOT IN (SELECT chat_session FROM hone.spans WHERE "
            "project = {project:String} AND chat_session IN {names:Array(String)})");
        query.bind("project", project).bind("names", some);
        query.deadline = retention_patience;
        query.set("mutations_sync", "1").set("allow_nondeterministic_mutations", "1");
        TRY(m_engine.query(query));
    }
    if (!names.empty() && m_deleted_sessions) m_deleted_sessions();
    return {};
}

// A trace that stays beyond the cut has spans before it.
Result<> Retention::delete_times(const std::map<std::string, int64_t>& cuts) {
    std::vector<std::string> projects;
    std::string moments;
    for (const auto& [project, cut] : cuts) {
        projects.push_back(project);
        moments += (moments.empty() ? "" : ", ") + std::to_string(cut);
    }
    const std::string cut = "transform(toString(project), {projects:Array(String)}, [" + moments + "], toInt64(0))";
    for (const auto& [table, id] : {std::pair<std::string, std::string>{"trace_times", "trace_id"},
                                    std::pair<std::string, std::string>{"session_times", "chat_session"}}) {
        ClickHouseQuery query("SELECT count() FROM hone." + table + " WHERE last_ns < " + cut + " FORMAT RowBinary");
        query.bind("projects", projects);
        query.deadline = retention_patience;
        query.set("max_query_size", "100000000").set("max_ast_elements", "10000000");
        if (read_count(TRY(m_engine.query(query))) == 0) continue;
        query.sql = "ALTER TABLE hone." + table + " DELETE WHERE last_ns < " + cut + " AND (project, " + id +
                    ") NOT IN (SELECT project, " + id + " FROM hone.spans WHERE start_ns < " + cut + ")";
        query.set("mutations_sync", "1").set("allow_nondeterministic_mutations", "1");
        TRY(m_engine.query(query));
    }
    return {};
}

// Which spans have evals is read before they are deleted; evals are deleted last, because the condition may use them.
Result<int64_t> Retention::delete_with_evals(const std::string& project, const ClickHouseQuery& query,
                                             const std::string& condition) {
    ClickHouseQuery named = query;
    named.deadline = retention_patience;
    named.sql =
        "SELECT DISTINCT chat_session FROM hone.spans WHERE " + condition + " AND chat_session != '' FORMAT RowBinary";
    const std::string sessions = TRY(m_engine.query(named));
    ClickHouseQuery evaluated = query;
    evaluated.deadline = retention_patience;
    evaluated.sql = "SELECT DISTINCT toString(span_id) FROM hone.spans WHERE " + condition +
                    " AND span_id IN (SELECT toFixedString(target_id, 16) FROM hone.eval_history WHERE project = "
                    "{project:String} AND target = 'span') FORMAT RowBinary";
    const std::string bytes = TRY(m_engine.query(evaluated));
    const int64_t deleted = TRY(delete_where(query, condition));
    for (BinaryReader reader(bytes); !reader.at_end();) {
        std::string ids; // hexadecimal digits
        for (size_t count = 0; count < most_ids_at_once && !reader.at_end(); ++count)
            ids += (ids.empty() ? "'" : ", '") + std::string(reader.text()) + "'";
        TRY(delete_evals(query, "target = 'span' AND target_id IN (" + ids + ")"));
    }
    TRY(delete_sessions(project, sessions));
    return deleted;
}

Result<std::map<std::string, int64_t>> Retention::cuts_by_bytes(const RetentionPolicy& policy) {
    std::map<std::string, int64_t> cuts;
    if (policy.bytes.empty()) return cuts;
    std::vector<std::string> names;
    for (const auto& [project, bytes] : policy.bytes) names.push_back(project);
    // From the newest hour back; an hour's share of its day's parts goes by rows.
    ClickHouseQuery query(
        "SELECT toString(rows.project), rows.hour, toUInt64(rows.spans / parts.spans * parts.bytes) FROM (SELECT "
        "project, intDiv(start_ns, 3600000000000) AS hour, count() AS spans FROM hone.spans WHERE project IN "
        "{projects:Array(String)} GROUP BY project, hour) AS rows INNER JOIN (SELECT toInt64(partition) AS day, "
        "sum(rows) AS spans, sum(bytes_on_disk) AS bytes FROM system.parts WHERE database = 'hone' AND table = 'spans' "
        "AND active GROUP BY day) AS parts ON intDiv(rows.hour, 24) = parts.day ORDER BY rows.hour DESC FORMAT "
        "RowBinary");
    query.bind("projects", names);
    query.deadline = retention_patience;
    const std::string bytes = TRY(m_engine.query(query));
    std::map<std::string, uint64_t> sums;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        const std::string project(reader.text());
        const auto hour = reader.number<int64_t>();
        const bool is_newest = !sums.contains(project); // stays, however large it is
        const uint64_t sum = sums[project] += reader.number<uint64_t>();
        const auto limit = static_cast<uint64_t>(policy.bytes.at(project));
        if (sum > limit && !cuts.contains(project)) cuts[project] = (is_newest ? hour : hour + 1) * hour_ns;
    }
    return cuts;
}

Result<std::string> Retention::kept_on(int64_t day, const std::vector<std::string>& traces) {
    std::string held;
    for (auto next = traces.begin(); next != traces.end();) {
        std::vector<std::string> some;
        for (; next != traces.end() && some.size() < most_ids_at_once; ++next)
            if (next->size() == 32 && next->find_first_not_of("0123456789abcdef") == std::string::npos)
                some.push_back(*next);
        ClickHouseQuery query("SELECT DISTINCT toString(trace_id) FROM hone.spans WHERE start_ns >= " +
                              std::to_string(day * retention_day_ns) + " AND start_ns < " +
                              std::to_string((day + 1) * retention_day_ns) +
                              " AND trace_id IN {traces:Array(String)} FORMAT RowBinary");
        query.bind("traces", some);
        query.deadline = retention_patience;
        const std::string bytes = TRY(m_engine.query(query));
        for (BinaryReader reader(bytes); !reader.at_end();)
            held += (held.empty() ? "'" : ", '") + std::string(reader.text()) + "'"; // hexadecimal digits
    }
    return held;
}

Result<RetentionReport> Retention::apply(const RetentionPolicy& policy) {
    RetentionReport report;
    report.bytes_before = TRY(bytes_on_disk());
    const int64_t now = to_ns(m_clock.now());
    ClickHouseQuery query("SELECT intDiv(start_ns, 86400000000000) AS day, toString(project) AS name FROM hone.spans "
                          "GROUP BY day, name FORMAT RowBinary");
    query.deadline = retention_patience;
    const std::string bytes = TRY(m_engine.query(query));
    std::map<int64_t, std::set<std::string>> days;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        const auto day = reader.number<int64_t>();
        days[day].insert(std::string(reader.text()));
    }
    std::map<std::string, int64_t> cuts = TRY(cuts_by_bytes(policy));
    for (const auto& [day, projects] : days)
        for (const std::string& project : projects) {
            const auto own = policy.days.find(project);
            const int64_t keep = own == policy.days.end() ? policy.default_days : own->second;
            if (keep > 0)
                cuts[project] =
                    std::max(cuts[project], (now - keep * retention_day_ns) / retention_day_ns * retention_day_ns);
        }
    for (const auto& [day, projects] : days) {
        ClickHouseQuery rows("");
        std::string condition = expired_on(day, projects, cuts, rows);
        if (condition.empty()) continue;
        std::vector<std::string> kept;
        for (const std::string& project : projects)
            if (const auto own = policy.kept_traces.find(project); own != policy.kept_traces.end())
                kept.insert(kept.end(), own->second.begin(), own->second.end());
        const std::string held = TRY(kept_on(day, kept));
        if (!held.empty()) {
            condition += " AND trace_id NOT IN (" + held + ")";
            rows.set("max_query_size", "100000000").set("max_ast_elements", "10000000");
        }
        condition += not_kept_by_people();
        // When nothing of the day stays, the whole partition is dropped, which frees the disk immediately.
        rows.sql = "SELECT count() FROM hone.spans WHERE start_ns >= " + std::to_string(day * retention_day_ns) +
                   " AND start_ns < " + std::to_string((day + 1) * retention_day_ns) + " AND NOT (" + condition +
                   ") FORMAT RowBinary";
        rows.deadline = retention_patience;
        if (read_count(TRY(m_engine.query(rows))) == 0) {
            ClickHouseQuery drop("ALTER TABLE hone.spans DROP PARTITION " + std::to_string(day));
            drop.deadline = retention_patience;
            TRY(m_engine.query(drop));
            report.dropped_days++;
        } else
            report.deleted_spans += TRY(delete_where(rows, condition));
    }
    if (report.dropped_days > 0 || report.deleted_spans > 0) TRY(delete_times(cuts));
    report.bytes_after = TRY(bytes_on_disk());
    return report;
}

Result<int64_t> Retention::delete_traces(const std::string& project, const std::vector<std::string>& trace_ids) {
    int64_t deleted = 0;
    for (size_t begin = 0; begin < trace_ids.size(); begin += most_ids_at_once) {
        const size_t end = std::min(trace_ids.size(), begin + most_ids_at_once);
        ClickHouseQuery query("");
        query.bind("project", project);
        query.bind("traces", std::vector<std::string>(trace_ids.begin() + static_cast<std::ptrdiff_t>(begin),
                                                      trace_ids.begin() + static_cast<std::ptrdiff_t>(end)));
        TRY(delete_evals(query, "target = 'trace' AND target_id IN {traces:Array(String)}"));
        deleted +=
            TRY(delete_with_evals(project, query, "project = {project:String} AND trace_id IN {traces:Array(String)}"));
    }
    return deleted;
}

Result<int64_t> Retention::delete_session(const std::string& project, const std::string& chat_session,
                                          const std::vector<std::string>& trace_ids) {
    ClickHouseQuery query("");
    query.bind("project", project).bind("session", chat_session);
    TRY(delete_evals(query, "target = 'chat_session' AND target_id = {session:String}"));
    return delete_traces(project, trace_ids);
}

Result<int64_t> Retention::delete_spans(const std::string& project, const std::vector<std::string>& span_ids) {
    ClickHouseQuery query("");
    query.bind("project", project).bind("spans", span_ids);
    return delete_with_evals(project, query, "project = {project:String} AND span_id IN {spans:Array(String)}");
}

Result<int64_t> Retention::delete_matching(const std::string& project, const std::string& filter, int64_t from_ns,
                                           int64_t to_ns) {
    const FilterNode node = TRY(parse_filter(filter));
    ClickHouseQuery query("");
    query.bind("project", project).bind("from", from_ns).bind("to", to_ns);
    const std::string condition = compile_filter(node, query, FilterPlace::elsewhere);
    return delete_with_evals(project, query,
                             "project = {project:String} AND start_ns >= {from:Int64} AND start_ns < {to:Int64} AND " +
                                 condition);
}

Result<> Retention::delete_project(const std::string& project) {
    for (const char* table : {"spans", "trace_times", "session_times", "evals", "eval_history"}) {
        ClickHouseQuery query(std::string("ALTER TABLE hone.") + table + " DELETE WHERE project = {project:String}");
        query.bind("project", project).set("mutations_sync", "1");
        query.deadline = retention_patience;
        TRY(m_engine.query(query));
    }
    return drop_project_database(m_engine, project);
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
