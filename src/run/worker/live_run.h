// One run while a worker has it: what its preparation, conversation and ending share, and the signals that reach its
// worker from other threads. The fields belong to the worker's thread; functions that any thread may call are marked.
#pragma once

#include "base/mutex.h"
#include "harness/catalog.h"
#include "run/worker/worker_services.h"
#include "sql/away.h"

#include <atomic>
#include <functional>

namespace hone::run {

class LiveRun {
public:
    LiveRun(WorkerServices& given, RunId run) : services(given), id(std::move(run)) {}
    LiveRun(const LiveRun&) = delete;
    LiveRun& operator=(const LiveRun&) = delete;

    // Reads the run from the database; before anything else.
    Result<> open();

    // --- signals: any thread ---
    // A command or a follow-up is in the database.
    void wake();
    // The server stops: the sandbox continues, and the worker returns soon.
    void release();
    bool is_released() const { return m_released; }
    // The harness wrote something.
    void notify_output();
    void stop_for_budget(const std::string& message);

    // --- the worker's thread ---
    // A step of the database that must not be lost: repeated while the database is away, until the server stops.
    template <class Step>
    auto persist(const Step& step) {
        for (bool is_first = true;; is_first = false) {
            auto done = step();
            if (done.ok() || !sql::is_away(done.error()) || !await_database(is_first)) return done;
        }
    }

    // The same, for a step that must not be done twice: `is_done` reads whether it was, when the connection was lost
    // during its commit.
    template <class Step, class IsDone>
    Result<> persist_once(const Step& step, const IsDone& is_done) {
        Result<> done = persist(step);
        if (done.ok() || !sql::is_outcome_unknown(done.error())) return done;
        const bool was_done = TRY(persist(is_done));
        return was_done ? Result<>() : persist(step);
    }

    // Until a signal, but no longer than `longest`. True: `wake` was called since the last time.
    bool wait(Duration longest);
    // Set when the budget stopped the run.
    std::string budget_message() const;
    // A person cancelled the run, or it was deleted.
    std::optional<RunEnd> cancelled();

    // A step that is done: written with the next transaction, or by `write_steps` before something takes long.
    void note(std::string_view step, std::string text, bool failed = false);
    Result<> write_steps();
    std::vector<RunEvent> take_steps() { return std::exchange(m_steps, {}); }
    // Runs one step of the preparation, unless the run is cancelled or released. A failure is noted and ends the run.
    std::optional<RunEnd> run_step(std::string_view name, const std::function<Result<>()>& step);

    // A legal move from the present state, with its event.
    // `reason` is shown with the state.
    Result<> move(State to, const std::string& text, const std::string& reason = "");
    // The harness runs as this command of the sandbox: the run moves to `running`, unless it is.
    Result<> harness_started(int64_t command);
    State state() const { return m_state; }
    // Writes what the gateway counted.
    void count_usage();
    // The broker and the gateway forget the run.
    void disconnect();

    // Its folder on the host: what the sandbox sees below /hone, and what is mounted elsewhere.
    std::string folder() const { return services.data_directory + "/runs/" + id.text(); }
    // Branches that it may push begin with this.
    std::string branch_prefix() const { return "hone/" + id.text() + "/"; }
    const Settings& settings() const { return record.manifest.settings; }
    // Where its sandbox is. A run of a cluster that is not connected any more has none on this machine either.
    sandbox::Provider& provider() const {
        const bool is_pod = *settings().provider == RunProvider::kubernetes && services.pods != nullptr;
        return is_pod ? *services.pods : services.provider;
    }

    WorkerServices& services;
    const RunId id;
    RunRecord record;
    std::optional<RunSpans> spans;
    skill::Grant grant;
    const harness::Harness* harness = nullptr;
    std::unique_ptr<harness::Driver> driver;
    harness::Launch launch;
    std::map<std::string, std::string> environment; // of every command in the sandbox
    std::unique_ptr<sandbox::Sandbox> sandbox;
    std::shared_ptr<broker::AttachedRun> attached; // to the broker
    bool is_at_gateway = false;
    std::optional<std::string> no_room; // why its provider cannot take it now: it is queued again

private:
    // About a second later; false: the server stops.
    bool await_database(bool is_first);

    State m_state = State::preparing; // as `move` and `harness_started` wrote it
    std::vector<RunEvent> m_steps;    // not written yet
    mutable Mutex m_mutex;
    Condition m_changed;
    bool m_woken GUARDED_BY(m_mutex) = false;
    bool m_has_output GUARDED_BY(m_mutex) = false;
    std::string m_budget_message GUARDED_BY(m_mutex);
    std::atomic<bool> m_released{false};
};

} // namespace hone::run
