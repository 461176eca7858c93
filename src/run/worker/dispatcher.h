// Gives queued runs to workers: claims a run while there is a place for it, starts a worker for it on a thread of its
// own, and resumes the runs of an earlier server process. Thread-safe.
#pragma once

#include "base/duty.h"
#include "base/shared_places.h"
#include "run/runs.h"
#include "run/worker/worker.h"

namespace hone::run {

struct DispatcherOptions {
    std::string server = "local"; // name of this server among those that share the database
    // The other servers that report, or have stopped only recently: their runs and workspaces are theirs.
    std::function<Result<std::vector<std::string>>()> others = {};
    // False: runs of this server are continued, and no other is claimed.
    bool claims = true;
    Places places;
    SharedPlaces* shared = nullptr;          // with lanes of experiments; null: all places are of runs
    Duration poll = std::chrono::seconds(5); // other servers may queue runs too
};

// What differs between backends.
struct DispatcherParts {
    RunStore& store;
    const Clock& clock;
    std::function<std::unique_ptr<RunWorker>(const RunId&)> make_worker;
    // Before the first step: removes what earlier processes left of runs that are not among these.
    std::function<Result<>(const std::vector<RunId>& unfinished)> remove_orphans;
    // Takes the runs of lost servers, which are all but this one and `others`. Returns those that continue here.
    std::function<Result<std::vector<RunId>>(const std::string& server, const std::vector<std::string>& others)>
        take_over;
};

class Dispatcher final : public RunListener {
public:
    // Runs with sandboxes.
    Dispatcher(DispatcherOptions options, WorkerServices& services);
    // Runs of another backend.
    Dispatcher(DispatcherOptions options, DispatcherParts parts)
        : m_options(std::move(options)),
          m_parts(std::move(parts)),
          m_duty({"run queue", m_options.poll}, [this] { return step(); }) {}
    // The sandboxes of live runs continue without this server.
    ~Dispatcher() override;

    // Resumes unfinished runs of this server, removes sandboxes without a run, then claims runs until the end.
    Result<> start();
    // Joins the threads of finished workers and claims queued runs. What tests call.
    Result<> step();
    void run_changed(const RunId& run) override;
    void wake() { m_duty.wake(); }
    // Claims no more runs; those that execute continue.
    void stop_claiming() { m_is_draining = true; }

    struct Count {
        int64_t live = 0;
        Time queue_read_at{};
    };
    Count count() const;

private:
    struct LiveWorker {
        std::unique_ptr<RunWorker> worker;
        int64_t epoch = 0; // with which it holds its run
        std::jthread thread;
    };

    void start_worker(const RunId& run);
    void join_finished();
    Result<> claim_runs();
    // Workers for runs of this server that have none: the database was away when one was claimed, or ended.
    Result<> adopt_left();

    const DispatcherOptions m_options;
    const DispatcherParts m_parts;
    std::atomic<bool> m_is_draining{false};
    bool m_may_have_left = false; // runs without a worker; the duty's thread
    Duration m_adopt_next{};      // on the steady clock; the duty's thread
    mutable Mutex m_mutex;
    Time m_queue_read_at GUARDED_BY(m_mutex){};
    std::map<RunId, LiveWorker> m_workers GUARDED_BY(m_mutex);
    Duty m_duty; // last: its thread uses what stands above
};

} // namespace hone::run
