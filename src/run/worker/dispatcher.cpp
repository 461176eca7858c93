#include "run/worker/dispatcher.h"

#include "base/log.h"

#include <set>

namespace hone::run {

namespace {

Result<> remove_orphans_of(sandbox::Provider& provider, const std::set<std::string>& known) {
    for (const sandbox::SandboxId& id : TRY(provider.list())) {
        if (known.count(id.text()) != 0) continue;
        auto sandbox = provider.attach(id);
        if (!sandbox.ok() && sandbox.error().code == Code::not_found) (void)provider.destroy(id); // it has ended
        if (!sandbox.ok()) continue;
        const auto view = sandbox.value()->view();
        if (!view.ok() || view.value().labels.count("run") == 0) continue;
        log(Level::info, "removing a sandbox of no run", {{"sandbox", id.text()}});
        TRY(provider.destroy(id));
    }
    return {};
}

// Every pod of this installation is one of this server, which has only just started: nothing else makes pods now.
Result<> remove_orphan_pods(sandbox::Provider& provider, const std::set<std::string>& known) {
    for (const sandbox::SandboxId& id : TRY(provider.list())) {
        if (known.count(id.text()) != 0) continue;
        log(Level::info, "removing a pod of no run", {{"sandbox", id.text()}});
        TRY(provider.destroy(id));
    }
    return {};
}

// A server that was killed between starting a sandbox and writing that to the database leaves one without a run.
Result<> remove_orphans(WorkerServices& services, const std::vector<RunId>& unfinished) {
    std::set<std::string> known;
    for (const RunId& run : unfinished)
        if (const auto record = services.store.read(run); record.ok() && record.value().sandbox_id)
            known.insert(*record.value().sandbox_id);
    TRY(remove_orphans_of(services.provider, known));
    return services.pods != nullptr ? remove_orphan_pods(*services.pods, known) : Result<>();
}

// Their sandboxes are on those servers: none of them continues here.
Result<std::vector<RunId>> take_over(WorkerServices& services, const std::string& server,
                                     const std::vector<std::string>& others) {
    for (const RunId& run : TRY(services.store.take_over(server, others))) {
        log(Level::warning, "a run of a lost server was taken over", {{"run", run.text()}});
        TRY(services.access.keys.end_for_run(run.text()));
    }
    return std::vector<RunId>();
}

DispatcherParts parts_of(WorkerServices& services) {
    return {services.store, services.clock,
            [&services](const RunId& run) { return std::make_unique<Worker>(services, run); },
            [&services](const std::vector<RunId>& unfinished) { return remove_orphans(services, unfinished); },
            [&services](const std::string& server, const std::vector<std::string>& others) {
                return take_over(services, server, others);
            }};
}

} // namespace

Dispatcher::Dispatcher(DispatcherOptions options, WorkerServices& services)
    : Dispatcher(std::move(options), parts_of(services)) {}

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
    std::vector<RunId> unfinished;
    for (const RunId& run : TRY(m_parts.store.unfinished(m_options.server, m_options.places.backend)))
        if (TRY(m_parts.store.resume(run, m_options.server))) unfinished.push_back(run);
    if (const auto removed = m_parts.remove_orphans(unfinished); !removed.ok())
        log(Level::warning, "what is left of no run could not be removed", {{"why", removed.error().message}});
    for (const RunId& run : unfinished) start_worker(run);
    m_duty.start();
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
    std::optional<LiveWorker> earlier; // a follow-up may come just before the worker of the turn before has finished
    {
        const Lock lock(m_mutex);
        if (auto node = m_workers.extract(run)) earlier = std::move(node.mapped());
    }
    if (earlier) earlier->thread.join();
    const Lock lock(m_mutex);
    LiveWorker& live = m_workers[run];
    live.worker = m_parts.make_worker(run);
    live.epoch = m_parts.store.epoch_of(run);
    live.thread = std::jthread([this, worker = live.worker.get()] {
        worker->run();
        m_duty.wake(); // its place is free
    });
}

void Dispatcher::join_finished() {
    std::vector<std::pair<RunId, LiveWorker>> finished;
    {
        const Lock lock(m_mutex);
        for (auto live = m_workers.begin(); live != m_workers.end();) {
            if (!live->second.worker->is_finished()) {
                ++live;
                continue;
            }
            finished.emplace_back(live->first, std::move(live->second));
            live = m_workers.erase(live);
        }
    }
    for (auto& [run, live] : finished) {
        live.thread.join();
        const auto is_left = m_parts.store.is_left(run, live.epoch);
        m_may_have_left = m_may_have_left || !is_left.ok() || is_left.value();
        m_parts.store.release(run, live.epoch);
    }
}

Result<> Dispatcher::adopt_left() {
    const Duration now = m_parts.clock.steady();
    if (!m_may_have_left || m_is_draining || now < m_adopt_next) return {};
    m_adopt_next = now + m_options.poll; // a worker that cannot work does not begin all the time
    for (const RunId& run : TRY(m_parts.store.unfinished(m_options.server, m_options.places.backend))) {
        {
            const Lock lock(m_mutex);
            if (m_workers.contains(run)) continue;
        }
        if (!TRY(m_parts.store.resume(run, m_options.server))) continue;
        log(Level::warning, "a run without a worker is continued", {{"run", run.text()}});
        start_worker(run);
    }
    m_may_have_left = false;
    return {};
}

Result<> Dispatcher::claim_runs() {
    std::vector<std::string> others;
    if (m_options.others) {
        others = TRY(m_options.others());
        for (const RunId& run : TRY(m_parts.take_over(m_options.server, others))) start_worker(run);
    }
    while (m_options.claims && !m_is_draining) {
        const auto claim = [&](int64_t lanes) {
            Places places = m_options.places;
            places.all -= lanes;
            return m_parts.store.claim(m_options.server, places, others);
        };
        const auto claimed = TRY(m_options.shared != nullptr ? m_options.shared->claim(claim) : claim(0));
        if (!claimed) break;
        start_worker(*claimed);
    }
    return {};
}

Result<> Dispatcher::step() {
    join_finished();
    if (const auto done = adopt_left(); !done.ok())
        log(Level::error, "runs without a worker cannot be read", {{"why", done.error().message}});
    if (const auto done = claim_runs(); !done.ok()) {
        m_may_have_left = true; // one may have been claimed, and the response was lost
        log(Level::error, "queued runs cannot be read", {{"why", done.error().message}});
    }
    const int64_t lanes = m_options.shared != nullptr ? m_options.shared->lanes() : 0;
    if (const auto done = m_parts.store.explain_waiting(m_options.places, lanes, m_options.server); !done.ok())
        log(Level::error, "queued runs cannot be marked as waiting", {{"why", done.error().message}});
    const Lock lock(m_mutex);
    m_queue_read_at = m_parts.clock.now();
    return {};
}

} // namespace hone::run
