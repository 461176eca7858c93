#include "run/worker/dispatcher.h"

#include "base/log.h"

#include <set>

namespace hone::run {

Dispatcher::~Dispatcher() {
    m_duty.stop();
    std::map<RunId, LiveWorker> workers;
    {
        const Lock lock(m_mutex);
        workers.swap(m_workers);
    }
    for (auto& [run, live] : workers) live.worker->release();
    for (auto& [run, live] : workers) live.thread.join();
}

Result<> Dispatcher::start() {
    const auto unfinished = TRY(m_services.store.unfinished(m_options.server));
    if (const auto removed = remove_orphans(unfinished); !removed.ok())
        log(Level::warning, "sandboxes of no run could not be removed", {{"why", removed.error().message}});
    for (const RunId& run : unfinished) start_worker(run);
    m_duty.start();
    return {};
}

// A server that was killed between starting a sandbox and writing that to the database leaves one without a run.
Result<> Dispatcher::remove_orphans(const std::vector<RunId>& unfinished) {
    std::set<std::string> known;
    for (const RunId& run : unfinished)
        if (const auto record = m_services.store.read(run); record.ok() && record.value().sandbox_id)
            known.insert(*record.value().sandbox_id);
    for (const sandbox::SandboxId& id : TRY(m_services.provider.list())) {
        if (known.count(id.text()) != 0) continue;
        auto sandbox = m_services.provider.attach(id);
        if (!sandbox.ok()) continue;
        const auto view = sandbox.value()->view();
        if (!view.ok() || view.value().labels.count("run") == 0) continue;
        log(Level::info, "removing a sandbox of no run", {{"sandbox", id.text()}});
        TRY(m_services.provider.destroy(id));
    }
    return {};
}

void Dispatcher::run_changed(const RunId& run) {
    {
        const Lock lock(m_mutex);
        if (const auto live = m_workers.find(run); live != m_workers.end()) live->second.worker->wake();
    }
    m_duty.wake();
}

Dispatcher::Count Dispatcher::count() const {
    const Lock lock(m_mutex);
    return {static_cast<int64_t>(m_workers.size()), m_queue_read_at};
}

void Dispatcher::start_worker(const RunId& run) {
    const Lock lock(m_mutex);
    LiveWorker& live = m_workers[run];
    live.worker = std::make_unique<Worker>(m_services, run);
    live.thread = std::jthread([this, worker = live.worker.get()] {
        worker->run();
        m_duty.wake(); // its place is free
    });
}

void Dispatcher::join_finished() {
    std::vector<LiveWorker> finished;
    {
        const Lock lock(m_mutex);
        for (auto live = m_workers.begin(); live != m_workers.end();) {
            if (!live->second.worker->is_finished()) {
                ++live;
                continue;
            }
            finished.push_back(std::move(live->second));
            live = m_workers.erase(live);
        }
    }
    for (LiveWorker& live : finished) live.thread.join();
}

Result<> Dispatcher::step() {
    join_finished();
    for (;;) {
        const auto claim = [this](int64_t lanes) {
            return m_services.store.claim(m_options.server, {m_options.places.all - lanes, m_options.places.per_space});
        };
        const auto claimed = m_options.shared != nullptr ? m_options.shared->claim(claim) : claim(0);
        if (!claimed.ok()) log(Level::error, "queued runs cannot be read", {{"why", claimed.error().message}});
        if (!claimed.ok() || !claimed.value()) break;
        start_worker(*claimed.value());
    }
    const int64_t lanes = m_options.shared != nullptr ? m_options.shared->lanes() : 0;
    if (const auto done = m_services.store.explain_waiting(m_options.places, lanes); !done.ok())
        log(Level::error, "queued runs cannot be marked as waiting", {{"why", done.error().message}});
    const Lock lock(m_mutex);
    m_queue_read_at = m_services.clock.now();
    return {};
}

} // namespace hone::run
