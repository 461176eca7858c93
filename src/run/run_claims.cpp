// Who has a run: claims, epochs, and runs of servers that are lost. The other functions of RunStore are in
// run_store.cpp.
#include "run/run_store.h"
#include "run/state_change.h"
#include "sql/columns.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::run {

namespace {

Error taken_over() {
    return conflict("another server has the run now");
}

// The server with the workspace: where the run last executed, or the run that it was forked from. None: `?`.
constexpr std::string_view home_of_run =
    "COALESCE((SELECT own.server FROM run_files AS own WHERE own.run_id = runs.id), (SELECT source.server FROM "
    "run_files AS source WHERE source.run_id = runs.fork_of), ?)";

} // namespace

std::string of_backend(Backend backend, std::string_view of) {
    return fmt::format(" AND {}provider {} '{}'", of, backend == Backend::managed ? "=" : "<>",
                       name_of(RunProvider::claude_managed));
}

std::string working_in_space(Backend backend) {
    return "(SELECT COUNT(*) FROM runs AS other WHERE other.space_id = runs.space_id AND other.state IN ('preparing', "
           "'running')" +
           of_backend(backend, "other.") + ")";
}

int64_t RunStore::epoch_of(const RunId& id) const {
    const Lock lock(m_mutex);
    const auto held = m_epochs.find(id);
    return held == m_epochs.end() ? -1 : held->second; // no run has this epoch
}

void RunStore::keep(const RunId& id, int64_t epoch) {
    const Lock lock(m_mutex);
    m_epochs[id] = epoch;
}

void RunStore::release(const RunId& id, int64_t epoch) {
    const Lock lock(m_mutex);
    if (const auto held = m_epochs.find(id); held != m_epochs.end() && held->second == epoch) m_epochs.erase(held);
}

Result<bool> RunStore::is_left(const RunId& id, int64_t epoch) const {
    const auto rows = TRY(m_database.query(
        "SELECT 1 FROM runs WHERE id = ? AND epoch = ? AND state IN ('preparing', 'running', 'waiting')", id, epoch));
    return !rows.empty();
}

Result<> RunStore::require_held(sql::Transaction& transaction, const RunId& id) const {
    const auto rows = TRY(transaction.query("SELECT 1 FROM runs WHERE id = ? AND epoch = ?", id, epoch_of(id)));
    if (rows.empty()) return taken_over();
    return {};
}

Result<bool> RunStore::is_taken_over(const RunId& id) const {
    const auto rows = TRY(m_database.query("SELECT 1 FROM runs WHERE id = ? AND epoch <> ?", id, epoch_of(id)));
    return !rows.empty();
}

Result<> RunStore::execute_held(std::string_view sql_set, const RunId& id, std::vector<sql::Value> values) {
    values.push_back(sql::to_value(id));
    values.push_back(sql::to_value(epoch_of(id)));
    const int64_t changed =
        TRY(m_database.run_execute("UPDATE runs SET " + std::string(sql_set) + " WHERE id = ? AND epoch = ?", values));
    if (changed == 0) return taken_over();
    return {};
}

Result<std::optional<RunStore::Waiting>> RunStore::next_queued(sql::Transaction& transaction, const std::string& server,
                                                               const Places& places,
                                                               std::span<const std::string> others) const {
    std::vector<sql::Value> values{sql::to_value(server), sql::to_value(m_clock.now()),
                                   sql::to_value(places.per_space)};
    std::string elsewhere;
    if (!others.empty()) {
        elsewhere = fmt::format(" AND {} NOT IN ({})", home_of_run, sql::marks(others.size()));
        values.push_back(sql::to_value(server));
        for (const std::string& name : others) values.push_back(sql::to_value(name));
    }
    const auto next = TRY(transaction.run(
        fmt::format(
            "SELECT id, {} FROM runs WHERE state = 'queued' AND queued_at <= ? AND {} < ?{}{} ORDER BY priority "
            "DESC, queued_at, id LIMIT 1",
            home_of_run, working_in_space(places.backend), elsewhere, of_backend(places.backend)),
        values));
    if (next.rows.empty()) return std::optional<Waiting>();
    return std::optional(Waiting{next.rows.front().id<RunTag>(0), next.rows.front().text(1)});
}

// The harness has no memory of the conversation without the workspace: all inputs are sent again.
Result<> RunStore::leave_workspace(sql::Transaction& transaction, const Waiting& run) {
    TRY(transaction.execute("UPDATE runs SET harness_session = '', fork_of = NULL WHERE id = ?", run.id));
    TRY(transaction.execute("UPDATE run_inputs SET sandbox_id = NULL, told_at_offset = NULL WHERE run_id = ?", run.id));
    RunEvent event;
    event.text = fmt::format("The workspace is on server {}, which has not reported for some time. The run starts with "
                             "an empty workspace.",
                             run.home);
    return m_transcript.append(transaction, run.id, std::span(&event, 1));
}

Result<std::optional<RunId>> RunStore::claim(const std::string& server, const Places& places,
                                             std::span<const std::string> others) {
    int64_t epoch = 0;
    auto claimed = m_database.write([&](sql::Transaction& transaction) -> Result<std::optional<RunId>> {
        const auto busy =
            TRY(transaction.query("SELECT COUNT(*) FROM runs WHERE server = ? AND state IN ('preparing', 'running')" +
                                      of_backend(places.backend),
                                  server));
        if (busy.front().integer(0) >= places.all) return std::optional<RunId>();
        const auto next = TRY(next_queued(transaction, server, places, others));
        if (!next) return std::optional<RunId>();
        const RunId& id = next->id;
        const Time now = m_clock.now();
        if (!TRY(change_state(transaction, id, State::queued, State::preparing, "", now)))
            return std::optional<RunId>();
        const auto rows = TRY(transaction.query(
            "UPDATE runs SET server = ?, epoch = epoch + 1, wish = '', sandbox_id = NULL, sandbox_command = NULL, "
            "spool_offset = 0, started_at = COALESCE(started_at, ?) WHERE id = ? RETURNING epoch",
            server, now, id));
        epoch = rows.front().integer(0);
        const bool has_workspace = places.backend == Backend::sandbox; // a managed session is at its provider
        if (has_workspace && next->home != server) TRY(leave_workspace(transaction, *next));
        TRY(transaction.execute("UPDATE run_files SET server = ? WHERE run_id = ?", server, id));
        RunEvent event;
        event.state = State::preparing;
        event.text = "Preparing.";
        TRY(m_transcript.append(transaction, id, std::span(&event, 1)));
        return std::optional(id);
    });
    if (!claimed.ok() || !claimed.value()) return claimed;
    keep(*claimed.value(), epoch);
    m_transcript.announce(*claimed.value());
    return claimed;
}

Result<bool> RunStore::take_hold(const RunId& id, const std::string& from, const std::string& server) {
    const auto epoch = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<std::optional<int64_t>> {
        const auto rows =
            TRY(transaction.query("UPDATE runs SET server = ?, epoch = epoch + 1 WHERE id = ? AND server = ? AND state "
                                  "IN ('preparing', 'running', 'waiting') RETURNING epoch",
                                  server, id, from));
        return rows.empty() ? std::nullopt : std::optional(rows.front().integer(0));
    }));
    if (epoch) keep(id, *epoch);
    return epoch.has_value();
}

Result<bool> RunStore::resume(const RunId& id, const std::string& server) {
    return take_hold(id, server, server);
}

Result<bool> RunStore::take_over_run(sql::Transaction& transaction, const RunId& id, const std::string& server) {
    const auto rows =
        TRY(transaction.query("SELECT state, sandbox_command, turns FROM runs WHERE id = ? AND server = ? "
                              "AND state IN ('preparing', 'running', 'waiting')",
                              id, server));
    if (rows.empty()) return false; // it has ended, or another server was quicker
    const State from = parse_enum<State>(rows.front().text(0)).value_or(State::running);
    const bool has_begun = from != State::preparing || !rows.front().is_null(1);
    const bool has_workspace = has_begun || rows.front().integer(2) > 0;
    const State to = has_begun ? State::lost : State::queued;
    const std::string reason = "server " + server + ", which executed it, has not reported for some time";
    if (!TRY(change_state(transaction, id, from, to, has_begun ? reason : "", m_clock.now()))) return false;
    TRY(transaction.execute("UPDATE runs SET epoch = epoch + 1, server = NULL, sandbox_id = NULL, sandbox_command = "
                            "NULL, spool_offset = 0 WHERE id = ?",
                            id));
    if (!has_workspace) TRY(transaction.execute("UPDATE run_files SET server = NULL WHERE run_id = ?", id));
    RunEvent event;
    event.state = to;
    event.text = has_begun ? "lost: " + reason : "Queued again: " + reason + ".";
    event.failed = has_begun;
    TRY(m_transcript.append(transaction, id, std::span(&event, 1)));
    return true;
}

Result<std::vector<RunStore::Lost>>
RunStore::runs_of_lost_servers(const std::string& server, std::span<const std::string> others, Backend backend) const {
    std::vector<sql::Value> values{sql::to_value(server)};
    for (const std::string& name : others) values.push_back(sql::to_value(name));
    const auto rows =
        TRY(m_database.run_query("SELECT id, server FROM runs WHERE state IN ('preparing', 'running', "
                                 "'waiting') AND server NOT IN (" +
                                     sql::marks(values.size()) + ")" + of_backend(backend) + " ORDER BY id LIMIT 100",
                                 values));
    std::vector<Lost> lost;
    for (const auto& row : rows) lost.push_back({row.id<RunTag>(0), row.text(1)});
    return lost;
}

Result<std::vector<RunId>> RunStore::take_over(const std::string& server, std::span<const std::string> others) {
    std::vector<RunId> taken;
    for (const Lost& run : TRY(runs_of_lost_servers(server, others, Backend::sandbox))) {
        const bool changed = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<bool> {
            return take_over_run(transaction, run.id, run.server);
        }));
        if (!changed) continue;
        m_transcript.announce(run.id);
        taken.push_back(run.id);
    }
    return taken;
}

Result<std::vector<RunId>> RunStore::adopt(const std::string& server, std::span<const std::string> others) {
    std::vector<RunId> adopted;
    for (const Lost& run : TRY(runs_of_lost_servers(server, others, Backend::managed)))
        if (TRY(take_hold(run.id, run.server, server))) adopted.push_back(run.id);
    return adopted;
}

} // namespace hone::run
