// The channel of one pod: one `exec` with a link over it, opened again whenever it is lost. Streams are read and
// written by any thread, which wait; one thread of its own moves the bytes.
//   start → (open | accept → (read | write | end)* → close)* → stop
#pragma once

#include "base/mutex.h"
#include "kubernetes/api/exec.h"
#include "kubernetes/link/link.h"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <thread>

namespace hone::kubernetes {

struct PodChannelOptions {
    ExecRequest exec; // the command that connects its input and output with the first process of the pod
    LinkIdentity identity;
    Duration ping_every = std::chrono::seconds(15); // as data: proxies and servers do not count WebSocket pings
    Duration first_wait = std::chrono::milliseconds(100);
    Duration longest_wait = std::chrono::seconds(5); // between two attempts; half of it is random
};

class PodChannel {
public:
    // The Api must outlive it.
    PodChannel(Api& api, PodChannelOptions options);
    ~PodChannel() { stop(); }
    PodChannel(const PodChannel&) = delete;
    PodChannel& operator=(const PodChannel&) = delete;

    void start();
    // Waits until the pod has responded for the first time; `busy` after `timeout`, with the last problem.
    Result<> await_connected(Duration timeout);
    // All waits end with `unavailable`.
    void stop();

    // Works also while the channel is lost; the stream is opened when it is back.
    Result<uint32_t> open(const StreamOpen& what);
    // A stream that the pod opened; `busy` after `timeout`.
    struct Accepted {
        uint32_t stream = 0;
        StreamOpen open;
    };
    Result<Accepted> accept(Duration timeout);
    // All bytes; waits while the pod does not read. `unavailable`: the stream was reset. `busy` after `timeout`.
    Result<> write(uint32_t stream, std::string_view bytes, Duration timeout);
    // What has come, at least one byte; empty at the end of the stream. Errors as above.
    Result<std::string> read(uint32_t stream, Duration timeout);
    void end(uint32_t stream);
    // This side is done with the stream: each one that was opened or accepted is closed. Before its end it is reset.
    void close(uint32_t stream);

    struct Status {
        bool is_connected = false;
        int64_t connections = 0; // so far
        int64_t restarts = 0;    // of the calls: the pod was started again, and has none of the earlier ones
        std::string problem;     // of the last lost one
    };
    Status status() const;

private:
    void run(const std::stop_token& stop);
    Result<> serve(const std::stop_token& stop);
    void pass_on_events() REQUIRES_LOCK(m_mutex);
    void wake() REQUIRES_LOCK(m_mutex);
    Error why_gone(uint32_t stream) const REQUIRES_LOCK(m_mutex);
    template <class Ready>
    Result<> wait_until(Duration timeout, const Ready& is_ready) REQUIRES_LOCK(m_mutex);

    Api& m_api;
    const PodChannelOptions m_options;
    net::Cancel m_cancel;
    mutable Mutex m_mutex;
    Condition m_changed;
    Link m_link GUARDED_BY(m_mutex);
    std::shared_ptr<Exec> m_exec GUARDED_BY(m_mutex);
    std::deque<Accepted> m_accepted GUARDED_BY(m_mutex);
    // Of streams that are open or have ended and were not closed by this side.
    struct Local {
        bool has_ended = false;
        std::string reset; // why; empty: not reset
    };
    std::map<uint32_t, Local> m_local GUARDED_BY(m_mutex);
    Status m_status GUARDED_BY(m_mutex);
    bool m_stopped GUARDED_BY(m_mutex) = false;
    std::jthread m_thread; // last: ends before what it uses
};

} // namespace hone::kubernetes
