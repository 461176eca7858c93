#include "run/managed/session_store.h"

#include "base/text.h"
#include "sql/columns.h"

#include <cmath>

namespace hone::run {

namespace {

constexpr double micro_usd_per_active_second = 80'000.0 / 3600; // $0.08 for an hour in which the session ran
constexpr size_t longest_event_id = 200;

const std::string select_session =
    "SELECT run_id, space_id, skill_id, base_url, session_id, vault_id, began_at, active_since, stopped_at FROM "
    "managed_sessions";

ManagedSession session_of(const sql::Row& row) {
    return {
        row.id<RunTag>(0), row.id<access::SpaceTag>(1), row.text(2), row.text(3), row.text(4), row.text(5), row.time(6),
        row.time(7),       row.optional_time(8)};
}

std::string event_key(const std::string& id) {
    return std::string(truncate_utf8(id, longest_event_id));
}

RunEvent made_of(harness::EventKind kind, std::string text) {
    RunEvent event;
    event.kind = kind;
    event.text = std::move(text);
    return event;
}

std::string with_detail(const std::string& what, const std::string& detail) {
    return detail.empty() ? what : what + ": " + detail;
}

RunEvent turn_result(const managed::Event& event, const std::string& last_message) {
    if (event.stop == managed::Stop::end_turn) return made_of(harness::EventKind::result, last_message);
    RunEvent failed = made_of(harness::EventKind::result, with_detail("The turn ended", event.stop_reason));
    failed.failed = true;
    return failed;
}

RunEvent tool_event(const managed::Event& event) {
    const bool is_call = !event.tool.empty();
    RunEvent made = made_of(is_call ? harness::EventKind::tool_call : harness::EventKind::tool_result, event.text);
    made.call_id = is_call ? event.id : event.call_id;
    if (is_call) made.tool = event.kind == managed::EventKind::custom_tool_use ? "hone." + event.tool : event.tool;
    if (is_call && !event.input.empty()) made.input = event.input;
    made.failed = event.failed;
    return made;
}

RunEvent usage_event(const managed::ModelUsage& usage) {
    RunEvent made = made_of(harness::EventKind::usage, "");
    made.usage = harness::Usage{usage.input, usage.cache_read, usage.cache_write, usage.output, 0};
    return made;
}

} // namespace

std::optional<int64_t> cost_micro_usd(const managed::Progress& progress, const std::string& model,
                                      const telemetry::Prices& prices, Time at) {
    const auto running = static_cast<int64_t>(std::llround(progress.active_seconds * micro_usd_per_active_second));
    if (progress.list_cost_cents > 0) return progress.list_cost_cents * 10'000 + running;
    const telemetry::Price* price = prices.find(model, at);
    if (price == nullptr) return std::nullopt;
    const managed::ModelUsage& usage = progress.usage;
    telemetry::Tokens tokens;
    tokens.input = usage.input;
    tokens.output = usage.output;
    tokens.cache_read = usage.cache_read;
    tokens.cache_write = usage.cache_write;
    return telemetry::cost_nano_usd(*price, tokens) / 1000 + running;
}

std::optional<RunEvent> transcript_event(const managed::Event& event, const std::string& last_message) {
    using enum managed::EventKind;
    switch (event.kind) {
    case message:
        return made_of(harness::EventKind::message, event.text);
    case thinking:
        return made_of(harness::EventKind::thinking, event.text);
    case tool_use:
    case custom_tool_use:
    case tool_result:
    case custom_tool_result:
        return tool_event(event);
    case idle:
        if (event.stop == managed::Stop::requires_action) return std::nullopt;
        return turn_result(event, last_message);
    case rescheduled:
        return made_of(harness::EventKind::status, "The provider continues the session on another machine.");
    case terminated:
        return made_of(harness::EventKind::error, "The provider ended the session.");
    case deleted:
        return made_of(harness::EventKind::error, "The session was deleted at the provider.");
    case error:
        return made_of(event.retry == managed::Retry::retrying ? harness::EventKind::status : harness::EventKind::error,
                       with_detail(event.error_type, event.text));
    case model_request_end:
        return usage_event(event.usage);
    case user_message: // in the transcript since a person wrote it
    case other_user:
    case running:
    case usage:
    case preview:
    case other:
        break;
    }
    return std::nullopt;
}

// --- sessions ------------------------------------------------------------------------------------------------------

Result<ManagedSession> SessionStore::begin(const RunId& run, const access::SpaceId& space, const std::string& skill_id,
                                           const std::string& base_url) {
    const Time now = m_clock.now();
    TRY(m_database.execute(
        "INSERT INTO managed_sessions (run_id, space_id, skill_id, base_url, session_id, vault_id, progress, began_at, "
        "active_since) VALUES (?, ?, ?, ?, '', '', ?, ?, ?) ON CONFLICT (run_id) DO NOTHING",
        run, space, skill_id, base_url, json::write(managed::Progress{}), now, now));
    const auto found = TRY(find(run));
    if (!found) return not_found("the session of " + run.text());
    if (found->stopped_at) return conflict("the session has ended at the provider; rerun it instead");
    return *found;
}

Result<std::optional<ManagedSession>> SessionStore::find(const RunId& run) const {
    const auto rows = TRY(m_database.query(select_session + " WHERE run_id = ?", run));
    if (rows.empty()) return std::optional<ManagedSession>();
    return std::optional(session_of(rows.front()));
}

Result<> SessionStore::set_vault(const RunId& run, const std::string& vault) {
    TRY(m_database.execute("UPDATE managed_sessions SET vault_id = ? WHERE run_id = ?", vault, run));
    return {};
}

Result<> SessionStore::set_session(const RunId& run, const std::string& session) {
    TRY(m_database.execute("UPDATE managed_sessions SET session_id = ?, active_since = ? WHERE run_id = ?", session,
                           m_clock.now(), run));
    return {};
}

Result<> SessionStore::set_stopping(const RunId& run) {
    TRY(m_database.execute("UPDATE runs SET workspace_removed_at = ? WHERE id = ?", m_clock.now(), run));
    return {};
}

Result<> SessionStore::set_stopped(const RunId& run) {
    TRY(m_database.execute("UPDATE managed_sessions SET stopped_at = ?, vault_id = '' WHERE run_id = ?", m_clock.now(),
                           run));
    return {};
}

Result<> SessionStore::remove(const RunId& run) {
    TRY(m_database.execute("DELETE FROM managed_sessions WHERE run_id = ?", run));
    return {};
}

Result<std::vector<ManagedSession>> SessionStore::left_over(std::span<const std::string> others) const {
    std::vector<sql::Value> values{sql::to_value(std::string())};
    for (const std::string& name : others) values.push_back(sql::to_value(name));
    // A run that ended well keeps its session for follow-ups until its workspace would expire.
    const auto rows = TRY(m_database.run_query(
        select_session +
            " s WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = s.run_id) OR (s.stopped_at IS NULL AND EXISTS "
            "(SELECT 1 FROM runs r WHERE r.id = s.run_id AND COALESCE(r.server, ' ') NOT IN (" +
            sql::marks(values.size()) +
            ") AND r.state NOT IN ('queued', 'preparing', 'running', 'waiting') AND r.workspace_removed_at IS NOT "
            "NULL)) ORDER BY run_id LIMIT 100",
        values));
    std::vector<ManagedSession> found;
    for (const auto& row : rows) found.push_back(session_of(row));
    return found;
}

Result<std::vector<RunInput>> SessionStore::inputs(const RunId& run) const {
    const auto rows =
        TRY(m_database.query("SELECT seq, words, told_at_offset FROM run_inputs WHERE run_id = ? ORDER BY seq", run));
    std::vector<RunInput> all;
    for (const auto& row : rows) all.push_back({row.integer(0), row.text(1), row.optional_integer(2)});
    return all;
}

// --- events --------------------------------------------------------------------------------------------------------

Result<managed::Progress> SessionStore::progress(const RunId& run) const {
    const auto rows = TRY(m_database.query("SELECT progress FROM managed_sessions WHERE run_id = ?", run));
    if (rows.empty()) return not_found("the session of " + run.text());
    return json::read<managed::Progress>(rows.front().text(0));
}

Result<managed::Appended> SessionStore::append(const RunId& run, const managed::Event& event,
                                               const managed::Progress& after, const std::optional<RunEvent>& made,
                                               std::optional<int64_t> cost) {
    const auto appended = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<managed::Appended> {
        const auto known = TRY(transaction.query("SELECT 1 FROM managed_events WHERE run_id = ? AND event_id = ?", run,
                                                 event_key(event.id)));
        if (!known.empty()) return managed::Appended::duplicate;
        const auto last =
            TRY(transaction.query("SELECT COALESCE(MAX(sequence), 0) FROM managed_events WHERE run_id = ?", run));
        if (last.front().integer(0) + 1 != after.sequence) return managed::Appended::behind;
        const int64_t written = TRY(transaction.execute(
            "INSERT INTO managed_events (run_id, event_id, sequence) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", run,
            event_key(event.id), after.sequence));
        if (written == 0) return managed::Appended::behind; // another server was faster
        TRY(transaction.execute("UPDATE managed_sessions SET progress = ? WHERE run_id = ?", json::write(after), run));
        const managed::ModelUsage& usage = after.usage;
        TRY(transaction.execute("UPDATE runs SET input_tokens = ?, cache_read_tokens = ?, cache_write_tokens = ?, "
                                "output_tokens = ?, cost_micro_usd = ?, steps = steps + ? WHERE id = ?",
                                usage.input, usage.cache_read, usage.cache_write, usage.output, cost,
                                int64_t{made && made->kind == harness::EventKind::tool_call}, run));
        if (!made) return managed::Appended::recorded;
        const auto turns = TRY(transaction.query("SELECT turns FROM runs WHERE id = ?", run));
        RunEvent copy = *made; // the work may be run again
        copy.turn = turns.empty() ? 0 : turns.front().integer(0);
        TRY(m_transcript.append(transaction, run, std::span(&copy, 1)));
        return managed::Appended::recorded;
    }));
    if (appended == managed::Appended::recorded && made) m_transcript.announce(run);
    return appended;
}

// --- tools ---------------------------------------------------------------------------------------------------------

Result<SessionStore::Reply> SessionStore::begin_call(const RunId& run, const std::string& call,
                                                     const std::string& process) {
    return m_database.write([&](sql::Transaction& transaction) -> Result<Reply> {
        const int64_t begun = TRY(transaction.execute(
            "INSERT INTO managed_replies (run_id, call_id, begun_by, failed) VALUES (?, ?, ?, 0) ON CONFLICT (run_id, "
            "call_id) DO NOTHING",
            run, event_key(call), process));
        if (begun == 1) return Reply{std::nullopt, true};
        const auto rows = TRY(transaction.query(
            "SELECT reply, failed FROM managed_replies WHERE run_id = ? AND call_id = ?", run, event_key(call)));
        if (rows.empty() || rows.front().is_null(0)) return Reply{};
        return Reply{managed::ToolReply{rows.front().text(0), rows.front().integer(1) != 0}, false};
    });
}

Result<bool> SessionStore::has_call(const RunId& run, const std::string& call) const {
    const auto rows =
        TRY(m_database.query("SELECT 1 FROM managed_replies WHERE run_id = ? AND call_id = ?", run, event_key(call)));
    return !rows.empty();
}

Result<> SessionStore::set_reply(const RunId& run, const std::string& call, const managed::ToolReply& reply) {
    TRY(m_database.execute(
        "UPDATE managed_replies SET reply = ?, failed = ? WHERE run_id = ? AND call_id = ? AND reply IS NULL",
        reply.text, int64_t{reply.is_error}, run, event_key(call)));
    return {};
}

} // namespace hone::run
