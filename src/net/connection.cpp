#include "net/connection.h"

#include "base/id.h"
#include "base/log.h"
#include "net/client/client.h"
#include "net/edge.h"

#include <algorithm>
#include <array>
#include <span>

namespace hone::net {

namespace {

constexpr size_t small_piece = 16 << 10;      // copied behind its head and sent with it
constexpr size_t swallow_bytes = 64 << 10;    // a refused body up to this is read, so that the connection stays open
constexpr size_t pipelined_output = 64 << 10; // responses collected before they are sent
constexpr size_t pipe_buffer = 256 << 10;
constexpr int rounds_per_turn = 16; // then others have their turn
constexpr Duration client_check_interval = std::chrono::milliseconds(250);

// A client's own id is kept when it is short and plain.
bool is_request_id(std::string_view text) {
    return text.size() >= 4 && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                      c == '_' || c == '.';
           });
}

} // namespace

Connection::Connection(Edge& edge, uint64_t id, Socket socket, std::string peer)
    : m_edge(edge),
      m_id(id),
      m_socket(std::move(socket)),
      m_peer(std::move(peer)),
      m_watch(edge.loop().watch(m_socket.descriptor(), id)) {}

Connection::~Connection() = default;

void Connection::start() {
    m_phase = m_socket.is_tls() ? Phase::handshake : Phase::idle;
    set_deadline(m_phase == Phase::handshake ? m_edge.limits().header_timeout : m_edge.limits().idle_timeout);
    pump();
}

void Connection::on_ready(Ready ready) {
    (ready == Ready::read ? m_waits_read : m_waits_write) = false;
    m_read_dry = false;
    pump();
}

void Connection::on_notify() {
    pump();
}

// Moves everything that can move, then waits for what is missing.
void Connection::pump() {
    m_parse_again = m_parse_again || !m_input.empty();
    for (int round = 0; round < rounds_per_turn; ++round)
        if (!pump_once()) return arm();
    m_edge.notify(m_id);
}

// True when there may be more to do now.
bool Connection::pump_once() {
    if (m_phase == Phase::closed) return false;
    if (m_phase == Phase::handshake) {
        step_handshake();
        return m_phase == Phase::idle;
    }
    if (has_output() && !flush()) {
        // A client that does not read would keep these buffers allocated without a limit.
        if (m_response_buffer && m_response_buffer->has_overflowed()) take_buffered();
        return false;
    }
    if (m_response_buffer) {
        take_buffered();
        if (has_output() || m_phase == Phase::closed) return true;
    }
    if (m_closing && m_phase == Phase::idle) linger();
    if (m_parse_again && !m_input.empty()) {
        consume({});
        if (has_output() || !wants_input()) return true;
    }
    return wants_input() && !m_read_dry && read_input();
}

void Connection::step_handshake() {
    switch (m_socket.handshake()) {
    case Io::done:
        m_phase = Phase::idle;
        set_deadline(m_edge.limits().idle_timeout);
        return;
    case Io::want_read:
        m_read_dry = true;
        return;
    case Io::want_write:
        return wait(Ready::write);
    case Io::closed:
    case Io::failed:
        log(Level::debug, "TLS handshake failed", {{"peer", m_peer}, {"problem", m_socket.problem()}});
        return close();
    }
}

bool Connection::wants_input() const {
    switch (m_phase) {
    case Phase::handshake:
    case Phase::events:
    case Phase::lingering:
        return true;
    case Phase::idle:
    case Phase::head:
        return !has_output() && !m_closing;
    case Phase::body:
        return !m_current->pipe || !m_current->pipe->is_full();
    case Phase::waiting:
    case Phase::streaming:
    case Phase::closed:
        return false;
    }
    return false;
}

bool Connection::read_input() {
    const std::span<char> scratch = m_edge.scratch();
    const IoStep step = m_socket.read(scratch);
    switch (step.state) {
    case Io::done:
        m_edge.shared().totals.bytes_in += step.bytes;
        // TLS may hold more that no event will announce; a plain socket that returned less than requested is empty.
        m_read_dry = !m_socket.is_tls() && step.bytes < scratch.size();
        if (m_phase != Phase::events && m_phase != Phase::lingering) consume({scratch.data(), step.bytes});
        return true;
    case Io::want_read:
        m_read_dry = true;
        return false;
    case Io::want_write:
        wait(Ready::write);
        return false;
    case Io::closed:
    case Io::failed:
        on_end_of_input();
        return false;
    }
    return false;
}

void Connection::on_end_of_input() {
    if (m_current && m_current->pipe) m_current->pipe->fail(unavailable("the client disconnected"));
    close();
}

// Parses what it can of the buffered and the new bytes, and buffers the rest.
void Connection::consume(std::string_view fresh) {
    m_parse_again = false;
    if (m_input.empty()) {
        const size_t used = parse(fresh);
        if (m_phase != Phase::closed) m_input.assign(fresh.substr(used));
    } else {
        std::string input = std::move(m_input);
        m_input.clear();
        input += fresh;
        const size_t used = parse(input);
        input.erase(0, used);
        m_input = std::move(input);
    }
    if (m_input.empty()) m_input = std::string(); // an idle connection keeps no buffer
}

size_t Connection::parse(std::string_view bytes) {
    size_t used = 0;
    while (used < bytes.size() && !m_closing) {
        size_t step = 0;
        if (m_phase == Phase::idle || m_phase == Phase::head) {
            size_t waiting = 0;
            for (size_t i = m_output_first; i < m_output.size(); ++i) waiting += m_output[i].size();
            if (waiting > pipelined_output) {
                m_parse_again = true;
                break;
            }
            step = parse_head(bytes.substr(used));
        } else if (m_phase == Phase::body) {
            step = parse_body(bytes.substr(used));
        }
        if (step == 0) break;
        used += step;
    }
    return m_closing ? bytes.size() : used;
}

size_t Connection::parse_head(std::string_view bytes) {
    if (m_phase == Phase::idle) {
        if (bytes.starts_with("\r\n")) return 2; // some clients send one too many after a body
        if (bytes == "\r") return 0;
        m_phase = Phase::head;
        m_scanner = {};
        set_deadline(m_edge.limits().header_timeout);
    }
    const ServerLimits& limits = m_edge.limits();
    const HeadLimits head_limits{limits.header_bytes, limits.header_count, limits.target_bytes};
    const HeadScanner::Outcome outcome = m_scanner.scan(bytes, head_limits);
    if (outcome == HeadScanner::Outcome::more) return 0;
    HeadError error;
    if (outcome == HeadScanner::Outcome::complete) {
        auto parsed = parse_request_head(bytes.substr(0, m_scanner.size()), head_limits);
        if (auto* request = std::get_if<ParsedRequest>(&parsed)) {
            begin_request(std::move(*request));
            return m_scanner.size();
        }
        error = std::move(std::get<HeadError>(parsed));
    } else {
        error = std::move(m_scanner.error());
    }
    const bool large = error.status == 431 || error.status == 414;
    refuse(error.status, large ? "too_large" : "invalid", error.message);
    return bytes.size();
}

void Connection::begin_request(ParsedRequest&& parsed) {
    ++m_edge.shared().totals.requests;
    m_current = std::make_unique<Current>();
    Current& current = *m_current;
    current.parsed = std::move(parsed);
    current.is_head = current.parsed.head.method == "HEAD";
    current.http_1_0 = current.parsed.http_1_0;
    current.keep_alive = current.parsed.keep_alive;
    RequestHead& head = current.parsed.head;
    head.peer = m_peer;
    head.tls = m_socket.is_tls();
    m_edge.shared().limits.trusted_proxies.apply(head);
    const std::string_view sent = head.header("X-Request-Id");
    head.id = is_request_id(sent) ? std::string(sent) : "req_" + make_ulid(m_edge.shared().clock.now());
    current.id = head.id;
    current.decoder = BodyDecoder(current.parsed.framing, current.parsed.length);
    current.plan = call_plan(m_edge.shared().handler, head);
    if (current.plan.response) return respond_early(std::move(*current.plan.response));
    if (!current.plan.waits && m_edge.shared().lane(current.plan.lane).is_full()) {
        ++m_edge.shared().totals.busy;
        Response busy = error_response(unavailable("the server is busy; try again"));
        return respond_early(current.plan.refusal ? current.plan.refusal(std::move(busy)) : std::move(busy));
    }
    begin_body();
}

// The response is known before the body. A small body is read and dropped, so that the connection can be used again.
void Connection::respond_early(Response response) {
    Current& current = *m_current;
    const bool small = current.parsed.framing == Framing::length && current.parsed.length <= swallow_bytes;
    if (!current.decoder.is_done() && small && !current.parsed.expects_continue) {
        current.plan.response = std::move(response);
        current.discard = true;
        m_phase = Phase::body;
        set_body_deadline();
        return;
    }
    respond({std::move(response), nullptr, nullptr, false});
}

void Connection::begin_body() {
    Current& current = *m_current;
    current.body_limit = current.plan.body_limit.value_or(m_edge.limits().body_bytes);
    if (current.decoder.is_done()) {
        if (current.plan.stream_body) {
            current.pipe = std::make_shared<BodyPipe>(pipe_buffer, [] {});
            current.pipe->finish();
        }
        return submit();
    }
    if (current.parsed.framing == Framing::length && current.parsed.length > current.body_limit)
        return refuse(413, "too_large", "the body is larger than " + std::to_string(current.body_limit) + " bytes");
    m_phase = Phase::body;
    current.memory = MemoryShare(m_edge.shared().totals.body_memory);
    set_body_deadline();
    if (current.parsed.expects_continue) enqueue("HTTP/1.1 100 Continue\r\n\r\n");
    if (current.plan.stream_body) {
        current.pipe = std::make_shared<BodyPipe>(pipe_buffer, [edge = &m_edge, id = m_id] { edge->notify(id); });
        submit();
    }
}

size_t Connection::parse_body(std::string_view bytes) {
    Current& current = *m_current;
    if (current.pipe && current.pipe->is_full()) return 0;
    const size_t before = current.body.size();
    const size_t used = current.decoder.feed(bytes, current.body);
    const size_t grown = current.body.size() - before;
    current.received += grown;
    if (current.discard) current.body.clear();
    if (current.decoder.is_failed()) {
        break_body(400, invalid("the chunked body is malformed"));
    } else if (current.received > (current.discard ? swallow_bytes : current.body_limit)) {
        break_body(413, too_large("the body is larger than " + std::to_string(current.body_limit) + " bytes"));
    } else if (!current.pipe && !current.discard && !current.memory.grow(grown, m_edge.limits().body_memory)) {
        break_body(503, unavailable("too many large requests at the same time; try again"));
    } else {
        if (current.pipe && grown > 0) {
            current.pipe->push(std::move(current.body));
            current.body = {};
        }
        if (current.decoder.is_done())
            finish_body();
        else
            set_body_deadline();
    }
    return used;
}

// The rest of the body is not needed. A handler that is already reading gets the error and responds.
void Connection::break_body(int status, Error error) {
    if (m_current->pipe) {
        m_current->pipe->fail(std::move(error));
        m_phase = Phase::waiting;
        return await_lane();
    }
    refuse(status, status == 408 ? "timeout" : code_name(error.code), error.message);
}

void Connection::finish_body() {
    Current& current = *m_current;
    if (current.discard) return respond({std::move(*current.plan.response), nullptr, nullptr, false});
    if (!current.pipe) return submit();
    current.pipe->finish();
    m_phase = Phase::waiting;
    await_lane();
}

void Connection::submit() {
    Current& current = *m_current;
    Request request;
    static_cast<RequestHead&>(request) = std::move(current.parsed.head);
    request.body = std::move(current.body);
    current.body = {};
    if (current.pipe) request.body_stream = make_reader(current.pipe);
    if (current.plan.lane == Lane::query) request.gone = current.cancel = std::make_shared<Cancel>();
    auto task = make_request_task(m_edge, m_id, std::move(request), std::move(current.memory));
    if (current.plan.waits)
        m_edge.shared().lane(current.plan.lane).submit_next(std::move(task)); // one per connection, so bounded
    else if (!m_edge.shared().lane(current.plan.lane).submit(task))
        return refuse(503, "unavailable", "the server is busy; try again");
    if (current.decoder.is_done()) {
        m_phase = Phase::waiting;
        await_lane();
    }
}

// The edge's own word.
void Connection::refuse(int status, std::string_view code, std::string_view message) {
    if (!m_current) { // the head itself was malformed: the start of the next request is unknown
        m_current = std::make_unique<Current>();
        m_current->id = "req_" + make_ulid(m_edge.shared().clock.now());
        m_current->keep_alive = false;
    }
    ++(status == 503 ? m_edge.shared().totals.busy : m_edge.shared().totals.bad);
    Response response = error_response(status, code, message);
    if (status == 503) response.set_header("Retry-After", "1");
    if (m_current->plan.refusal) response = m_current->plan.refusal(std::move(response));
    respond({std::move(response), nullptr, nullptr, false});
}

void Connection::on_deadline() {
    const Phase phase = m_phase;
    const bool awaits_lane = phase == Phase::waiting || (phase == Phase::streaming && !has_output());
    if (awaits_lane && m_current->cancel) {
        if (!m_socket.has_peer_closed()) return await_lane();
        ++m_edge.shared().totals.abandoned;
        m_current->cancel->cancel();
        return set_deadline({});
    }
    if (has_output() || phase == Phase::handshake || phase == Phase::idle || phase == Phase::lingering) return close();
    if (phase == Phase::head) refuse(408, "timeout", "the request header took too long");
    if (phase == Phase::body) break_body(408, busy("the request body took too long"));
    if (phase == Phase::events) append_chunk(":\n\n");
    pump();
}

void Connection::drain() {
    m_read_dry = false;
    pump(); // requests that have arrived get their response
    if (m_phase == Phase::handshake || (m_phase == Phase::idle && !has_output() && m_input.empty())) return close();
    if (m_phase == Phase::events && !m_current->ends_itself) m_response_buffer->finish();
}

void Connection::on_response(PreparedResponse&& prepared) {
    if (m_phase == Phase::closed || !m_current) {
        if (prepared.response_buffer) prepared.response_buffer->close();
        return;
    }
    respond(std::move(prepared));
    pump();
}

void Connection::enqueue(std::string&& bytes) {
    if (bytes.empty()) return;
    if (has_output() && m_output.back().borrowed.empty() && m_output.back().owned.size() + bytes.size() <= small_piece)
        m_output.back().owned += bytes;
    else
        m_output.push_back({std::move(bytes), {}});
}

// True when all is sent.
bool Connection::flush() {
    while (has_output()) {
        std::array<std::string_view, 8> views;
        size_t count = 0;
        for (size_t i = m_output_first; i < m_output.size() && count < views.size(); ++i)
            views[count++] = m_output[i].view();
        views[0].remove_prefix(m_output_offset);
        const IoStep step = m_socket.write({views.data(), count});
        if (step.state == Io::want_write || step.state == Io::want_read) {
            if (step.state == Io::want_read) wait(Ready::read);
            return false;
        }
        if (step.state != Io::done) {
            close();
            return false;
        }
        m_edge.shared().totals.bytes_out += step.bytes;
        m_output_offset += step.bytes;
        while (has_output() && m_output_offset >= m_output[m_output_first].size())
            m_output_offset -= m_output[m_output_first++].size();
        if (has_output()) set_deadline(m_edge.limits().write_timeout);
    }
    if (m_output.capacity() > 8 || m_output_first > 1) m_output = {};
    m_output.clear();
    m_output_first = 0;
    if (m_phase == Phase::idle) set_deadline(m_edge.limits().idle_timeout);
    if (m_phase == Phase::events) set_deadline(m_edge.limits().heartbeat);
    if (m_phase == Phase::streaming) await_lane();
    return true;
}

void Connection::arm() {
    if (m_phase == Phase::closed) return;
    if (has_output()) wait(Ready::write);
    if (wants_input()) wait(Ready::read);
}

void Connection::wait(Ready ready) {
    bool& waits = ready == Ready::read ? m_waits_read : m_waits_write;
    if (std::exchange(waits, true)) return;
    m_watch->wait(ready);
}

// Zero: none.
void Connection::set_deadline(Duration from_now) {
    m_deadline = from_now.count() == 0 ? Duration{} : m_edge.now() + from_now;
    m_edge.schedule(m_id, *this);
}

// The time that a body may still take: what was granted, less what was spent waiting for bytes. The time that a
// handler lets the socket wait does not count.
void Connection::set_body_deadline() {
    Current& current = *m_current;
    const Duration now = m_edge.now();
    if (current.waiting_since.count() != 0) current.waited += now - current.waiting_since;
    if (current.pipe && current.pipe->is_full()) {
        current.waiting_since = {};
        return set_deadline({});
    }
    current.waiting_since = now;
    const auto earned = std::chrono::seconds(current.received / std::max<size_t>(1, m_edge.limits().body_rate));
    const Duration left =
        m_edge.limits().body_timeout + std::min<Duration>(earned, std::chrono::hours(24)) - current.waited;
    set_deadline(std::max<Duration>(left, std::chrono::milliseconds(1)));
}

// A lane's thread works on the response, without a time limit. A query is cancelled when its client disconnects.
void Connection::await_lane() {
    set_deadline(m_current->cancel ? client_check_interval : Duration{});
}

// Half closes and reads until the client closes: closing immediately would reset the connection under its bytes, and
// the client might lose our response.
void Connection::linger() {
    m_socket.set_reset_on_close(false); // all is sent: the end of the connection may now be the end of the response
    m_socket.shut_down_writing();
    m_phase = Phase::lingering;
    m_input = {};
    set_deadline(m_edge.limits().linger_timeout);
}

void Connection::close() {
    if (m_phase == Phase::closed) return;
    if (is_response_incomplete()) m_socket.set_reset_on_close(true);
    drop_outlet();
    if (m_phase == Phase::events) --m_edge.shared().totals.event_streams;
    if (m_current && m_current->pipe) m_current->pipe->fail(unavailable("the connection ended"));
    if (m_current && m_current->cancel) m_current->cancel->cancel();
    m_phase = Phase::closed;
    m_watch.reset();
    m_socket.close();
    m_edge.retire(m_id);
}

} // namespace hone::net
