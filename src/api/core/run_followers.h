// Live transcripts: one thread sends new events of a run to every client that follows it. One read of the database
// serves all clients of a run. A client that does not keep up is disconnected and resumes from the last number it has.
// Thread-safe.
#pragma once

#include "base/mutex.h"
#include "net/http/http.h"
#include "run/transcript.h"

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <thread>

namespace hone::api {

class RunFollowers {
public:
    RunFollowers(const run::Transcript& transcript, const Clock& clock) : m_transcript(transcript), m_clock(clock) {}
    ~RunFollowers();

    bool has_room() const;
    // Sends everything after `seq`, then what comes.
    void follow(const run::RunId& run, int64_t seq, std::shared_ptr<net::EventStream> events);
    int64_t count() const { return m_count; }

private:
    struct Follower {
        int64_t seq = 0; // sent up to here
        std::shared_ptr<net::EventStream> events;
        Duration end{};
    };
    using Followers = std::list<Follower>;

    void watch(const std::stop_token& stop);
    // Sends each the events that it does not have; removes those that are gone.
    void send(const run::RunId& run, Followers& followers);
    // One read for all that have room. False when there may be more.
    bool send_some(const run::RunId& run, Followers& followers);

    const run::Transcript& m_transcript;
    const Clock& m_clock;
    std::atomic<int64_t> m_count{0};
    mutable Mutex m_mutex;
    std::list<std::pair<run::RunId, Follower>> m_new GUARDED_BY(m_mutex);
    std::jthread m_thread GUARDED_BY(m_mutex);   // started with the first follower
    std::map<run::RunId, Followers> m_followers; // the thread's own
};

} // namespace hone::api
