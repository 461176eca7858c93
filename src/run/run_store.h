// Runs as workers use them: claim one, write each step before and after it happens, read the inputs and commands of
// people. No caller here: permissions were checked by Runs. Thread-safe; every function is one transaction.
#pragma once

#include "run/run.h"
#include "run/transcript.h"

namespace hone::run {

// The state in which a run ends, and why.
struct RunEnd {
    State state;
    std::string reason;
    static RunEnd by_wall_clock() { return {State::timed_out, "the wall clock ran out"}; }
};

// A run with what only its worker needs.
struct RunRecord {
    Run run;
    Manifest manifest;
    std::string rights; // JSON: the user or role that the run key acts for, and `rights_shared`
    std::string thread;
    std::optional<RunId> fork_of;
    std::string harness_session;
    std::optional<std::string> sandbox_id;
    std::optional<int64_t> sandbox_command;
    int64_t spool_offset = 0;
    std::optional<Time> waiting_since;
    // How the run ends, if a server was killed while it ended it, or before it read a cancel command.
    std::optional<RunEnd> ending;
};

// A prompt or a follow-up.
struct RunInput {
    int64_t seq = 0;
    std::string text;
    std::optional<int64_t> sent_at_offset; // none: not sent to the harness yet
};

struct Places {
    int64_t all = 8;       // runs at the same time
    int64_t per_space = 4; // of one space
};

class RunStore {
public:
    RunStore(sql::Database& database, const Clock& clock, Transcript& transcript)
        : m_database(database),
          m_clock(clock),
          m_transcript(transcript) {}

    // Moves the next queued run that has a place to `preparing` and gives it to this server; none: nothing to do.
    Result<std::optional<RunId>> claim(const std::string& server, const Places& places);
    // Writes into each queued run without a place what it waits for, once.
    // `lanes`: places that experiments have.
    Result<> explain_waiting(const Places& places, int64_t lanes = 0);
    // Runs that execute on the server or could begin now.
    Result<int64_t> executing_or_due(const std::string& server, const Places& places) const;
    // Runs of this server that are not over: what a restart must resume.
    Result<std::vector<RunId>> unfinished(const std::string& server) const;
    Result<RunRecord> read(const RunId& id) const;
    // Whether a person other than its starter wrote a message in the run's conversation.
    Result<bool> is_shared(const RunId& id) const;

    // A legal move with its event; conflict when the run is in another state by now.
    Result<> move(const RunId& id, State from, State to, const std::string& reason, const std::string& text);
    // Events of the harness and how far its output was read, together: each line of output is written exactly once.
    Result<> progress(const RunId& id, std::vector<RunEvent> events, int64_t spool_offset,
                      const std::string& harness_session);
    Result<> add_step(const RunId& id, std::string_view step, const std::string& text, bool failed = false);
    Result<> add_steps(const RunId& id, std::vector<RunEvent> steps) {
        return m_transcript.append(id, std::move(steps));
    }

    // The steps since the last transaction go with each of these two: waiting for the disk is most of what preparing
    // costs.
    Result<> sandbox_started(const RunId& id, const std::string& sandbox_id, const Manifest& manifest,
                             std::vector<RunEvent> steps);
    // Moves the run to `running`, too, unless it is.
    Result<> harness_started(const RunId& id, int64_t command, State from, std::vector<RunEvent> steps);
    Result<> sandbox_ended(const RunId& id);
    Result<> set_manifest(const RunId& id, const Manifest& manifest);
    Result<> set_usage(const RunId& id, const harness::Usage& usage, std::optional<int64_t> cost_micro_usd);
    // How the run ends, before its sandbox is taken down: after a crash meanwhile it is not called lost.
    Result<> begin_ending(const RunId& id, State to, const std::string& reason);
    // An interrupt is returned once, a cancel every time. A run that was deleted is cancelled.
    Result<RunCommand> take_command(const RunId& id);

    // The inputs of the present sandbox and those that were not sent, oldest first.
    Result<std::vector<RunInput>> inputs(const RunId& id) const;
    bool has_unsent_input(const RunId& id) const;
    // Counts a turn when the input opened one.
    Result<> mark_input_sent(const RunId& id, int64_t seq, const std::string& sandbox_id, int64_t offset,
                             bool opens_turn);
    // The harness has no memory of the inputs: all of them are sent again.
    Result<> mark_inputs_unsent(const RunId& id);

private:
    sql::Database& m_database;
    const Clock& m_clock;
    Transcript& m_transcript;
};

} // namespace hone::run
