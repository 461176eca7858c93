// The newest traces of a project (declared in span_store.h). A trace counts from its first span that matches, so a time
// range may be read alone only where it is known which of its traces began earlier.
#include "telemetry/engine/page_cursor.h"
#include "telemetry/query/scoped_query.h"
#include "telemetry/query/span_store.h"
#include "telemetry/span/binary.h"

#include <algorithm>
#include <set>

namespace hone::telemetry {

namespace {

constexpr size_t most_candidates = 2000;

struct TraceStart {
    std::string trace_id;
    int64_t first_ns = 0; // of its spans that match
};

std::string list_of_traces(const std::vector<TraceStart>& traces) { // hexadecimal digits, from the engine's own result
    std::string list;
    for (const TraceStart& trace : traces) list += (list.empty() ? "('" : ",'") + trace.trace_id + "'";
    return list + ")";
}

std::vector<TraceStart> read_starts(std::string_view bytes) {
    std::vector<TraceStart> starts;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        TraceStart start;
        start.trace_id = reader.bytes(32);
        start.first_ns = reader.number<int64_t>();
        starts.push_back(std::move(start));
    }
    return starts;
}

// The traces of the scope, newest first, one more than a page.
Result<std::vector<TraceStart>> find_starts(ClickHouse& engine, const ListTraces& request, const Scope& scope,
                                            size_t most) {
    ScopedQuery scoped = TRY(scope_query(scope));
    ClickHouseQuery& query = scoped.query;
    if (request.chat_session) {
        query.bind("session", *request.chat_session);
        scoped.where += " AND chat_session = {session:String}";
    }
    std::string having;
    if (!request.cursor.empty()) {
        const Cursor cursor = TRY(decode_cursor(request.cursor));
        query.bind("cursor_ns", cursor.number).bind("cursor_id", cursor.id);
        having = " HAVING (first < {cursor_ns:Int64} OR (first = {cursor_ns:Int64} AND trace_id < {cursor_id:String}))";
    }
    query.sql = "SELECT trace_id, min(start_ns) AS first FROM hone.spans WHERE " + scoped.where + " GROUP BY trace_id" +
                having + " ORDER BY first DESC, trace_id DESC LIMIT " + std::to_string(most) + " FORMAT RowBinary";
    return read_starts(TRY(engine.query(query)));
}

// Those of the traces that have a span that matches in the scope, which ends where the range of `traces` begins.
Result<std::set<std::string>> began_earlier(ClickHouse& engine, const ListTraces& request, Scope scope,
                                            const std::vector<TraceStart>& traces) {
    ClickHouseQuery times("SELECT trace_id, min(first_ns) AS first FROM hone.trace_times WHERE project = "
                          "{project:String} AND trace_id IN " +
                          list_of_traces(traces) + " GROUP BY trace_id HAVING first < {to:Int64} FORMAT RowBinary");
    times.project = scope.project;
    times.bind("project", scope.project).bind("to", scope.to_ns);
    times.deadline = scope.deadline;
    times.cancel = scope.cancel.get();
    times.set("max_query_size", "10000000");
    const std::vector<TraceStart> older = read_starts(TRY(engine.query(times)));
    std::set<std::string> found;
    if (older.empty()) return found;
    int64_t first = INT64_MAX;
    for (const TraceStart& trace : older) first = std::min(first, trace.first_ns);
    scope.from_ns = std::max(scope.from_ns, first);
    ScopedQuery scoped = TRY(scope_query(scope));
    ClickHouseQuery& query = scoped.query;
    if (request.chat_session) {
        query.bind("session", *request.chat_session);
        scoped.where += " AND chat_session = {session:String}";
    }
    query.set("max_query_size", "10000000");
    query.sql = "SELECT trace_id, min(start_ns) FROM hone.spans WHERE " + scoped.where + " AND trace_id IN " +
                list_of_traces(older) + " GROUP BY trace_id FORMAT RowBinary";
    for (TraceStart& trace : read_starts(TRY(engine.query(query)))) found.insert(std::move(trace.trace_id));
    return found;
}

// The same from the newest spans alone; nothing when they do not suffice.
Result<std::vector<TraceStart>> find_newest(ClickHouse& engine, const ListTraces& request, int64_t from_ns,
                                            int64_t to_ns, size_t wanted) {
    Scope range = request.scope, earlier = request.scope;
    range.from_ns = earlier.to_ns = from_ns;
    range.to_ns = to_ns;
    std::vector<TraceStart> candidates = TRY(find_starts(engine, request, range, most_candidates));
    if (candidates.size() < wanted) return std::vector<TraceStart>{};
    // Most traces are short: a few more than the page hold enough that began in the range.
    if (const size_t few = wanted * 3 / 2; candidates.size() > few) candidates.resize(few);
    const std::set<std::string> older = TRY(began_earlier(engine, request, earlier, candidates));
    std::erase_if(candidates, [&](const TraceStart& trace) { return older.contains(trace.trace_id); });
    if (candidates.size() < wanted) return std::vector<TraceStart>{};
    candidates.resize(wanted);
    return candidates;
}

} // namespace

Result<TracePage> SpanStore::list_traces(const ListTraces& request) {
    const size_t limit = std::clamp<size_t>(request.limit, 1, 1000);
    int64_t to = request.scope.to_ns; // a trace of the next page begins before the cursor
    if (auto cursor = decode_cursor(request.cursor); !request.cursor.empty() && cursor.ok())
        to = std::min(to, cursor.value().number + 1);
    std::vector<TraceStart> starts;
    constexpr size_t spans_per_trace = 20; // of most projects, at most
    for (const int64_t from :
         recent_starts(request.scope, to, (limit + 1) * spans_per_trace, request.chat_session.has_value())) {
        starts = TRY(find_newest(m_engine, request, from, to, limit + 1));
        if (!starts.empty()) break;
    }
    if (starts.empty()) starts = TRY(find_starts(m_engine, request, request.scope, limit + 1));
    TracePage page;
    if (starts.empty()) return page;
    const std::string traces = list_of_traces(starts);
    const std::string times = " FROM hone.trace_times WHERE project = {project:String} AND trace_id IN " + traces + ")";
    ClickHouseQuery query(
        "SELECT trace_id, argMin(name, (parent_id != '', start_ns)), anyIf(chat_session, chat_session != ''), "
        "anyIf(user_id, user_id != ''), "
        "min(start_ns), max(start_ns + duration_ns), count(), countIf(status = 'error'), sum" +
        std::string(all_tokens) +
        ", sum(cost_nano_usd) FROM hone.spans WHERE project = {project:String} AND start_ns >= {from:Int64} AND "
        "start_ns "
        "< {to:Int64} AND start_ns >= (SELECT min(first_ns)" +
        times + " AND start_ns <= (SELECT max(last_ns)" + times + " AND trace_id IN " + traces +
        " GROUP BY trace_id ORDER BY min(start_ns) DESC, trace_id DESC FORMAT RowBinary");
    query.project = request.scope.project;
    query.bind("project", request.scope.project).bind("from", request.scope.from_ns).bind("to", request.scope.to_ns);
    query.deadline = request.scope.deadline;
    query.cancel = request.scope.cancel.get();
    query.set("max_query_size", "10000000");
    const std::string bytes = TRY(m_engine.query(query));
    for (BinaryReader reader(bytes); !reader.at_end();) {
        TraceRow row;
        row.trace_id = reader.bytes(32);
        row.root_name = reader.text();
        row.chat_session = reader.text();
        row.user_id = reader.text();
        row.start_ns = reader.number<int64_t>();
        row.end_ns = reader.number<int64_t>();
        row.spans = static_cast<int64_t>(reader.number<uint64_t>());
        row.errors = static_cast<int64_t>(reader.number<uint64_t>());
        row.tokens = reader.number<int64_t>();
        row.cost_nano_usd = reader.number<int64_t>();
        page.traces.push_back(std::move(row));
    }
    if (page.traces.size() > limit) {
        page.traces.resize(limit);
        page.next_cursor = encode_cursor(page.traces.back().start_ns, page.traces.back().trace_id);
    }
    return page;
}

} // namespace hone::telemetry
