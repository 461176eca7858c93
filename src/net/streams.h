// What connects a lane's thread and the edge while a body is transferred: BodyPipe for request bodies, ResponseBuffer
// for response bodies and events. Both are bounded, both are shared by exactly two sides that may die in either order,
// hence shared_ptr. The edge never blocks here; a reading handler may.
#pragma once

#include "base/mutex.h"
#include "net/http/http.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace hone::net {

// Called, from any thread, when the edge should check the connection again. Must not be called after close().
using Notify = std::function<void()>;

// Edge → handler.
class BodyPipe {
public:
    BodyPipe(size_t capacity, Notify notify) : m_capacity(capacity), m_notify(std::move(notify)) {}

    // Edge: true when the pipe is full; then push no more until notified.
    bool push(std::string&& piece);
    bool is_full() const;
    void finish();
    void fail(Error error);

    // Handler: see BodyReader.
    Result<std::string> read();
    void abandon(); // there is no reader any more

private:
    const size_t m_capacity;
    const Notify m_notify;
    mutable Mutex m_mutex;
    Condition m_changed;
    std::string m_pending GUARDED_BY(m_mutex);
    bool m_finished GUARDED_BY(m_mutex) = false;
    bool m_abandoned GUARDED_BY(m_mutex) = false;
    bool m_full GUARDED_BY(m_mutex) = false;
    std::optional<Error> m_error GUARDED_BY(m_mutex);
};

std::unique_ptr<BodyReader> make_reader(std::shared_ptr<BodyPipe> pipe);

// Handler → edge.
class ResponseBuffer {
public:
    ResponseBuffer(size_t capacity, Notify notify) : m_capacity(capacity), m_notify(std::move(notify)) {}

    // Producer. push: false when the connection is over. add_event: also false, and the stream is cut, when the
    // event does not fit. pause: true when enough is waiting; the edge requests more later.
    // finish: the body is complete; fail: it is not, and the client must see that. Only the first of the two counts.
    bool push(std::string_view piece);
    bool add_event(std::string_view event);
    bool pause();
    void finish();
    void fail();
    bool is_open() const;
    size_t pending() const; // bytes
    bool has_overflowed() const;
    void on_close(std::function<void()> callback);

    // Edge.
    enum class End { none, complete, failed };
    struct Taken {
        std::string bytes;
        End end = End::none;
        bool overflowed = false;
        bool wants_more = false; // the producer paused; submit its next step
    };
    Taken take();
    // The connection is closed: producers get an error, notifications stop. True when the producer had paused
    // and so must be woken.
    bool close();

private:
    bool is_over() const REQUIRES_LOCK(m_mutex) { return m_closed || m_end != End::none; }
    void notify_once() REQUIRES_LOCK(m_mutex);

    const size_t m_capacity;
    mutable Mutex m_mutex;
    Notify m_notify GUARDED_BY(m_mutex);
    std::string m_pending GUARDED_BY(m_mutex);
    std::function<void()> m_on_close GUARDED_BY(m_mutex);
    End m_end GUARDED_BY(m_mutex) = End::none;
    bool m_overflowed GUARDED_BY(m_mutex) = false;
    bool m_closed GUARDED_BY(m_mutex) = false;
    bool m_paused GUARDED_BY(m_mutex) = false;
    bool m_notified GUARDED_BY(m_mutex) = false;
};

// The handle that a handler gets; dropping the last one without close() cuts the stream.
std::shared_ptr<EventStream> make_event_stream(std::shared_ptr<ResponseBuffer> response_buffer);

} // namespace hone::net
