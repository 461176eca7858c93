#include "run/run_store.h"

#include "run/runs.h"
#include "run/state_change.h"
#include "sql/columns.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::run {

namespace {

// The column `wish`: a command that the worker has not taken, or how the run ends ("end failed out of memory").
struct StoredCommand {
    RunCommand command = RunCommand::none;
    std::optional<RunEnd> ending;
};
constexpr std::string_view ending_word = "end ";

StoredCommand parse_command(std::string_view text) {
    if (const auto command = parse_enum<RunCommand>(text)) {
        if (*command != RunCommand::cancel) return {*command, std::nullopt};
        return {*command, RunEnd{State::cancelled, ""}};
    }
    if (!text.starts_with(ending_word)) return {};
    const std::string_view rest = text.substr(ending_word.size());
    const std::string_view name = rest.substr(0, rest.find(' '));
    const auto state = parse_enum<State>(name);
    if (!state) return {};
    return {RunCommand::none, RunEnd{*state, std::string(rest.substr(std::min(rest.size(), name.size() + 1)))}};
}

std::string write_ending(const RunEnd& end) {
    return fmt::format("{}{} {}", ending_word, name_of(end.state), end.reason);
}

// What follows the columns of the run itself.
constexpr Pack record_columns{
    sql::Column{"manifest", sql::Converted{[](RunRecord& record, const sql::Row& row, size_t at) -> Result<> {
                    record.manifest = TRY(json::read<Manifest>(row.text(at)));
                    return {};
                }}},
    sql::Column{"rights", &RunRecord::rights},
    sql::Column{"thread", &RunRecord::thread},
    sql::Column{"fork_of", &RunRecord::fork_of},
    sql::Column{"harness_session", &RunRecord::harness_session},
    sql::Column{"sandbox_id", &RunRecord::sandbox_id},
    sql::Column{"sandbox_command", &RunRecord::sandbox_command},
    sql::Column{"spool_offset", &RunRecord::spool_offset},
    sql::Column{"wish", sql::Converted{[](RunRecord& record, const sql::Row& row, size_t at) {
                    record.ending = parse_command(row.text(at)).ending;
                }}},
    sql::Column{"waiting_since", &RunRecord::waiting_since},
};

} // namespace

Result<int64_t> RunStore::executing_or_due(const std::string& server, const Places& places) const {
    const auto rows = TRY(
        m_database.query("SELECT (SELECT COUNT(*) FROM runs WHERE server = ? AND state IN ('preparing', 'running')" +
                             of_backend(places.backend) + ") + (SELECT COUNT(*) FROM runs WHERE state = 'queued'" +
                             of_backend(places.backend) + " AND " + working_in_space(places.backend) + " < ?)",
                         server, places.per_space));
    return rows.front().integer(0);
}

Result<> RunStore::explain_waiting(const Places& places, int64_t lanes, const std::string& server) {
    // Another server may take it in a moment, or a run may just end.
    const auto waiting = TRY(m_database.query(
        "SELECT id, " + working_in_space(places.backend) +
            ", (SELECT files.server FROM run_files AS files WHERE files.run_id = runs.id) FROM runs WHERE state = "
            "'queued' AND reason = '' AND queued_at <= ?" +
            of_backend(places.backend) + " LIMIT 100",
        m_clock.now() - std::chrono::seconds(1)));
    for (const auto& row : waiting) {
        const RunId id = row.id<RunTag>(0);
        const std::string home = row.optional_text(2).value_or(server);
        const std::string reason =
            row.integer(1) >= places.per_space
                ? fmt::format("waits for a place: {} runs of this space work, and no more may", row.integer(1))
            : !server.empty() && home != server ? fmt::format("waits for server {}, which has its workspace", home)
            : lanes > 0
                ? fmt::format("waits for a place: this server has {}, experiments have {} of them", places.all, lanes)
                : fmt::format("waits for a place: this server executes {} runs at the same time", places.all);
        TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
            const int64_t changed = TRY(transaction.execute(
                "UPDATE runs SET reason = ? WHERE id = ? AND state = 'queued' AND reason = ''", reason, id));
            if (changed == 0) return {};
            RunEvent event;
            event.text = "It " + reason + ".";
            return m_transcript.append(transaction, id, std::span(&event, 1));
        }));
        m_transcript.announce(id);
    }
    return {};
}

Result<std::vector<RunId>> RunStore::unfinished(const std::string& server, Backend backend) const {
    const auto rows =
        TRY(m_database.query("SELECT id FROM runs WHERE server = ? AND state IN ('preparing', 'running', 'waiting')" +
                                 of_backend(backend) + " ORDER BY id",
                             server));
    std::vector<RunId> runs;
    for (const auto& row : rows) runs.push_back(row.id<RunTag>(0));
    return runs;
}

Result<RunRecord> RunStore::read(const RunId& id) const {
    const auto rows = TRY(m_database.query(select_run(sql::names(record_columns)) + " WHERE id = ?", id));
    if (rows.empty()) return not_found("run " + id.text());
    const sql::Row row = rows.front();
    RunRecord record = TRY(sql::read<RunRecord>(record_columns, row, run_width()));
    record.run = run_of(row);
    return record;
}

Result<bool> RunStore::is_shared(const RunId& id) const {
    const auto rows = TRY(m_database.query("SELECT rights FROM runs WHERE id = ?", id));
    if (rows.empty()) return not_found("run " + id.text());
    const auto rights = TRY(json::parse(rows.front().text(0)));
    return !rights.is_object() || rights.get_object().contains(rights_shared);
}

Result<> RunStore::move(const RunId& id, State from, State to, const std::string& reason, const std::string& text) {
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(require_held(transaction, id));
        if (!TRY(change_state(transaction, id, from, to, reason, m_clock.now())))
            return conflict("the run is no longer " + std::string(name_of(from)));
        RunEvent event;
        event.state = to;
        event.text = text;
        event.failed = to == State::failed || to == State::timed_out || to == State::lost;
        return m_transcript.append(transaction, id, std::span(&event, 1));
    }));
    m_transcript.announce(id);
    return {};
}

Result<> RunStore::progress(const RunId& id, std::vector<RunEvent> events, int64_t spool_offset,
                            const std::string& harness_session) {
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(require_held(transaction, id));
        const auto rows = TRY(transaction.query("SELECT turns FROM runs WHERE id = ?", id));
        if (rows.empty()) return not_found("run " + id.text());
        std::vector<RunEvent> copy = events; // the work may be run again
        for (RunEvent& event : copy)
            if (event.turn == 0) event.turn = rows.front().integer(0);
        TRY(m_transcript.append(transaction, id, copy));
        const auto steps = std::ranges::count(copy, harness::EventKind::tool_call, &RunEvent::kind);
        TRY(transaction.execute("UPDATE runs SET spool_offset = ?, harness_session = ?, steps = steps + ? WHERE id = ?",
                                spool_offset, harness_session, static_cast<int64_t>(steps), id));
        return {};
    }));
    if (!events.empty()) m_transcript.announce(id);
    return {};
}

Result<> RunStore::add_step(const RunId& id, std::string_view step, const std::string& text, bool failed) {
    RunEvent event;
    event.step = std::string(step);
    event.text = text;
    event.failed = failed;
    return add_steps(id, {event});
}

Result<> RunStore::add_steps(const RunId& id, std::vector<RunEvent> steps) {
    if (steps.empty()) return {};
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(require_held(transaction, id));
        std::vector<RunEvent> copy = steps; // the work may be run again
        return m_transcript.append(transaction, id, copy);
    }));
    m_transcript.announce(id);
    return {};
}

Result<> RunStore::sandbox_started(const RunId& id, const std::string& sandbox_id, const Manifest& manifest,
                                   std::vector<RunEvent> steps) {
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(require_held(transaction, id));
        TRY(transaction.execute(
            "UPDATE runs SET sandbox_id = ?, sandbox_command = NULL, spool_offset = 0, manifest = ? WHERE id = ?",
            sandbox_id, json::write(manifest), id));
        std::vector<RunEvent> copy = steps; // the work may be run again
        return m_transcript.append(transaction, id, copy);
    }));
    m_transcript.announce(id);
    return {};
}

Result<> RunStore::harness_started(const RunId& id, int64_t command, State from, std::vector<RunEvent> steps) {
    RunEvent running;
    running.state = State::running;
    running.text = "Running.";
    if (from != State::running) steps.push_back(running);
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(require_held(transaction, id));
        if (from != State::running && !TRY(change_state(transaction, id, from, State::running, "", m_clock.now())))
            return conflict("the run is no longer " + std::string(name_of(from)));
        const int64_t noted = TRY(transaction.execute(
            "UPDATE runs SET sandbox_command = ?, spool_offset = 0, reason = '' WHERE id = ? AND state = ?", command,
            id, name_of(State::running)));
        if (noted == 0) return conflict("the run is no longer running");
        std::vector<RunEvent> copy = steps;
        return m_transcript.append(transaction, id, copy);
    }));
    m_transcript.announce(id);
    return {};
}

Result<> RunStore::sandbox_ended(const RunId& id) {
    return execute_held("sandbox_id = NULL, sandbox_command = NULL, spool_offset = 0", id, {});
}

Result<> RunStore::set_manifest(const RunId& id, const Manifest& manifest) {
    return execute_held("manifest = ?", id, {sql::to_value(json::write(manifest))});
}

Result<> RunStore::set_usage(const RunId& id, const harness::Usage& usage, std::optional<int64_t> cost_micro_usd) {
    return execute_held("input_tokens = ?, cache_read_tokens = ?, cache_write_tokens = ?, output_tokens = ?, "
                        "reasoning_tokens = ?, cost_micro_usd = ?",
                        id,
                        {sql::to_value(usage.input), sql::to_value(usage.cache_read), sql::to_value(usage.cache_write),
                         sql::to_value(usage.output), sql::to_value(usage.reasoning), sql::to_value(cost_micro_usd)});
}

Result<> RunStore::postpone(const RunId& id, Duration pause) {
    return execute_held("queued_at = ?", id, {sql::to_value(m_clock.now() + pause)});
}

Result<> RunStore::begin_ending(const RunId& id, State to, const std::string& reason) {
    TRY(m_database.execute("UPDATE runs SET wish = ? WHERE id = ? AND epoch = ? AND wish <> ?",
                           write_ending({to, reason}), id, epoch_of(id), name_of(RunCommand::cancel)));
    return {};
}

Result<RunCommand> RunStore::take_command(const RunId& id) {
    const auto rows = TRY(m_database.query("SELECT wish FROM runs WHERE id = ? AND epoch = ?", id, epoch_of(id)));
    if (rows.empty()) return RunCommand::cancel; // deleted with its project or space, or taken over
    const RunCommand command = parse_command(rows.front().text(0)).command;
    if (command == RunCommand::interrupt)
        TRY(m_database.execute("UPDATE runs SET wish = '' WHERE id = ? AND epoch = ? AND wish = ?", id, epoch_of(id),
                               name_of(command)));
    return command;
}

Result<std::vector<RunInput>> RunStore::inputs(const RunId& id) const {
    const auto rows = TRY(m_database.query(
        "SELECT i.seq, i.words, i.told_at_offset FROM run_inputs i JOIN runs r ON r.id = i.run_id WHERE i.run_id = ? "
        "AND (i.told_at_offset IS NULL OR i.sandbox_id = r.sandbox_id) ORDER BY i.seq",
        id));
    std::vector<RunInput> all;
    for (const auto& row : rows) all.push_back({row.integer(0), row.text(1), row.optional_integer(2)});
    return all;
}

bool RunStore::has_unsent_input(const RunId& id) const {
    const auto all = inputs(id);
    return all.ok() && std::ranges::any_of(all.value(), [](const RunInput& one) { return !one.sent_at_offset; });
}

Result<> RunStore::mark_input_sent(const RunId& id, int64_t seq, const std::string& sandbox_id, int64_t offset,
                                   bool opens_turn) {
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(require_held(transaction, id));
        TRY(transaction.execute("UPDATE run_inputs SET sandbox_id = ?, told_at_offset = ? WHERE run_id = ? AND seq = ?",
                                sandbox_id, offset, id, seq));
        if (opens_turn) TRY(transaction.execute("UPDATE runs SET turns = turns + 1 WHERE id = ?", id));
        return {};
    });
}

Result<> RunStore::mark_inputs_unsent(const RunId& id) {
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(require_held(transaction, id));
        TRY(transaction.execute("UPDATE run_inputs SET sandbox_id = NULL, told_at_offset = NULL WHERE run_id = ?", id));
        return {};
    });
}

} // namespace hone::run
