// Live transcripts: one thread tells every client that follows a run what was added, as it is written down. All clients
// of a run are told from one reading. A client that does not keep up is cut and comes back with the last number it saw.
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
        int64_t seq = 0; // told up to here
        std::shared_ptr<net::EventStream> events;
        Duration end{};
    };
    using Followers = std::list<Follower>;

    void watch(const std::stop_token& stop);
    // Tells all of them what they do not know yet; those that are gone are taken out.
    void tell(const run::RunId& run, Followers& followers);
    // One reading for all that have room. False when there may be more.
    bool tell_some(const run::RunId& run, Followers& followers);

    const run::Transcript& m_transcript;
    const Clock& m_clock;
    std::atomic<int64_t> m_count{0};
    mutable Mutex m_mutex;
    std::list<std::pair<run::RunId, Follower>> m_new GUARDED_BY(m_mutex);
    std::jthread m_thread GUARDED_BY(m_mutex);   // started with the first follower
    std::map<run::RunId, Followers> m_followers; // the thread's own
};

} // namespace hone::api
