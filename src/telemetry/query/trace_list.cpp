#include "telemetry/query/trace_list.h"

#include "base/text.h"
#include "telemetry/engine/page_cursor.h"
#include "telemetry/span/binary.h"

#include <algorithm>
#include <map>

namespace hone::telemetry {

namespace {

constexpr size_t most_traces_of_sessions = 100'000;
constexpr std::string_view totals = "min(start_ns) AS first, max(start_ns + duration_ns) AS last, sum(input_tokens + "
                                    "cache_read_tokens + cache_write_tokens), sum(output_tokens + reasoning_tokens)";

// HAVING and ORDER BY for pages sorted by (number, id); `narrower` begins with AND.
Result<std::string> sorted(ClickHouseQuery& query, const std::string& number, const std::string& id, bool ascending,
                           const std::string& cursor, const std::string& narrower = {}) {
    std::string sql = narrower.empty() ? "" : " HAVING 1";
    if (!cursor.empty()) {
        const Cursor place = TRY(decode_cursor(cursor));
        query.bind("place", place.number).bind("place_id", place.id);
        const std::string sign = ascending ? " > " : " < ";
        sql = " HAVING (" + number + sign + "{place:Int64} OR (" + number + " = {place:Int64} AND " + id + sign +
              "{place_id:String}))";
    }
    const std::string order = ascending ? " ASC" : " DESC";
    return sql + narrower + " ORDER BY " + number + order + ", " + id + order;
}

TraceTotals read_totals(BinaryReader& reader) {
    TraceTotals row;
    row.trace_id = reader.bytes(32);
    row.start_ns = reader.number<int64_t>();
    row.end_ns = reader.number<int64_t>();
    row.prompt_tokens = reader.number<int64_t>();
    row.completion_tokens = reader.number<int64_t>();
    return row;
}

} // namespace

Result<TraceTotalsPage> TraceList::traces(const ListTraceTotals& request) {
    const size_t limit = std::clamp<size_t>(request.limit, 1, 1000);
    ClickHouseQuery query("");
    query.project = request.project;
    query.bind("project", request.project).bind("from", request.from_ns).bind("to", request.to_ns);
    std::string which = "project = {project:String} AND start_ns >= {from:Int64}";
    // Only traces that begin inside: one that began earlier has spans here too. The spans themselves may end later.
    if (request.from_ns > 0 || request.to_ns < INT64_MAX)
        which += " AND trace_id IN (SELECT trace_id FROM hone.trace_times WHERE project = {project:String} GROUP BY "
                 "trace_id HAVING min(first_ns) >= {from:Int64} AND min(first_ns) < {to:Int64})";
    if (!request.chat_sessions.empty()) {
        query.bind("sessions", request.chat_sessions);
        which += " AND trace_id IN (SELECT trace_id FROM hone.spans WHERE project = {project:String} AND chat_session "
                 "IN {sessions:Array(String)})";
    }
    const std::string number = request.by_latency ? "(last - first)" : "first";
    std::string narrower;
    if (request.has_error)
        narrower += std::string(" AND countIf(status = 'error') ") + (*request.has_error ? "> 0" : "= 0");
    if (request.least_latency_ns > 0 || request.most_latency_ns < INT64_MAX) {
        query.bind("least", request.least_latency_ns).bind("most", request.most_latency_ns);
        narrower += " AND last - first BETWEEN {least:Int64} AND {most:Int64}";
    }
    const std::string order = TRY(sorted(query, number, "trace_id", request.ascending, request.cursor, narrower));
    query.sql = "SELECT trace_id, " + std::string(totals) + " FROM hone.spans WHERE " + which + " GROUP BY trace_id" +
                order + " LIMIT " + std::to_string(limit + 1) + " FORMAT RowBinary";
    const std::string bytes = TRY(m_engine.query(query));
    TraceTotalsPage page;
    for (BinaryReader reader(bytes); !reader.at_end();) page.traces.push_back(read_totals(reader));
    if (page.traces.size() > limit) {
        page.traces.resize(limit);
        const TraceTotals& last = page.traces.back();
        page.next_cursor =
            encode_cursor(request.by_latency ? last.end_ns - last.start_ns : last.start_ns, last.trace_id);
    }
    return page;
}

// A trace belongs to a session by one of its spans, and brings all others with it.
Result<> TraceList::fill(const std::string& project, std::vector<SessionTotals>& sessions) {
    if (sessions.empty()) return {};
    std::map<std::string, SessionTotals*, std::less<>> by_name;
    std::vector<std::string> names;
    for (SessionTotals& session : sessions) {
        by_name[session.chat_session] = &session;
        names.push_back(session.chat_session);
    }
    ClickHouseQuery query("SELECT trace_id, " + std::string(totals) +
                          ", groupUniqArrayIf(chat_session, chat_session IN {sessions:Array(String)}) FROM hone.spans "
                          "WHERE project = {project:String} AND trace_id IN (SELECT trace_id FROM hone.spans WHERE "
                          "project = {project:String} AND chat_session IN {sessions:Array(String)}) GROUP BY trace_id "
                          "ORDER BY first, trace_id LIMIT " +
                          std::to_string(most_traces_of_sessions + 1) + " FORMAT RowBinary");
    query.project = project;
    query.bind("project", project).bind("sessions", names);
    const std::string bytes = TRY(m_engine.query(query));
    size_t traces = 0;
    for (BinaryReader reader(bytes); !reader.at_end(); ++traces) {
        const TraceTotals row = read_totals(reader);
        for (uint64_t left = reader.varint(); left > 0 && !reader.failed(); --left) {
            const auto found = by_name.find(reader.text());
            if (found == by_name.end()) continue;
            SessionTotals& session = *found->second;
            session.start_ns = session.traces.empty() ? row.start_ns : std::min(session.start_ns, row.start_ns);
            session.end_ns = std::max(session.end_ns, row.end_ns);
            session.prompt_tokens += row.prompt_tokens;
            session.completion_tokens += row.completion_tokens;
            session.traces.push_back(row);
        }
    }
    if (traces > most_traces_of_sessions) return too_large("these chat sessions have too many traces; request fewer");
    return {};
}

Result<SessionTotalsPage> TraceList::sessions(const std::string& project, bool ascending, size_t limit,
                                              const std::string& cursor) {
    limit = std::clamp<size_t>(limit, 1, 1000);
    ClickHouseQuery query("");
    query.project = project;
    query.bind("project", project);
    const std::string order = TRY(sorted(query, "first", "chat_session", ascending, cursor));
    query.sql = "SELECT chat_session, min(start_ns) AS first FROM hone.spans WHERE project = {project:String} AND "
                "chat_session != '' GROUP BY chat_session" +
                order + " LIMIT " + std::to_string(limit + 1) + " FORMAT RowBinary";
    const std::string bytes = TRY(m_engine.query(query));
    SessionTotalsPage page;
    std::vector<int64_t> firsts;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        SessionTotals session;
        session.chat_session = reader.text();
        firsts.push_back(reader.number<int64_t>());
        page.sessions.push_back(std::move(session));
    }
    if (page.sessions.size() > limit) {
        page.sessions.resize(limit);
        page.next_cursor = encode_cursor(firsts[limit - 1], page.sessions.back().chat_session);
    }
    TRY(fill(project, page.sessions));
    return page;
}

Result<SessionTotals> TraceList::session(const std::string& project, const std::string& name) {
    std::vector<SessionTotals> one(1);
    one.front().chat_session = name;
    TRY(fill(project, one));
    if (one.front().traces.empty()) return not_found("session " + std::string(truncate_utf8(name, 100)));
    return std::move(one.front());
}

} // namespace hone::telemetry
