#include "net/streams.h"

#include "net/http/sse.h"

namespace hone::net {

bool BodyPipe::push(std::string&& piece) {
    bool full = false;
    {
        const Lock lock(m_mutex);
        if (!m_abandoned) m_pending.empty() ? m_pending.swap(piece) : void(m_pending += piece);
        full = m_full = m_pending.size() >= m_capacity;
    }
    m_changed.notify_one();
    return full;
}

bool BodyPipe::is_full() const {
    const Lock lock(m_mutex);
    return m_full;
}

void BodyPipe::finish() {
    {
        const Lock lock(m_mutex);
        m_finished = true;
    }
    m_changed.notify_one();
}

void BodyPipe::fail(Error error) {
    {
        const Lock lock(m_mutex);
        if (!m_finished && !m_error) m_error = std::move(error);
    }
    m_changed.notify_one();
}

Result<std::string> BodyPipe::read() {
    std::string piece;
    bool was_full = false;
    {
        const Lock lock(m_mutex);
        while (m_pending.empty() && !m_finished && !m_error) m_changed.wait(m_mutex);
        if (m_pending.empty() && m_error) return *m_error;
        piece.swap(m_pending);
        was_full = std::exchange(m_full, false) && !m_error;
    }
    if (was_full) m_notify();
    return piece;
}

void BodyPipe::abandon() {
    const Lock lock(m_mutex);
    m_abandoned = true;
    m_pending = {};
}

namespace {

class PipeReader final : public BodyReader {
public:
    explicit PipeReader(std::shared_ptr<BodyPipe> pipe) : m_pipe(std::move(pipe)) {}
    ~PipeReader() override { m_pipe->abandon(); }
    Result<std::string> read() override { return m_pipe->read(); }

private:
    std::shared_ptr<BodyPipe> m_pipe;
};

class EventHandle final : public EventStream {
public:
    explicit EventHandle(std::shared_ptr<ResponseBuffer> response_buffer)
        : m_response_buffer(std::move(response_buffer)) {}
    ~EventHandle() override { m_response_buffer->fail(); }
    bool send(std::string_view event, std::string_view id, std::string_view data) override {
        return m_response_buffer->add_event(format_event(event, id, data));
    }
    bool is_open() const override { return m_response_buffer->is_open(); }
    size_t pending() const override { return m_response_buffer->pending(); }
    void on_close(std::function<void()> callback) override { m_response_buffer->on_close(std::move(callback)); }
    void close() override { m_response_buffer->finish(); }
    void cut() override { m_response_buffer->fail(); }

private:
    std::shared_ptr<ResponseBuffer> m_response_buffer;
};

} // namespace

std::unique_ptr<BodyReader> make_reader(std::shared_ptr<BodyPipe> pipe) {
    return std::make_unique<PipeReader>(std::move(pipe));
}

std::shared_ptr<EventStream> make_event_stream(std::shared_ptr<ResponseBuffer> response_buffer) {
    return std::make_shared<EventHandle>(std::move(response_buffer));
}

// Under the lock, so that no notification can come after close() returned.
void ResponseBuffer::notify_once() {
    if (m_notified || m_closed) return;
    m_notified = true;
    m_notify();
}

bool ResponseBuffer::push(std::string_view piece) {
    const Lock lock(m_mutex);
    if (is_over()) return false;
    m_pending += piece;
    notify_once();
    return true;
}

bool ResponseBuffer::add_event(std::string_view event) {
    const Lock lock(m_mutex);
    if (is_over()) return false;
    if (m_pending.size() + event.size() > m_capacity) {
        m_end = End::failed;
        m_overflowed = true;
        m_pending = {};
        m_notified = false; // an earlier notification may wait for a client that does not read
    } else {
        m_pending += event;
    }
    notify_once();
    return !m_overflowed;
}

bool ResponseBuffer::pause() {
    const Lock lock(m_mutex);
    m_paused = m_pending.size() >= m_capacity && !m_closed;
    return m_paused;
}

void ResponseBuffer::finish() {
    const Lock lock(m_mutex);
    if (is_over()) return;
    m_end = End::complete;
    notify_once();
}

void ResponseBuffer::fail() {
    const Lock lock(m_mutex);
    if (is_over()) return;
    m_end = End::failed;
    notify_once();
}

size_t ResponseBuffer::pending() const {
    const Lock lock(m_mutex);
    return m_pending.size();
}

bool ResponseBuffer::is_open() const {
    const Lock lock(m_mutex);
    return !is_over();
}

bool ResponseBuffer::has_overflowed() const {
    const Lock lock(m_mutex);
    return m_overflowed;
}

void ResponseBuffer::on_close(std::function<void()> callback) {
    {
        const Lock lock(m_mutex);
        if (!m_closed) {
            m_on_close = std::move(callback);
            return;
        }
    }
    callback();
}

ResponseBuffer::Taken ResponseBuffer::take() {
    const Lock lock(m_mutex);
    Taken taken;
    taken.bytes.swap(m_pending);
    taken.end = m_end;
    taken.overflowed = m_overflowed;
    taken.wants_more = std::exchange(m_paused, false);
    m_notified = false;
    return taken;
}

bool ResponseBuffer::close() {
    std::function<void()> callback;
    bool paused = false;
    {
        const Lock lock(m_mutex);
        if (m_closed) return false;
        m_closed = true;
        paused = std::exchange(m_paused, false);
        m_pending = {};
        m_notify = nullptr;
        callback.swap(m_on_close);
    }
    if (callback) callback();
    return paused;
}

} // namespace hone::net
