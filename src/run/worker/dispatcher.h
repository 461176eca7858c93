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
    Places places;
    SharedPlaces* shared = nullptr;          // with lanes of experiments; null: all places are of runs
    Duration poll = std::chrono::seconds(5); // other servers may queue runs too
};

class Dispatcher final : public RunListener {
public:
    Dispatcher(DispatcherOptions options, WorkerServices& services)
        : m_options(std::move(options)),
          m_services(services),
          m_duty({"run queue", m_options.poll}, [this] { return step(); }) {}
    // The sandboxes of live runs continue without this server.
    ~Dispatcher() override;

    // Resumes unfinished runs of this server, removes sandboxes without a run, then claims runs until the end.
    Result<> start();
    // Joins the threads of finished workers and claims queued runs. What tests call.
    Result<> step();
    void run_changed(const RunId& run) override;
    void wake() { m_duty.wake(); }

    struct Count {
        int64_t live = 0;
        Time queue_read_at{};
    };
    Count count() const;

private:
    struct LiveWorker {
        std::unique_ptr<Worker> worker;
        std::jthread thread;
    };

    void start_worker(const RunId& run);
    void join_finished();
    Result<> remove_orphans(const std::vector<RunId>& unfinished);

    const DispatcherOptions m_options;
    WorkerServices& m_services;
    mutable Mutex m_mutex;
    Time m_queue_read_at GUARDED_BY(m_mutex){};
    std::map<RunId, LiveWorker> m_workers GUARDED_BY(m_mutex);
    Duty m_duty; // last: its thread uses what stands above
};

} // namespace hone::run
