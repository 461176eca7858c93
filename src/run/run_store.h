// Runs as workers use them: claim one, write each step before and after it happens, read the inputs and commands of
// people. No caller here: permissions were checked by Runs. Thread-safe; every function is one transaction.
// Every claim gives the run a new epoch. What a worker writes is rejected (conflict) unless this store holds the run
// with its present epoch: a server that was frozen while another took its run over changes nothing any more.
#pragma once

#include "base/mutex.h"
#include "run/run.h"
#include "run/transcript.h"

#include <map>
#include <span>

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

// What carries a run out: a worker with a sandbox, or a session of an agent provider. Each has its own places.
enum class Backend { sandbox, managed };

struct Places {
    int64_t all = 8;       // runs at the same time
    int64_t per_space = 4; // of one space
    Backend backend = Backend::sandbox;
};

// For SQL: " AND …", of runs of the backend (`of`: "runs." or another alias with a dot), and how many runs of the run's
// own space work.
std::string of_backend(Backend backend, std::string_view of = "runs.");
std::string working_in_space(Backend backend);

class RunStore {
public:
    RunStore(sql::Database& database, const Clock& clock, Transcript& transcript)
        : m_database(database),
          m_clock(clock),
          m_transcript(transcript) {}

    // Moves the next queued run that has a place to `preparing` and gives it to this server; none: nothing to do.
    // A run whose workspace is on one of the `others` waits for that server; on a server that is not listed, because it
    // is lost, it starts with an empty workspace.
    Result<std::optional<RunId>> claim(const std::string& server, const Places& places,
                                       std::span<const std::string> others = {});
    // After a restart: this process continues a run of its server; an earlier process cannot write it any more. False:
    // the run is no longer of this server.
    Result<bool> resume(const RunId& id, const std::string& server);
    // The epoch with which this store holds the run; -1: it does not.
    int64_t epoch_of(const RunId& id) const;
    // Whether the run is not over and still held with this epoch: its worker could not write its end.
    Result<bool> is_left(const RunId& id, int64_t epoch) const;
    // The worker of this epoch has ended. The run may have been claimed again meanwhile: that hold stays.
    void release(const RunId& id, int64_t epoch);
    // The run is there, and another server or process has it.
    Result<bool> is_taken_over(const RunId& id) const;
    // Runs with sandboxes of servers that are lost, which is all but this one and the `others`: queued again if they
    // had not begun, `lost` otherwise. Returns their ids.
    Result<std::vector<RunId>> take_over(const std::string& server, std::span<const std::string> others);
    // Managed runs of lost servers: their sessions are elsewhere, so this server continues them. Returns their ids.
    Result<std::vector<RunId>> adopt(const std::string& server, std::span<const std::string> others);
    // Writes into each queued run without a place what it waits for, once.
    // `lanes`: places that experiments have. `server`: which this is; empty: there is no other.
    Result<> explain_waiting(const Places& places, int64_t lanes = 0, const std::string& server = {});
    // Runs that execute on the server or could begin now.
    Result<int64_t> executing_or_due(const std::string& server, const Places& places) const;
    // Runs of this server that are not over: what a restart must resume.
    Result<std::vector<RunId>> unfinished(const std::string& server, Backend backend = Backend::sandbox) const;
    Result<RunRecord> read(const RunId& id) const;
    // Whether a person other than its starter wrote a message in the run's conversation.
    Result<bool> is_shared(const RunId& id) const;

    // A legal move with its event; conflict when the run is in another state by now.
    Result<> move(const RunId& id, State from, State to, const std::string& reason, const std::string& text);
    // Events of the harness and how far its output was read, together: each line of output is written exactly once.
    Result<> progress(const RunId& id, std::vector<RunEvent> events, int64_t spool_offset,
                      const std::string& harness_session);
    Result<> add_step(const RunId& id, std::string_view step, const std::string& text, bool failed = false);
    Result<> add_steps(const RunId& id, std::vector<RunEvent> steps);

    // The steps since the last transaction go with each of these two: waiting for the disk is most of what preparing
    // costs.
    Result<> sandbox_started(const RunId& id, const std::string& sandbox_id, const Manifest& manifest,
                             std::vector<RunEvent> steps);
    // Moves the run to `running`, too, unless it is.
    Result<> harness_started(const RunId& id, int64_t command, State from, std::vector<RunEvent> steps);
    Result<> sandbox_ended(const RunId& id);
    Result<> set_manifest(const RunId& id, const Manifest& manifest);
    Result<> set_usage(const RunId& id, const harness::Usage& usage, std::optional<int64_t> cost_micro_usd);
    // It is queued only after the pause.
    Result<> postpone(const RunId& id, Duration pause);
    // How the run ends, before its sandbox is taken down: after a crash meanwhile it is not called lost.
    Result<> begin_ending(const RunId& id, State to, const std::string& reason);
    // An interrupt is returned once, a cancel every time. A run that was deleted or taken over is cancelled.
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
    struct Waiting {
        RunId id;
        std::string home; // the server that has its workspace, or this one
    };
    struct Lost {
        RunId id;
        std::string server;
    };

    void keep(const RunId& id, int64_t epoch);
    // A run that is not over, from a server to this one, with a new epoch. False: it is over, or of another server.
    Result<bool> take_hold(const RunId& id, const std::string& from, const std::string& server);
    // Conflict: another server, or another process of this one, has the run.
    Result<> require_held(sql::Transaction& transaction, const RunId& id) const;
    Result<> execute_held(std::string_view sql_set, const RunId& id, std::vector<sql::Value> values);
    Result<std::optional<Waiting>> next_queued(sql::Transaction& transaction, const std::string& server,
                                               const Places& places, std::span<const std::string> others) const;
    Result<> leave_workspace(sql::Transaction& transaction, const Waiting& run);
    Result<std::vector<Lost>> runs_of_lost_servers(const std::string& server, std::span<const std::string> others,
                                                   Backend backend) const;
    Result<bool> take_over_run(sql::Transaction& transaction, const RunId& id, const std::string& server);

    sql::Database& m_database;
    const Clock& m_clock;
    Transcript& m_transcript;
    mutable Mutex m_mutex;
    std::map<RunId, int64_t> m_epochs GUARDED_BY(m_mutex); // of the runs that this store holds
};

} // namespace hone::run
