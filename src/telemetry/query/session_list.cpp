// The chat sessions of a project, newest first (declared in span_store.h): first which ones, then what belongs to them.
#include "telemetry/engine/page_cursor.h"
#include "telemetry/query/scoped_query.h"
#include "telemetry/query/sorted_rows.h"
#include "telemetry/query/span_store.h"
#include "telemetry/span/binary.h"
#include "telemetry/upgrade/store_upgrade.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

namespace hone::telemetry {

namespace {

constexpr size_t most_session_traces = 5000; // that are summed up

bool is_trace_id(std::string_view text) {
    return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

Result<> add_totals(ClickHouse& engine, const Scope& scope, const std::map<std::string, size_t>& session_of,
                    std::vector<SessionRow>& sessions) {
    if (session_of.empty()) return {};
    std::string traces;
    for (const auto& [trace, session] : session_of) // hexadecimal digits, from the engine's own result
        if (is_trace_id(trace)) traces += (traces.empty() ? "('" : ",'") + trace + "'";
    ClickHouseQuery query("WITH (SELECT (min(first_ns), max(last_ns)) FROM hone.trace_times WHERE project = "
                          "{project:String} AND trace_id IN " +
                          traces +
                          ")) AS times SELECT trace_id, max(start_ns + duration_ns), count(), countIf(status = "
                          "'error'), sum" +
                          std::string(all_tokens) +
                          ", sum(cost_nano_usd) FROM hone.spans WHERE project = {project:String} AND start_ns >= "
                          "times.1 AND start_ns <= times.2 AND trace_id IN " +
                          traces + ") GROUP BY trace_id FORMAT RowBinary");
    query.project = scope.project;
    query.bind("project", scope.project);
    query.deadline = scope.deadline;
    query.cancel = scope.cancel.get();
    query.set("max_query_size", "1000000000").set("max_ast_elements", "100000000");
    const std::string bytes = TRY(engine.query(query));
    for (BinaryReader reader(bytes); !reader.at_end();) {
        const auto place = session_of.find(std::string(reader.bytes(32)));
        SessionRow ignored;
        SessionRow& row = place == session_of.end() ? ignored : sessions[place->second];
        row.traces++;
        row.end_ns = std::max(row.end_ns, reader.number<int64_t>());
        row.spans += static_cast<int64_t>(reader.number<uint64_t>());
        row.errors += static_cast<int64_t>(reader.number<uint64_t>());
        row.tokens += reader.number<int64_t>();
        row.cost_nano_usd += reader.number<int64_t>();
    }
    return {};
}

// The users and traces of the sessions, then the sums of all spans of these traces. Returns those that have spans in
// the scope.
Result<std::set<std::string>> add_users_and_totals(ClickHouse& engine, const Scope& scope,
                                                   std::vector<SessionRow>& sessions) {
    std::set<std::string> found;
    if (sessions.empty()) return found;
    std::map<std::string, size_t, std::less<>> places;
    std::vector<std::string> names;
    Scope range = scope;
    range.from_ns = std::max(scope.from_ns, sessions.back().start_ns); // the oldest: they are sorted
    for (const SessionRow& session : sessions) {
        places.emplace(session.chat_session, names.size());
        names.push_back(session.chat_session);
    }
    ScopedQuery scoped = TRY(scope_query(range));
    scoped.query.bind("sessions", names);
    scoped.query.sql = "SELECT chat_session, anyIf(user_id, user_id != ''), groupUniqArray(" +
                       std::to_string(most_session_traces) + ")(trace_id) FROM hone.spans WHERE " + scoped.where +
                       " AND chat_session IN {sessions:Array(String)} GROUP BY chat_session FORMAT RowBinary";
    const std::string bytes = TRY(engine.query(scoped.query));
    std::map<std::string, size_t> session_of; // by trace
    for (BinaryReader reader(bytes); !reader.at_end();) {
        const auto place = places.find(reader.text());
        if (place != places.end()) found.insert(place->first);
        const std::string_view user = reader.text();
        if (place != places.end()) sessions[place->second].user_id = user;
        for (uint64_t left = reader.varint(); left > 0 && !reader.failed(); --left) {
            const std::string_view trace = reader.bytes(32);
            if (place == places.end()) continue;
            // A trace with several sessions counts for the newest one.
            const auto [known, is_new] = session_of.emplace(trace, place->second);
            if (!is_new) known->second = std::min(known->second, place->second);
        }
    }
    TRY(add_totals(engine, scope, session_of, sessions));
    return found;
}

// HAVING for the page after the cursor, which begins with " AND ".
std::string after_cursor(ClickHouseQuery& query, const std::optional<Cursor>& cursor) {
    if (!cursor) return {};
    query.bind("cursor_ns", cursor->number).bind("cursor_id", cursor->id);
    return " AND (first < {cursor_ns:Int64} OR (first = {cursor_ns:Int64} AND chat_session < {cursor_id:String}))";
}

std::string newest_first(size_t rows) {
    return " ORDER BY first DESC, chat_session DESC LIMIT " + std::to_string(rows) + " FORMAT RowBinary";
}

struct ListedSession {
    std::string chat_session;
    int64_t first_ns = 0, last_ns = 0;
};

Result<std::vector<ListedSession>> read_sessions(ClickHouse& engine, const ClickHouseQuery& query) {
    const std::string bytes = TRY(engine.query(query));
    std::vector<ListedSession> sessions;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        ListedSession session;
        session.chat_session = reader.text();
        session.first_ns = reader.number<int64_t>();
        session.last_ns = reader.number<int64_t>();
        sessions.push_back(std::move(session));
    }
    return sessions;
}

// From the spans that match. `last_ns` is not known.
Result<std::vector<ListedSession>> sessions_of_spans(ClickHouse& engine, const Scope& scope,
                                                     const std::optional<Cursor>& cursor, size_t rows) {
    ScopedQuery scoped = TRY(scope_query(scope));
    const std::string after = after_cursor(scoped.query, cursor);
    scoped.query.sql = "SELECT chat_session, min(start_ns) AS first, {to:Int64} - 1 FROM hone.spans WHERE " +
                       scoped.where + " AND chat_session != '' GROUP BY chat_session HAVING 1" + after +
                       newest_first(rows);
    return read_sessions(engine, scoped.query);
}

// Where the newest `rows` rows of times that begin before `before_ns` begin: the engine reads them in this order. The
// start of the scope when there are fewer.
Result<int64_t> start_of_newest_rows(ClickHouse& engine, const Scope& scope, int64_t before_ns, size_t rows) {
    ClickHouseQuery query = TRY(scope_query(scope)).query;
    query.bind("before", before_ns);
    query.sql = "SELECT first_ns FROM hone.session_times WHERE project = {project:String} AND first_ns >= {from:Int64} "
                "AND first_ns < {before:Int64} ORDER BY first_ns DESC LIMIT 1 OFFSET " +
                std::to_string(rows - 1) + " FORMAT RowBinary";
    const std::string bytes = TRY(engine.query(query));
    return bytes.empty() ? scope.from_ns : BinaryReader(bytes).number<int64_t>();
}

// Of the sessions that have a row of times in `which`. A session has several rows until they are merged: their minimum
// and maximum count, so `having` decides which of these sessions begin there.
Result<std::vector<ListedSession>> sessions_of_rows(ClickHouse& engine, ClickHouseQuery query, std::string_view which,
                                                    const std::string& having, size_t rows) {
    query.sql = "SELECT chat_session, min(first_ns) AS first, max(last_ns) AS last FROM hone.session_times WHERE "
                "project = {project:String} AND chat_session IN (SELECT chat_session FROM hone.session_times WHERE "
                "project = {project:String} AND " +
                std::string(which) + ") GROUP BY chat_session HAVING " + having + newest_first(rows);
    return read_sessions(engine, query);
}

// From the times of sessions, newest first, in windows that grow until there are enough: first those that begin in the
// scope, then those that began before it and continue in it. One of them may have no span in the scope: before it and
// after it only.
Result<std::vector<ListedSession>> sessions_of_times(ClickHouse& engine, Scope scope,
                                                     const std::optional<Cursor>& cursor, size_t rows) {
    scope.filter.clear();
    std::vector<ListedSession> sessions;
    int64_t before = scope.to_ns;
    if (cursor && cursor->number < before) before = cursor->number + 1;
    for (size_t window = rows + rows / 2; before > scope.from_ns && sessions.size() < rows; window *= 4) {
        const int64_t from = TRY(start_of_newest_rows(engine, scope, before, window));
        ClickHouseQuery query = TRY(scope_query(scope)).query;
        query.bind("begins", from).bind("before", before);
        const std::string having = "first >= {begins:Int64} AND first < {before:Int64}" + after_cursor(query, cursor);
        auto found = TRY(sessions_of_rows(engine, std::move(query),
                                          "first_ns >= {begins:Int64} AND first_ns < "
                                          "{before:Int64}",
                                          having, rows - sessions.size()));
        std::ranges::move(found, std::back_inserter(sessions));
        before = from;
    }
    if (sessions.size() >= rows || scope.from_ns <= 0) return sessions;
    ClickHouseQuery query = TRY(scope_query(scope)).query;
    const std::string having = "first < {from:Int64} AND first < {to:Int64}" + after_cursor(query, cursor);
    auto found =
        TRY(sessions_of_rows(engine, std::move(query), "last_ns >= {from:Int64}", having, rows - sessions.size()));
    std::ranges::move(found, std::back_inserter(sessions));
    return sessions;
}

} // namespace

// Many senders name the session on the root span alone: what counts are all spans of the session's traces.
Result<SessionPage> SpanStore::list_sessions(const Scope& scope, size_t limit, const std::string& cursor) {
    limit = std::clamp<size_t>(limit, 1, 1000);
    const bool is_of_all_arrivals = scope.received_from_ns <= 0 && scope.received_to_ns == INT64_MAX;
    const bool reads_times = m_upgrade && m_upgrade->knows_sessions() && scope.filter.empty() && is_of_all_arrivals;
    SessionPage page;
    page.next_cursor = cursor;
    int tries = 4; // to fill a page; an empty one would look like the end
    do {           // again for those of a page that have no span in the scope, or none that is stored yet
        std::optional<Cursor> after;
        if (!page.next_cursor.empty()) after = TRY(decode_cursor(page.next_cursor));
        const size_t wanted = limit - page.sessions.size();
        const auto listed = TRY(reads_times ? sessions_of_times(m_engine, scope, after, wanted + 1)
                                            : sessions_of_spans(m_engine, scope, after, wanted + 1));
        Scope range = scope;
        range.to_ns = scope.from_ns;
        std::vector<SessionRow> sessions;
        for (const ListedSession& session : listed) {
            SessionRow row;
            row.chat_session = session.chat_session;
            row.start_ns = session.first_ns;
            if (sessions.size() < wanted)
                range.to_ns = std::max(range.to_ns, std::min(scope.to_ns - 1, session.last_ns) + 1);
            sessions.push_back(std::move(row));
        }
        page.next_cursor.clear();
        if (sessions.size() > wanted) {
            sessions.resize(wanted);
            page.next_cursor = encode_cursor(sessions.back().start_ns, sessions.back().chat_session);
        }
        const auto found = TRY(add_users_and_totals(m_engine, range, sessions));
        for (SessionRow& row : sessions)
            if (!reads_times || found.contains(row.chat_session)) page.sessions.push_back(std::move(row));
        --tries;
    } while (page.sessions.size() < limit && !page.next_cursor.empty() && (tries > 0 || page.sessions.empty()));
    return page;
}

} // namespace hone::telemetry
