// The traces of a project, newest first or in another order (declared in span_store.h). A trace counts from its first
// span that matches, so a time range may be read alone only where it is known which of its traces began earlier.
#include "telemetry/engine/page_cursor.h"
#include "telemetry/query/scoped_query.h"
#include "telemetry/query/sorted_rows.h"
#include "telemetry/query/span_store.h"
#include "telemetry/span/binary.h"

#include <algorithm>
#include <map>
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

// When the spans of the traces began, whether they match or not. A trace that it does not know has no spans any more.
struct TraceTimes {
    int64_t first_ns = 0, last_ns = 0;
};
using TimesOfTraces = std::map<std::string, TraceTimes, std::less<>>;

Result<TimesOfTraces> find_times(ClickHouse& engine, const Scope& scope, const std::vector<TraceStart>& traces) {
    ClickHouseQuery query("SELECT trace_id, min(first_ns), max(last_ns) FROM hone.trace_times WHERE project = "
                          "{project:String} AND trace_id IN " +
                          list_of_traces(traces) + " GROUP BY trace_id FORMAT RowBinary");
    query.project = scope.project;
    query.bind("project", scope.project);
    query.deadline = scope.deadline;
    query.cancel = scope.cancel.get();
    query.set("max_query_size", "10000000");
    const std::string bytes = TRY(engine.query(query));
    TimesOfTraces times;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        std::string trace_id(reader.bytes(32));
        const auto first_ns = reader.number<int64_t>();
        times[std::move(trace_id)] = {first_ns, reader.number<int64_t>()};
    }
    return times;
}

// Those of the traces that have a span that matches in the scope, which ends where the range of `traces` begins.
Result<std::set<std::string>> began_earlier(ClickHouse& engine, const ListTraces& request, Scope scope,
                                            const std::vector<TraceStart>& traces, const TimesOfTraces& times) {
    std::vector<TraceStart> older;
    int64_t first = INT64_MAX;
    for (const TraceStart& trace : traces) {
        const auto known = times.find(trace.trace_id);
        if (known == times.end() || known->second.first_ns >= scope.to_ns) continue;
        older.push_back(trace);
        first = std::min(first, known->second.first_ns);
    }
    std::set<std::string> found;
    if (older.empty()) return found;
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
                                            int64_t to_ns, size_t wanted, TimesOfTraces& times) {
    Scope range = request.scope, earlier = request.scope;
    range.from_ns = earlier.to_ns = from_ns;
    range.to_ns = to_ns;
    std::vector<TraceStart> candidates = TRY(find_starts(engine, request, range, most_candidates));
    if (candidates.size() < wanted) return std::vector<TraceStart>{};
    // Most traces are short: a few more than the page hold enough that began in the range.
    if (const size_t few = wanted * 3 / 2; candidates.size() > few) candidates.resize(few);
    times = TRY(find_times(engine, request.scope, candidates));
    const std::set<std::string> older = TRY(began_earlier(engine, request, earlier, candidates, times));
    std::erase_if(candidates, [&](const TraceStart& trace) { return older.contains(trace.trace_id); });
    if (candidates.size() < wanted) return std::vector<TraceStart>{};
    candidates.resize(wanted);
    return candidates;
}

constexpr std::string_view trace_columns =
    "trace_id, argMin(name, (parent_id != '', start_ns)), anyIf(chat_session, chat_session != ''), "
    "anyIf(user_id, user_id != ''), min(start_ns) AS first, max(start_ns + duration_ns) AS last, count(), "
    "countIf(status = 'error') AS failed";

// The whole rows of traces.
std::string select_traces(const std::string& where) {
    return "SELECT " + std::string(trace_columns) + ", toInt64(sum" + std::string(all_tokens) +
           ") AS used, toInt64(sum(cost_nano_usd)) AS spent FROM hone.spans WHERE " + where + " GROUP BY trace_id";
}

std::vector<TraceRow> read_traces(std::string_view bytes) {
    std::vector<TraceRow> traces;
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
        traces.push_back(std::move(row));
    }
    return traces;
}

// What traces are sorted by, as SQL with the names of select_traces.
std::string_view trace_number(RowOrder order) {
    switch (order) {
    case RowOrder::start:
        return "first";
    case RowOrder::duration:
        return "(last - first)";
    case RowOrder::tokens:
        return "used";
    case RowOrder::cost:
        return "spent";
    case RowOrder::errors:
        return "toInt64(failed)";
    }
    return {};
}

int64_t trace_number(const TraceRow& row, RowOrder order) {
    switch (order) {
    case RowOrder::start:
        return row.start_ns;
    case RowOrder::duration:
        return row.end_ns - row.start_ns;
    case RowOrder::tokens:
        return row.tokens;
    case RowOrder::cost:
        return row.cost_nano_usd;
    case RowOrder::errors:
        return row.errors;
    }
    return 0;
}

TracePage page_of_traces(std::vector<TraceRow> traces, size_t limit, RowOrder order) {
    TracePage page{std::move(traces), {}};
    if (page.traces.size() > limit) {
        page.traces.resize(limit);
        const TraceRow& last = page.traces.back();
        page.next_cursor = encode_cursor(trace_number(last, order), last.trace_id);
    }
    return page;
}

} // namespace

Result<TracePage> sorted_traces(ClickHouse& engine, const ListTraces& request, RowSort sort) {
    const size_t limit = std::clamp<size_t>(request.limit, 1, 1000);
    ScopedQuery scoped = TRY(scope_query(request.scope));
    ClickHouseQuery& query = scoped.query;
    if (request.chat_session) {
        query.bind("session", *request.chat_session);
        scoped.where += " AND chat_session = {session:String}";
    }
    std::string where = scoped.where;
    if (request.chat_session || !request.scope.filter.empty()) // the other spans of a trace that matches count too
        where = "project = {project:String} AND start_ns >= {from:Int64} AND start_ns < {to:Int64} AND trace_id IN "
                "(SELECT trace_id FROM hone.spans WHERE " +
                scoped.where + ")";
    const std::string number(trace_number(sort.by));
    std::string having;
    if (!request.cursor.empty()) {
        const Cursor cursor = TRY(decode_cursor(request.cursor));
        query.bind("cursor_number", cursor.number).bind("cursor_id", cursor.id);
        const std::string sign = sort.ascending ? " > " : " < ";
        having = " HAVING (" + number + sign + "{cursor_number:Int64} OR (" + number +
                 " = {cursor_number:Int64} AND trace_id" + sign + "{cursor_id:String}))";
    }
    const std::string order = sort.ascending ? " ASC" : " DESC";
    query.sql = select_traces(where) + having + " ORDER BY " + number + order + ", trace_id" + order + " LIMIT " +
                std::to_string(limit + 1) + " FORMAT RowBinary";
    return page_of_traces(read_traces(TRY(engine.query(query))), limit, sort.by);
}

Result<TracePage> SpanStore::list_traces(const ListTraces& request) {
    const size_t limit = std::clamp<size_t>(request.limit, 1, 1000);
    int64_t to = request.scope.to_ns; // a trace of the next page begins before the cursor
    if (auto cursor = decode_cursor(request.cursor); cursor.ok() && cursor.value().number < to)
        to = cursor.value().number + 1;
    std::vector<TraceStart> starts;
    TimesOfTraces times;                   // at least of `starts`
    constexpr size_t spans_per_trace = 20; // of most projects, at most
    for (const int64_t from :
         recent_starts(request.scope, to, (limit + 1) * spans_per_trace, request.chat_session.has_value())) {
        starts = TRY(find_newest(m_engine, request, from, to, limit + 1, times));
        if (!starts.empty()) break;
    }
    if (starts.empty()) {
        Scope whole = request.scope;
        whole.to_ns = to;
        starts = TRY(find_starts(m_engine, request, whole, limit + 1));
        if (starts.empty()) return TracePage{};
        times = TRY(find_times(m_engine, request.scope, starts));
    }
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (const TraceStart& start : starts) {
        const auto known = times.find(start.trace_id);
        if (known == times.end()) continue;
        first_ns = std::min(first_ns, known->second.first_ns);
        last_ns = std::max(last_ns, known->second.last_ns);
    }
    ClickHouseQuery query(
        select_traces("project = {project:String} AND start_ns >= {from:Int64} AND start_ns < {to:Int64} AND start_ns "
                      ">= {first:Int64} AND start_ns <= {last:Int64} AND trace_id IN " +
                      list_of_traces(starts)) +
        " ORDER BY first DESC, trace_id DESC FORMAT RowBinary");
    query.project = request.scope.project;
    query.bind("project", request.scope.project).bind("from", request.scope.from_ns).bind("to", request.scope.to_ns);
    query.bind("first", first_ns).bind("last", last_ns);
    query.deadline = request.scope.deadline;
    query.cancel = request.scope.cancel.get();
    query.set("max_query_size", "10000000");
    return page_of_traces(read_traces(TRY(m_engine.query(query))), limit, RowOrder::start);
}

} // namespace hone::telemetry
