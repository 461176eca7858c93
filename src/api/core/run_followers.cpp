#include "api/core/run_followers.h"

#include "base/log.h"

#include <algorithm>

namespace hone::api {

namespace {

constexpr int64_t most_followers = 2000;
constexpr int64_t events_at_once = 200;
// A client with more unread bytes gets nothing new.
constexpr size_t most_pending_event_bytes = 512 << 10;
// Then the client reconnects, and its rights are checked again.
constexpr Duration longest_follow = std::chrono::minutes(10);
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
    return m_count < most_followers;
}

void RunFollowers::follow(const run::RunId& run, int64_t seq, std::shared_ptr<net::EventStream> events) {
    m_count += 1;
    // The transcript so far, on the caller's thread: a long one must not delay other clients.
    Followers alone;
    alone.push_back({seq, std::move(events), m_clock.steady() + longest_follow});
    send(run, alone);
    if (alone.empty()) return;
    const Lock lock(m_mutex);
    m_new.emplace_back(run, std::move(alone.front()));
    if (!m_thread.joinable()) m_thread = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

bool RunFollowers::send_some(const run::RunId& run, Followers& followers) {
    const auto has_room = [](const Follower& one) { return one.events->pending() < most_pending_event_bytes; };
    std::optional<int64_t> from;
    for (const Follower& one : followers)
        if (has_room(one)) from = std::min(one.seq, from.value_or(one.seq));
    if (!from) return true;
    const auto events = m_transcript.after(run, *from, events_at_once);
    if (!events.ok()) {
        log(Level::warning, "transcript could not be read", {{"why", events.error().message}});
        for (const Follower& one : followers) one.events->cut();
        return true;
    }
    int64_t before = *from;
    for (const run::RunEvent& event : events.value()) {
        const std::string id = std::to_string(event.seq), body = json::write(event);
        for (Follower& one : followers) {
            // A client that had no room for one event gets no later one before it.
            if (one.seq < before || one.seq >= event.seq || !has_room(one)) continue;
            if (one.events->send("event", id, body))
                one.seq = event.seq;
            else
                one.events->close();
        }
        before = event.seq;
    }
    return static_cast<int64_t>(events.value().size()) < events_at_once;
}

void RunFollowers::send(const run::RunId& run, Followers& followers) {
    const Duration now = m_clock.steady();
    const auto is_over = [&](Follower& one) {
        if (one.events->is_open() && now > one.end) one.events->close();
        return !one.events->is_open();
    };
    const auto take_out = [&] { m_count -= static_cast<int64_t>(followers.remove_if(is_over)); };
    take_out();
    while (!followers.empty() && !send_some(run, followers)) take_out();
}

void RunFollowers::watch(const std::stop_token& stop) {
    run::TranscriptChanges news{.seen = 0, .any_run = true, .runs = {}};
    Duration all_sent = m_clock.steady();
    while (!stop.stop_requested()) {
        {
            const Lock lock(m_mutex);
            for (auto& [run, follower] : m_new) {
                m_followers[run].push_back(std::move(follower));
                news.runs.insert(run); // something may have been added since its first events were sent
            }
            m_new.clear();
        }
        // Runs of other servers are not announced here: they are read in each interval, however much this server's
        // write.
        const Duration now = m_clock.steady();
        if (now - all_sent >= poll) news.any_run = true;
        if (news.any_run) all_sent = now;
        for (auto& [run, followers] : m_followers)
            if (news.any_run || news.runs.contains(run)) send(run, followers);
        std::erase_if(m_followers, [](const auto& each) { return each.second.empty(); });
        news = m_transcript.wait(news.seen, poll, stop);
    }
}

} // namespace hone::api
