// Live transcripts: one thread tells every client that follows a run what was added, as it is written down. A client
// that does not keep up is cut and comes back with the last number it saw. Thread-safe.
#pragma once

#include "base/mutex.h"
#include "net/http.h"
#include "run/transcript.h"

#include <list>
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
    int64_t count() const;

private:
    struct Follower {
        run::RunId run;
        int64_t seq = 0;
        std::shared_ptr<net::EventStream> events;
        Duration end{};
    };
    void watch(const std::stop_token& stop);
    // False when the client is gone.
    bool tell(Follower& follower);

    const run::Transcript& m_transcript;
    const Clock& m_clock;
    mutable Mutex m_mutex;
    std::list<std::shared_ptr<Follower>> m_followers GUARDED_BY(m_mutex);
    std::list<std::shared_ptr<Follower>> m_new GUARDED_BY(m_mutex);
    std::jthread m_thread GUARDED_BY(m_mutex); // started with the first follower
};

} // namespace hone::api
