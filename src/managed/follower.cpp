#include "managed/follower.h"

#include "base/text.h"

#include <algorithm>

namespace hone::managed {

namespace {

constexpr size_t most_reply_bytes = 1 << 20;

// Taken from the list only: nothing that is before it there may be missing when it is applied.
bool ends_turn(const Event& event) {
    return event.kind == EventKind::idle || event.kind == EventKind::terminated;
}

json::Object result_event(const ToolCall& call, const ToolReply& reply) {
    if (!call.is_custom)
        return {{"type", "user.tool_confirmation"},
                {"tool_use_id", call.id},
                {"result", "deny"},
                {"deny_message", "This session has no approvals."}};
    std::string text(truncate_utf8(reply.text, most_reply_bytes));
    if (text.size() < reply.text.size()) text += "\n[truncated]";
    const json::Object block{{"type", "text"}, {"text", text.empty() ? "(no output)" : text}};
    return {{"type", "user.custom_tool_result"},
            {"custom_tool_use_id", call.id},
            {"is_error", reply.is_error},
            {"content", json::Array{block}}};
}

// Whether another connection may succeed where this one failed. conflict: the API could not lock the session in time.
bool is_of_the_connection(const Error& error) {
    return error.code == Code::unavailable || error.code == Code::busy || error.code == Code::conflict;
}

} // namespace

Result<Progress> Follower::follow(int64_t messages, net::Cancel& cancel) {
    m_messages = messages;
    m_is_done = m_is_fatal = false;
    m_progress = TRY(m_journal.load());
    const Duration started = m_last_new = m_api.clock().steady();
    const Pace& pace = m_api.pace();
    for (int failures = 0; !is_done();) {
        const int64_t before = m_progress.sequence;
        auto ended = attach(cancel);
        // A stream that cannot be opened does not keep the history from being read.
        if (!ended.ok() && !m_is_fatal && !m_joined && is_of_the_connection(ended.error()) && !cancel.is_cancelled())
            ended = catch_up({}, cancel);
        if (cancel.is_cancelled()) return conflict("cancelled");
        if (m_is_done) break;
        if (!ended.ok() && !m_is_fatal && ended.error().code == Code::not_found) ended = check_lost(started, cancel);
        if (is_done()) break;
        if (!ended.ok() && (m_is_fatal || !is_of_the_connection(ended.error()))) return ended.error();
        failures = m_progress.sequence > before ? 0 : failures + 1;
        const Duration pause = pace.first_retry * (1 << std::min(failures, 16));
        if (failures > 0 && !Api::wait(std::min(pause, pace.longest_retry), cancel)) return conflict("cancelled");
    }
    return m_progress;
}

bool Follower::is_done() const {
    const bool has_all = m_progress.messages >= m_messages && m_progress.is_settled;
    return is_over(m_progress.phase) || (is_at_rest(m_progress.phase) && has_all);
}

Error Follower::fatal(Error error) {
    m_is_fatal = true;
    return error;
}

Result<> Follower::stop_when_done() {
    if (!m_is_done && !is_done()) return {};
    m_is_done = true;
    return conflict("the turn has ended"); // ends the stream
}

Result<> Follower::attach(net::Cancel& cancel) {
    m_joined = false;
    const auto opened = [&]() -> Result<> {
        TRY(catch_up({}, cancel));
        TRY(serve_calls(cancel));
        TRY(check_quiet(cancel));
        return stop_when_done();
    };
    return m_api.stream(m_session, cancel, opened, [&](const Event* event) { return received(event, cancel); });
}

Result<> Follower::received(const Event* event, net::Cancel& cancel) {
    if (event == nullptr) { // bytes that keep the connection open
        if (m_api.clock().steady() - m_last_read < m_api.pace().quiet) return {};
        TRY(catch_up({}, cancel));
        TRY(check_quiet(cancel));
    } else if (event->kind == EventKind::deleted) { // there is no history to read any more
        TRY(record(*event));
    } else if (event->kind == EventKind::preview || event->is_queued || event->id.empty()) {
        return {};
    } else if (m_seen.contains(event->id)) {
        m_joined = true;
        return {};
    } else if (!event->is_known) {
        // It may be one of the stream only, or have its place in the history: the next known event decides.
        m_joined = false;
        return {};
    } else if (!m_joined || ends_turn(*event)) {
        TRY(catch_up(event->id, cancel));
        m_joined = true;
    } else {
        TRY(record(*event));
    }
    TRY(serve_calls(cancel));
    return stop_when_done();
}

Result<> Follower::catch_up(const std::string& until, net::Cancel& cancel) {
    const Duration deadline = m_api.clock().steady() + m_api.pace().join_timeout;
    for (Duration pause = m_api.pace().first_retry / 8;; pause = std::min(pause * 2, m_api.pace().first_retry)) {
        const bool found = TRY(read_list(until, cancel));
        if (found || until.empty()) return {};
        if (m_api.clock().steady() > deadline)
            return unavailable("the history of the session does not contain an event of its stream");
        if (!Api::wait(pause, cancel)) return conflict("cancelled");
    }
}

Result<bool> Follower::read_list(const std::string& until, net::Cancel& cancel) {
    std::string from;
    if (const auto cursor = parse_time(m_progress.cursor); cursor.ok())
        from = to_text(cursor.value() - m_api.pace().overlap);
    std::string page;
    bool found = false;
    do {
        const EventPage read = TRY(m_api.events(m_session, from, page, cancel));
        for (const Event& event : read.events) {
            if (event.is_queued || event.id.empty()) continue;
            TRY(record(event));
            found = found || event.id == until;
        }
        page = read.next_page;
    } while (!page.empty());
    m_last_read = m_api.clock().steady();
    return found;
}

Result<> Follower::record(const Event& event) {
    if (m_seen.contains(event.id)) return {};
    for (;;) {
        Progress after = m_progress;
        apply(after, event);
        const auto appended = m_journal.append(event, after);
        if (!appended.ok()) return fatal(appended.error());
        if (appended.value() == Appended::recorded) {
            m_progress = std::move(after);
            break;
        }
        // Another follower, or this one before a restart.
        auto loaded = m_journal.load();
        if (!loaded.ok()) return fatal(loaded.error());
        m_progress = std::move(loaded).value();
        if (appended.value() == Appended::duplicate) break;
    }
    m_last_new = m_api.clock().steady();
    m_seen.insert(event.id);
    return {};
}

Result<> Follower::record_end(EventKind kind, const std::string& type) {
    Event event;
    event.id = "hone." + type; // an id that no event of the API has
    event.type = type;
    event.kind = kind;
    event.is_known = true;
    return record(event);
}

Result<> Follower::check_lost(Duration started, net::Cancel& cancel) {
    const auto view = m_api.session(m_session, cancel);
    if (view.ok()) return unavailable("the session exists, and its events were not found");
    if (view.error().code != Code::not_found) return view.error();
    // One that was just made may not be found everywhere yet.
    const bool is_new = m_progress.sequence == 0 && m_api.clock().steady() - started < m_api.pace().status_timeout;
    return is_new ? unavailable("the session was not found yet") : record_end(EventKind::deleted, "session.deleted");
}

Result<> Follower::serve_calls(net::Cancel& cancel) {
    if (m_progress.phase != Phase::working) return {};
    const std::vector<std::string> wanted = m_progress.waits_for;
    for (const std::string& id : wanted) {
        if (m_served.contains(id)) continue;
        const auto call = std::ranges::find(m_progress.open_calls, id, &ToolCall::id);
        if (call == m_progress.open_calls.end()) continue;
        const ToolCall copy = *call;
        TRY(serve(copy, cancel));
    }
    return {};
}

Result<> Follower::serve(const ToolCall& call, net::Cancel& cancel) {
    ToolReply reply;
    if (call.is_custom) {
        auto made = m_tools.run(call);
        if (!made.ok()) return fatal(made.error());
        reply = std::move(made).value();
    }
    auto sent = m_api.send(m_session, {result_event(call, reply)}, cancel);
    const bool was_refused = !sent.ok() && (sent.error().code == Code::invalid || sent.error().code == Code::too_large);
    // The API has a result of this call already, or does not take this one. Then it gets a short one, which it rejects
    // in the first case.
    if (was_refused && call.is_custom)
        sent = m_api.send(m_session, {result_event(call, {"The result was rejected by the provider.", true})}, cancel);
    if (!sent.ok() && sent.error().code != Code::invalid) return sent;
    m_served.insert(call.id);
    return {};
}

Result<> Follower::check_quiet(net::Cancel& cancel) {
    if (m_api.clock().steady() - m_last_new < m_api.pace().settle) return {};
    const SessionView view = TRY(m_api.session(m_session, cancel));
    const bool has_ended = view.is_archived || view.status == SessionStatus::terminated;
    if (is_at_rest(m_progress.phase) && (has_ended || view.status == SessionStatus::idle)) {
        m_is_done = true; // a message that was discarded at the provider stays without a turn
        return {};
    }
    return has_ended ? record_end(EventKind::terminated, "session.status_terminated") : Result<>();
}

} // namespace hone::managed
