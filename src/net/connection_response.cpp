// The part of Connection that writes responses: heads, whole bodies, streams and events.
#include "net/connection.h"
#include "net/edge.h"

#include "base/log.h"

#include <array>
#include <charconv>

namespace hone::net {

namespace {

constexpr size_t small_body = 16 << 10; // copied behind its head and sent with it

bool has_no_body(int status) {
    return status == 204 || status == 304;
}

template <class Number>
void append_number(std::string& out, Number number, int base = 10) {
    std::array<char, 24> digits{};
    const auto [end, failed] = std::to_chars(digits.data(), digits.data() + digits.size(), number, base);
    CHECK_OR_ABORT(failed == std::errc());
    out.append(digits.data(), end);
}

void append_header(std::string& out, std::string_view name, std::string_view value) {
    // A handler that lets a line break through must not be able to split the response.
    if (!is_token(name) || !is_field_value(value)) {
        log(Level::error, "response header dropped", {{"name", name}});
        return;
    }
    out += name;
    out += ": ";
    out += value;
    out += "\r\n";
}

} // namespace

void Connection::respond(PreparedResponse&& prepared) {
    Current& current = *m_current;
    const bool keep =
        current.keep_alive && !prepared.response.close && current.decoder.is_done() && !m_edge.is_draining();
    if (prepared.response_buffer) return start_stream(std::move(prepared), keep);
    Response& response = prepared.response;
    const std::string_view borrowed = response.borrowed_body;
    std::string body = std::move(response.body);
    const bool bare = current.is_head || has_no_body(response.status);
    const size_t length = borrowed.empty() ? body.size() : borrowed.size();
    std::string framing;
    if (!has_no_body(response.status)) {
        framing = "Content-Length: ";
        append_number(framing, length);
        framing += "\r\n";
    }
    const bool join = !bare && length <= small_body;
    std::string head = make_head(response, framing, keep, join ? length : 0);
    if (join) head += borrowed.empty() ? std::string_view(body) : borrowed;
    enqueue(std::move(head));
    if (!bare && !join) {
        if (borrowed.empty())
            m_output.push_back({std::move(body), {}});
        else
            m_output.push_back({{}, borrowed});
    }
    finish_exchange(keep);
}

std::string Connection::make_head(const Response& response, std::string_view framing, bool keep, size_t room) {
    std::string head;
    size_t size = 200 + room;
    for (const Header& header : response.headers) size += header.name.size() + header.value.size() + 4;
    head.reserve(size);
    head += "HTTP/1.1 ";
    append_number(head, response.status);
    head += ' ';
    head += reason_phrase(response.status);
    head += "\r\n";
    head += m_edge.date();
    if (!response.content_type.empty()) append_header(head, "Content-Type", response.content_type);
    head += framing;
    append_header(head, "X-Request-Id", m_current->id);
    for (const Header& header : response.headers) append_header(head, header.name, header.value);
    if (!keep)
        head += "Connection: close\r\n";
    else if (m_current->http_1_0)
        head += "Connection: keep-alive\r\n";
    head += "\r\n";
    return head;
}

void Connection::start_stream(PreparedResponse&& prepared, bool keep) {
    Current& current = *m_current;
    Response& response = prepared.response;
    current.chunked = !current.http_1_0;
    current.keep_alive = keep && current.chunked;
    if (prepared.events) {
        response.content_type = "text/event-stream";
        if (response.header("Cache-Control").empty()) response.set_header("Cache-Control", "no-cache, no-transform");
        response.set_header("X-Accel-Buffering", "no"); // proxies that buffer would delay live events
    }
    current.ends_itself = prepared.events_end;
    // Such a response ends with the connection, so until all of it is sent a close must be a reset,
    // not an orderly end. See linger().
    if (!current.chunked) m_socket.set_reset_on_close(true);
    enqueue(make_head(response, current.chunked ? "Transfer-Encoding: chunked\r\n" : "", current.keep_alive, 0));
    m_response_buffer = std::move(prepared.response_buffer);
    m_producer = std::move(prepared.producer);
    if (current.is_head) return finish_exchange(current.keep_alive);
    m_phase = prepared.events ? Phase::events : Phase::streaming;
    if (prepared.events) {
        ++m_edge.shared().totals.event_streams;
        set_deadline(m_edge.limits().heartbeat);
        if (m_edge.is_draining() && !current.ends_itself) m_response_buffer->finish();
    } else {
        await_lane();
    }
}

void Connection::append_chunk(std::string_view bytes) {
    if (bytes.empty()) return; // as a chunk it would be the last one
    if (!m_current->chunked) return enqueue(std::string(bytes));
    std::string chunk;
    chunk.reserve(bytes.size() + 24);
    append_number(chunk, bytes.size(), 16);
    chunk += "\r\n";
    chunk += bytes;
    chunk += "\r\n";
    enqueue(std::move(chunk));
}

// The one place that marks a streamed response as complete: by its last chunk, or by letting the connection end
// properly. Reached only when the producer reported its end.
void Connection::complete_stream() {
    if (m_current->chunked) enqueue("0\r\n\r\n");
    finish_exchange(m_current->keep_alive && !m_edge.is_draining());
}

// Called only when all earlier output is sent: so a slow client holds at most one response buffer.
void Connection::take_buffered() {
    ResponseBuffer::Taken taken = m_response_buffer->take();
    if (taken.overflowed) {
        ++m_edge.shared().totals.events_cut;
        log(Level::info, "event follower cut", {{"peer", m_peer}, {"request", m_current->id}});
    }
    if (taken.end == ResponseBuffer::End::failed) return close();
    append_chunk(taken.bytes);
    if (taken.wants_more && m_producer)
        m_edge.shared().lane(m_current->plan.lane).submit_next(make_produce_task(m_producer));
    if (taken.end == ResponseBuffer::End::complete) complete_stream();
}

// A producer that had paused runs once more, to drop its source on a thread where that may block.
void Connection::drop_outlet() {
    if (m_response_buffer && m_response_buffer->close() && m_producer)
        m_edge.shared().lane(m_current->plan.lane).submit_next(make_produce_task(std::move(m_producer)));
    m_response_buffer.reset();
    m_producer.reset();
}

// The response is complete, at least in m_output; continue with the next request.
void Connection::finish_exchange(bool keep) {
    drop_outlet();
    if (m_phase == Phase::events) --m_edge.shared().totals.event_streams;
    m_current.reset();
    m_phase = Phase::idle;
    m_closing = m_closing || !keep;
    m_parse_again = true;
    if (has_output()) set_deadline(m_edge.limits().write_timeout);
}

} // namespace hone::net
