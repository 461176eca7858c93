#include "api/run_followers.h"

#include "base/log.h"

namespace hone::api {

namespace {

constexpr size_t most_followers = 2000;
constexpr int64_t events_at_once = 200;
// Beyond this the client reads what it has first.
constexpr size_t most_pending_bytes = 512 << 10;
// Then it comes back, and its rights are looked at again.
constexpr Duration longest_life = std::chrono::minutes(10);
constexpr Duration poll = std::chrono::seconds(1);

} // namespace

RunFollowers::~RunFollowers() {
    std::jthread thread;
    {
        const Lock lock(m_mutex);
        thread.swap(m_thread);
    }
    thread.request_stop();
    if (thread.joinable()) thread.join();
}

bool RunFollowers::has_room() const {
    const Lock lock(m_mutex);
    return m_followers.size() + m_new.size() < most_followers;
}

int64_t RunFollowers::count() const {
    const Lock lock(m_mutex);
    return static_cast<int64_t>(m_followers.size() + m_new.size());
}

void RunFollowers::follow(const run::RunId& run, int64_t seq, std::shared_ptr<net::EventStream> events) {
    auto follower = std::make_shared<Follower>(Follower{run, seq, std::move(events), m_clock.steady() + longest_life});
    if (!tell(*follower)) return;
    const Lock lock(m_mutex);
    m_new.push_back(std::move(follower));
    if (!m_thread.joinable()) m_thread = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

bool RunFollowers::tell(Follower& follower) {
    while (follower.events->is_open() && follower.events->pending() < most_pending_bytes) {
        const auto events = m_transcript.after(follower.run, follower.seq, events_at_once);
        if (!events.ok()) {
            log(Level::warning, "transcript cannot be read", {{"why", events.error().message}});
            return false;
        }
        for (const run::RunEvent& event : events.value()) {
            if (!follower.events->send("event", std::to_string(event.seq), json::write(event))) return false;
            follower.seq = event.seq;
        }
        if (static_cast<int64_t>(events.value().size()) < events_at_once) break;
    }
    if (m_clock.steady() > follower.end) {
        follower.events->close();
        return false;
    }
    return follower.events->is_open();
}

void RunFollowers::watch(const std::stop_token& stop) {
    uint64_t seen = 0;
    while (!stop.stop_requested()) {
        std::list<std::shared_ptr<Follower>> all;
        {
            const Lock lock(m_mutex);
            m_followers.splice(m_followers.end(), m_new);
            all = m_followers;
        }
        for (const auto& follower : all) {
            if (tell(*follower)) continue;
            const Lock lock(m_mutex);
            m_followers.remove(follower);
        }
        seen = m_transcript.wait(seen, poll, stop);
    }
}

} // namespace hone::api
