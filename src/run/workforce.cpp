#include "run/workforce.h"

#include "base/log.h"

#include <set>

namespace hone::run {

Workforce::~Workforce() {
    m_thread.request_stop();
    {
        const Lock lock(m_mutex); // so that the thread is either before its check or waits
        m_news.notify_all();
    }
    if (m_thread.joinable()) m_thread.join();
    std::map<RunId, Hand> hands;
    {
        const Lock lock(m_mutex);
        hands.swap(m_hands);
    }
    for (auto& [run, hand] : hands) hand.worker->release();
    for (auto& [run, hand] : hands) hand.thread.join();
}

Result<> Workforce::start() {
    const auto in_hand = TRY(m_means.book.in_hand(m_options.server));
    if (const auto removed = remove_orphans(in_hand); !removed.ok())
        log(Level::warning, "sandboxes of no run could not be removed", {{"why", removed.error().message}});
    for (const RunId& run : in_hand) employ(run);
    m_thread = std::jthread([this](const std::stop_token& stop) { watch(stop); });
    return {};
}

// A server that was killed between starting a sandbox and writing that down leaves one that nobody knows.
Result<> Workforce::remove_orphans(const std::vector<RunId>& in_hand) {
    std::set<std::string> known;
    for (const RunId& run : in_hand)
        if (const auto work = m_means.book.read(run); work.ok() && work.value().sandbox_id)
            known.insert(*work.value().sandbox_id);
    for (const sandbox::SandboxId& id : TRY(m_means.provider.list())) {
        if (known.count(id.text()) != 0) continue;
        auto sandbox = m_means.provider.attach(id);
        if (!sandbox.ok()) continue;
        const auto view = sandbox.value()->view();
        if (!view.ok() || view.value().labels.count("run") == 0) continue;
        log(Level::info, "removing a sandbox of no run", {{"sandbox", id.text()}});
        TRY(m_means.provider.destroy(id));
    }
    return {};
}

void Workforce::look_at(const RunId& run) {
    {
        const Lock lock(m_mutex);
        m_nudged = true;
        if (const auto hand = m_hands.find(run); hand != m_hands.end()) hand->second.worker->nudge();
    }
    m_news.notify_all();
}

Workforce::Count Workforce::count() const {
    const Lock lock(m_mutex);
    return {static_cast<int64_t>(m_hands.size()), m_last_look};
}

void Workforce::employ(const RunId& run) {
    const Lock lock(m_mutex);
    Hand& hand = m_hands[run];
    hand.worker = std::make_unique<Worker>(m_means, run);
    hand.thread = std::jthread([this, worker = hand.worker.get()] {
        worker->run();
        {
            const Lock again(m_mutex);
            m_nudged = true; // its place is free
        }
        m_news.notify_all();
    });
}

void Workforce::dismiss_finished() {
    std::vector<Hand> finished;
    {
        const Lock lock(m_mutex);
        for (auto hand = m_hands.begin(); hand != m_hands.end();) {
            if (!hand->second.worker->finished()) {
                ++hand;
                continue;
            }
            finished.push_back(std::move(hand->second));
            hand = m_hands.erase(hand);
        }
    }
    for (Hand& hand : finished) hand.thread.join();
}

void Workforce::watch(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        dismiss_finished();
        for (;;) {
            const auto claimed = m_means.book.claim(m_options.server, m_options.places);
            if (!claimed.ok()) log(Level::error, "queued runs cannot be read", {{"why", claimed.error().message}});
            if (!claimed.ok() || !claimed.value()) break;
            employ(*claimed.value());
        }
        if (const auto told = m_means.book.tell_waiting(m_options.places); !told.ok())
            log(Level::error, "queued runs cannot be told", {{"why", told.error().message}});
        const Lock lock(m_mutex);
        m_last_look = m_means.clock.now();
        if (!m_nudged && !stop.stop_requested()) m_news.wait_for(m_mutex, m_options.poll);
        m_nudged = false;
    }
}

} // namespace hone::run
