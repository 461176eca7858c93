// The lane's side of a request: call the handler, compress, stream. Responses go back to the connection through its
// edge. Tasks run on a lane's thread.
#pragma once

#include "net/lane.h"
#include "net/server.h"
#include "net/streams.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace hone::net {

class Edge;

// Bytes of request bodies in memory, given back when this is destroyed.
class MemoryShare {
public:
    MemoryShare() = default;
    explicit MemoryShare(std::atomic<uint64_t>& total) : m_total(&total) {}
    MemoryShare(MemoryShare&& other) noexcept
        : m_total(std::exchange(other.m_total, nullptr)),
          m_bytes(std::exchange(other.m_bytes, 0)) {}
    MemoryShare& operator=(MemoryShare&& other) noexcept {
        std::swap(m_total, other.m_total);
        std::swap(m_bytes, other.m_bytes);
        return *this;
    }
    ~MemoryShare() {
        if (m_total) m_total->fetch_sub(m_bytes);
    }
    // False when the total passes the limit.
    bool grow(size_t bytes, size_t limit) {
        m_bytes += bytes;
        return m_total->fetch_add(bytes) + bytes <= limit;
    }

private:
    std::atomic<uint64_t>* m_total = nullptr;
    size_t m_bytes = 0;
};

// Feeds a response buffer from a BodySource, as far as the response buffer takes it. Shared by the connection, which
// requests more, and the lane's thread that produces; never runs in two threads, because more is requested only after
// it paused.
class Producer {
public:
    Producer(std::unique_ptr<BodySource> source, std::shared_ptr<ResponseBuffer> response_buffer)
        : m_source(std::move(source)),
          m_response_buffer(std::move(response_buffer)) {}
    void run();

private:
    std::unique_ptr<BodySource> m_source;
    std::shared_ptr<ResponseBuffer> m_response_buffer;
};
std::unique_ptr<Task> make_produce_task(std::shared_ptr<Producer> producer);

// What a lane's thread hands to the connection.
struct PreparedResponse {
    Response response;
    std::shared_ptr<ResponseBuffer> response_buffer; // of a stream or of events
    std::shared_ptr<Producer> producer;
    bool events = false;
    bool events_end = false; // by themselves; see Response
};

// Calls the handler with the request and sends the response to connection `connection` of `edge`.
std::unique_ptr<Task> make_request_task(Edge& edge, uint64_t connection, Request&& request, MemoryShare&& memory);

// What the handler's plan or handle returns, or a 500 with a log line if it throws.
Plan call_plan(Handler& handler, const RequestHead& head);
Response call_handle(Handler& handler, Request&& request);

} // namespace hone::net
