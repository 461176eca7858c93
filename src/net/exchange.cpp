#include "net/exchange.h"

#include "base/log.h"
#include "net/edge.h"
#include "net/http/compress.h"

#include <exception>

namespace hone::net {

namespace {

constexpr size_t stream_buffer = 256 << 10;

Response broken(std::string_view id, std::string_view what) {
    log(Level::error, "request handler threw", {{"request", id}, {"what", what}});
    return error_response(500, "internal", "something went wrong here; request " + std::string(id));
}

// Runs `call`, or `rescue` with the text of what it throws. One of the three doors where exceptions end.
template <class Call, class Rescue>
auto guarded(const Call& call, const Rescue& rescue) -> decltype(call()) {
    try {
        return call();
    } catch (const std::exception& thrown) {
        return rescue(thrown.what());
    } catch (...) {
        return rescue("not a std::exception");
    }
}

class ProduceTask final : public Task {
public:
    explicit ProduceTask(std::shared_ptr<Producer> producer) : m_producer(std::move(producer)) {}
    void run() override { m_producer->run(); }

private:
    std::shared_ptr<Producer> m_producer;
};

class RequestTask final : public Task {
public:
    RequestTask(Edge& edge, uint64_t connection, Request&& request, MemoryShare&& memory)
        : m_edge(edge),
          m_connection(connection),
          m_request(std::move(request)),
          m_memory(std::move(memory)) {}

    void run() override {
        const std::string accept_encoding(m_request.header("Accept-Encoding"));
        const std::string id = m_request.id;
        PreparedResponse prepared{call_handle(m_edge.shared().handler, std::move(m_request)), nullptr, nullptr, false};
        m_request = {};
        m_memory = {};
        if (prepared.response.on_events) return start_events(std::move(prepared), id);
        if (prepared.response.stream) return start_stream(std::move(prepared));
        compress_response(accept_encoding, prepared.response);
        m_edge.post_response(m_connection, std::move(prepared));
    }

private:
    std::shared_ptr<ResponseBuffer> make_response_buffer(size_t capacity) {
        return std::make_shared<ResponseBuffer>(
            capacity, [edge = &m_edge, connection = m_connection] { edge->notify(connection); });
    }
    void start_events(PreparedResponse&& prepared, const std::string& id) {
        auto on_events = std::exchange(prepared.response.on_events, nullptr);
        auto response_buffer = make_response_buffer(m_edge.limits().event_buffer);
        prepared.response_buffer = response_buffer;
        prepared.events = true;
        prepared.events_end = prepared.response.events_end;
        m_edge.post_response(m_connection, std::move(prepared));
        guarded([&] { on_events(make_event_stream(response_buffer)); },
                [&](std::string_view thrown) {
                    log(Level::error, "event handler threw", {{"request", id}, {"what", thrown}});
                    response_buffer->fail();
                });
    }
    void start_stream(PreparedResponse&& prepared) {
        auto response_buffer = make_response_buffer(stream_buffer);
        auto producer = std::make_shared<Producer>(std::move(prepared.response.stream), response_buffer);
        prepared.response_buffer = response_buffer;
        prepared.producer = producer;
        m_edge.post_response(m_connection, std::move(prepared));
        producer->run();
    }

    Edge& m_edge;
    uint64_t m_connection;
    Request m_request;
    MemoryShare m_memory;
};

} // namespace

// After pause() returned true another thread may already be running this: touch nothing.
void Producer::run() {
    while (m_response_buffer->is_open()) {
        if (m_response_buffer->pause()) return;
        const Result<std::string> piece =
            guarded([&] { return m_source->next(); },
                    [](std::string_view thrown) -> Result<std::string> {
                        return internal("the source of the body threw", std::string(thrown));
                    });
        if (!piece.ok()) {
            log(Level::warning, "response body was interrupted",
                {{"error", piece.error().message}, {"trail", piece.error().trail}});
            m_response_buffer->fail();
        } else if (piece.value().empty()) {
            m_response_buffer->finish();
        } else {
            m_response_buffer->push(piece.value());
        }
    }
    m_source.reset(); // here, where it may block
}

std::unique_ptr<Task> make_produce_task(std::shared_ptr<Producer> producer) {
    return std::make_unique<ProduceTask>(std::move(producer));
}

std::unique_ptr<Task> make_request_task(Edge& edge, uint64_t connection, Request&& request, MemoryShare&& memory) {
    return std::make_unique<RequestTask>(edge, connection, std::move(request), std::move(memory));
}

Plan call_plan(Handler& handler, const RequestHead& head) {
    return guarded([&] { return handler.plan(head); },
                   [&](std::string_view thrown) {
                       Plan plan;
                       plan.response = broken(head.id, thrown);
                       return plan;
                   });
}

Response call_handle(Handler& handler, Request&& request) {
    const std::string id = request.id;
    return guarded([&] { return handler.handle(std::move(request)); },
                   [&](std::string_view thrown) { return broken(id, thrown); });
}

} // namespace hone::net
