// Runs as those who carry them out deal with them: claim one, write down each step before and after it happens, take
// what people said. No caller here: whoever got this far was let in by Runs. Thread-safe; every function is one
// transaction.
#pragma once

#include "run/run.h"
#include "run/transcript.h"

namespace hone::run {

// A run with what only its worker needs to know.
struct Work {
    Run run;
    Manifest manifest;
    std::string rights; // JSON: whom the run key stands for
    std::string thread;
    std::optional<RunId> fork_of;
    std::string harness_session;
    std::optional<std::string> sandbox_id;
    std::optional<int64_t> sandbox_command;
    int64_t spool_offset = 0;
    std::string wish;
    std::optional<Time> waiting_since;

    // What `ending` wrote, if nothing came of it.
    struct Ending {
        State state;
        std::string reason;
    };
    std::optional<Ending> ending() const;
};

// Something a person said.
struct Said {
    int64_t seq = 0;
    std::string text;
    std::optional<int64_t> told_at_offset; // none: not told yet
};

struct Places {
    int64_t all = 8;       // runs at once
    int64_t per_space = 4; // of one space
};

class WorkBook {
public:
    WorkBook(sql::Database& database, const Clock& clock, Transcript& transcript)
        : m_database(database),
          m_clock(clock),
          m_transcript(transcript) {}

    // The next queued run that has a place, now `preparing` and in this server's hands; none: nothing to do.
    Result<std::optional<RunId>> claim(const std::string& server, const Places& places);
    // Tells queued runs for which there is no place what they wait for, once.
    Result<> tell_waiting(const Places& places);
    // Runs that are not over and in this server's hands: what a restart must look after.
    Result<std::vector<RunId>> in_hand(const std::string& server) const;
    Result<Work> read(const RunId& id) const;

    // A legal move with its event; conflict when the run is elsewhere by now.
    Result<> move(const RunId& id, State from, State to, const std::string& reason, const std::string& text);
    // Events of the harness and how far its output was read, together: each line of output is told exactly once.
    Result<> progress(const RunId& id, std::vector<RunEvent> events, int64_t spool_offset,
                      const std::string& harness_session);
    Result<> step(const RunId& id, std::string_view step, const std::string& text, bool failed = false);
    Result<> steps(const RunId& id, std::vector<RunEvent> steps) { return m_transcript.append(id, std::move(steps)); }

    // What was done since the last transaction goes with each of these two: waiting for the disk is most of what
    // preparing costs.
    Result<> sandbox_started(const RunId& id, const std::string& sandbox_id, const Manifest& manifest,
                             std::vector<RunEvent> steps);
    // Moves it to `running`, too, unless it is.
    Result<> harness_started(const RunId& id, int64_t command, State from, std::vector<RunEvent> steps);
    Result<> sandbox_ended(const RunId& id);
    Result<> set_manifest(const RunId& id, const Manifest& manifest);
    Result<> set_usage(const RunId& id, const harness::Usage& usage, std::optional<int64_t> cost_micro_usd);
    // How it ends, before its sandbox is taken down: a server that is killed meanwhile must not call it lost.
    Result<> ending(const RunId& id, State to, const std::string& reason);
    // Takes the wish: it is answered once.
    Result<std::string> take_wish(const RunId& id);

    // Everything said in the present sandbox, told or not, oldest first.
    Result<std::vector<Said>> said(const RunId& id) const;
    // Counts a turn when the message opened one.
    Result<> told(const RunId& id, int64_t seq, const std::string& sandbox_id, int64_t offset, bool opens_turn);
    // Nobody remembers what was said: all of it is to be told again.
    Result<> untell(const RunId& id);

private:
    sql::Database& m_database;
    const Clock& m_clock;
    Transcript& m_transcript;
};

} // namespace hone::run
