#include "net/client/websocket.h"

#include "base/text.h"
#include "net/client/wire.h"
#include "net/http/body_decoder.h"
#include "net/http/head_parser.h"
#include "net/http/url.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <openssl/evp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

namespace hone::net {

namespace {

constexpr size_t most_head_bytes = 64 << 10;
constexpr size_t most_refusal_bytes = 64 << 10;
constexpr size_t most_read_in_a_step = 1 << 20; // then what is queued is sent

Duration websocket_now() {
    return SystemClock().steady();
}

template <class T>
T random_value() {
    T value{};
    CHECK_OR_ABORT(::getrandom(&value, sizeof value, 0) == sizeof value);
    return value;
}

// What a server makes of the client's key: it shows that it read the request as one for a WebSocket.
std::string accept_of(const std::string& key) {
    const std::string text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    CHECK_OR_ABORT(EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr) == 1);
    return to_base64(std::string_view(reinterpret_cast<const char*>(digest.data()), size));
}

Result<std::string> upgrade_request(const WebSocketOptions& options, const Url& url, const std::string& key) {
    std::string head = "GET " + url.target + " HTTP/1.1\r\nHost: " + url.host_header() +
                       "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n" +
                       "Sec-WebSocket-Key: " + key + "\r\n";
    if (!options.protocol.empty()) head += "Sec-WebSocket-Protocol: " + options.protocol + "\r\n";
    for (const Header& header : options.headers) {
        if (!is_token(header.name) || !is_field_value(header.value)) return invalid("not a header: " + header.name);
        head += header.name + ": " + header.value + "\r\n";
    }
    return head + "\r\n";
}

Result<ParsedResponse> read_upgrade_head(Wire& wire, const Timeouts& timeouts) {
    HeadScanner scanner;
    const HeadLimits limits{most_head_bytes, 200, most_head_bytes};
    for (;;) {
        const HeadScanner::Outcome outcome = scanner.scan(wire.input(), limits);
        if (outcome == HeadScanner::Outcome::bad) return unavailable("malformed response: " + scanner.error().message);
        if (outcome == HeadScanner::Outcome::complete) break;
        if (!TRY(wire.receive(timeouts))) return unavailable("the connection closed before a response arrived");
    }
    auto parsed = parse_response_head(std::string_view(wire.input()).substr(0, scanner.size()), false);
    if (auto* error = std::get_if<HeadError>(&parsed)) return unavailable("malformed response: " + error->message);
    wire.input().erase(0, scanner.size());
    return std::move(std::get<ParsedResponse>(parsed));
}

// A body that is too long, or breaks, explains less but is no further problem.
ClientResponse read_refusal(Wire& wire, ParsedResponse parsed, const Timeouts& timeouts) {
    ClientResponse response;
    response.status = parsed.status;
    response.headers = std::move(parsed.headers);
    BodyDecoder decoder(parsed.framing, parsed.length);
    while (!decoder.is_done() && response.body.size() < most_refusal_bytes) {
        wire.input().erase(0, decoder.feed(wire.input(), response.body));
        if (decoder.is_done() || decoder.is_failed()) break;
        const auto more = wire.receive(timeouts);
        if (!more.ok() || !more.value()) break;
    }
    response.body.resize(std::min(response.body.size(), most_refusal_bytes));
    return response;
}

Result<> check_upgrade(const ParsedResponse& response, const WebSocketOptions& options, const std::string& key) {
    if (!equals_ignoring_case(header_value(response.headers, "Upgrade"), "websocket") ||
        !equals_ignoring_case(header_value(response.headers, "Connection"), "upgrade") ||
        header_value(response.headers, "Sec-WebSocket-Accept") != accept_of(key))
        return unavailable("the server switched to something that is not a WebSocket");
    if (!header_value(response.headers, "Sec-WebSocket-Extensions").empty())
        return unavailable("the server uses a WebSocket extension that was not requested");
    if (header_value(response.headers, "Sec-WebSocket-Protocol") != options.protocol)
        return unavailable("the server does not support the WebSocket protocol " + options.protocol);
    return {};
}

} // namespace

Result<WebSocket::Opened> WebSocket::open(const WebSocketOptions& options) {
    const Url url = TRY(parse_url(options.url));
    if (!url.unix_path.empty()) return invalid("a WebSocket has an http or https URL");
    if (url.tls && !options.tls) return invalid("a WebSocket over https needs a TLS context");
    Timeouts timeouts{options.connect_timeout, options.connect_timeout, websocket_now() + 2 * options.connect_timeout,
                      options.cancel};
    const auto endpoints = TRY(resolve(url.host, url.port));
    std::unique_ptr<Wire> wire = TRY(Wire::dial(endpoints, timeouts));
    if (url.tls)
        TRY(wire->start_tls(*options.tls, options.server_name.empty() ? url.host : options.server_name, timeouts));
    const auto nonce = random_value<std::array<char, 16>>();
    const std::string key = to_base64(std::string_view(nonce.data(), nonce.size()));
    const std::string head = TRY(upgrade_request(options, url, key));
    TRY(wire->send(head, timeouts));
    ParsedResponse response = TRY(read_upgrade_head(*wire, timeouts));
    Opened opened;
    if (response.status != 101) {
        opened.refusal = read_refusal(*wire, std::move(response), timeouts);
        return opened;
    }
    TRY(check_upgrade(response, options, key));
    std::string input = std::move(wire->input());
    opened.socket.reset(new WebSocket(options, wire->release(), std::move(input)));
    return opened;
}

WebSocket::WebSocket(const WebSocketOptions& options, Socket socket, std::string input)
    : m_ping_every(options.ping_every),
      m_dead_after(options.dead_after),
      m_most_queued(options.most_queued_bytes),
      m_socket(std::move(socket)),
      m_parser(WebSocketParser::Sender::server, options.most_message_bytes),
      m_woken(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      m_input(std::move(input)),
      m_last_byte(websocket_now()),
      m_last_ping(m_last_byte) {
    CHECK_OR_ABORT(m_woken.is_open());
    wake(); // TLS may hold bytes that came with the response
}

WebSocket::~WebSocket() {
    end();
}

uint32_t WebSocket::next_mask() {
    return random_value<uint32_t>();
}

void WebSocket::wake() {
    ::eventfd_write(m_woken.get(), 1);
}

size_t WebSocket::queued() const {
    const Lock lock(m_mutex);
    return m_queue.size() + m_sending.size() - m_sent;
}

Result<> WebSocket::send(std::string_view bytes) {
    {
        const Lock lock(m_mutex);
        while (!m_ended && m_queue.size() >= m_most_queued) m_has_room.wait(m_mutex);
        if (m_ended) return unavailable("the WebSocket has ended");
        append_websocket_frame(m_queue, WebSocketOpcode::binary, bytes, next_mask());
    }
    wake();
    return {};
}

void WebSocket::end() {
    {
        const Lock lock(m_mutex);
        m_ended = true;
    }
    m_has_room.notify_all();
    m_socket.close();
}

void WebSocket::append_close(uint16_t code) {
    const std::array<char, 2> number{static_cast<char>(code >> 8), static_cast<char>(code & 0xff)};
    append_websocket_frame(m_sending, WebSocketOpcode::close, std::string_view(number.data(), number.size()),
                           next_mask());
}

void WebSocket::close(uint16_t code) {
    if (m_socket.is_open() && m_close_code == 0) {
        append_close(code);
        (void)flush();
    }
    end();
}

// Until everything is sent, or the socket accepts no more.
Result<> WebSocket::flush() {
    for (;;) {
        if (m_sent == m_sending.size()) {
            m_sending.clear();
            m_sent = 0;
            {
                const Lock lock(m_mutex);
                m_sending.swap(m_queue);
            }
            m_has_room.notify_all();
            if (m_sending.empty()) return {};
        }
        const IoStep step = m_socket.write(std::array{std::string_view(m_sending).substr(m_sent)});
        if (step.state == Io::want_read || step.state == Io::want_write) return {};
        if (step.state != Io::done) return unavailable("the WebSocket broke: " + m_socket.problem());
        m_sent += step.bytes;
    }
}

Result<> WebSocket::take(WebSocketMessage&& message, const std::function<Result<>(std::string_view)>& on_message) {
    switch (message.opcode) {
    case WebSocketOpcode::ping:
        append_websocket_frame(m_sending, WebSocketOpcode::pong, message.payload, next_mask());
        // A peer that sends nothing but pings and reads nothing must not fill the memory.
        return m_sending.size() - m_sent > m_most_queued + (1 << 20) ? invalid("too many pings") : Result<>();
    case WebSocketOpcode::close:
        m_close_code = message.close_code;
        m_close_reason = std::move(message.payload);
        append_close(1000);
        return {};
    case WebSocketOpcode::text:
    case WebSocketOpcode::binary:
        return on_message(message.payload);
    case WebSocketOpcode::pong:
    case WebSocketOpcode::continuation:
        return {};
    }
    return {};
}

Result<> WebSocket::read_all(const std::function<Result<>(std::string_view)>& on_message) {
    const auto taker = [&](WebSocketMessage&& message) { return take(std::move(message), on_message); };
    if (!m_input.empty()) TRY(m_parser.feed(std::exchange(m_input, {}), taker));
    std::string bytes(64 << 10, '\0');
    size_t in_this_step = 0;
    m_read_wants_write = false;
    while (m_close_code == 0) {
        const IoStep step = m_socket.read(bytes);
        m_read_wants_write = step.state == Io::want_write;
        if (step.state == Io::want_read || step.state == Io::want_write) return {};
        if (step.state == Io::closed) return unavailable("the connection closed without a close frame");
        if (step.state != Io::done) return unavailable("the WebSocket broke: " + m_socket.problem());
        m_last_byte = websocket_now();
        TRY(m_parser.feed(std::string_view(bytes).substr(0, step.bytes), taker));
        in_this_step += step.bytes;
        if (in_this_step >= most_read_in_a_step) {
            wake(); // TLS may hold bytes that the descriptor does not show
            return {};
        }
    }
    return {};
}

Result<> WebSocket::keep_alive() {
    const Duration now = websocket_now();
    if (now - m_last_byte > m_dead_after) return unavailable("the peer sent nothing for too long");
    if (now - m_last_ping < m_ping_every) return {};
    m_last_ping = now;
    append_websocket_frame(m_sending, WebSocketOpcode::ping, "", next_mask());
    return {};
}

Result<bool> WebSocket::step(Duration timeout, const std::function<Result<>(std::string_view)>& on_message) {
    const auto once = [&]() -> Result<> {
        if (!m_socket.is_open()) return unavailable("the WebSocket has ended");
        TRY(keep_alive());
        TRY(flush());
        const bool has_output = m_sent < m_sending.size();
        const Duration longest = m_input.empty() ? std::min({timeout, m_ping_every, m_dead_after}) : Duration(0);
        std::array<pollfd, 2> polls{
            pollfd{m_socket.descriptor(), static_cast<short>(POLLIN | (has_output || m_read_wants_write ? POLLOUT : 0)),
                   0},
            pollfd{m_woken.get(), POLLIN, 0}};
        const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(longest).count();
        if (::poll(polls.data(), polls.size(), static_cast<int>(milliseconds)) < 0 && errno != EINTR)
            return system_error("poll", errno);
        if (polls[1].revents != 0) {
            eventfd_t count = 0;
            (void)::eventfd_read(m_woken.get(), &count);
        }
        TRY(read_all(on_message));
        return flush();
    };
    Result<> done = once();
    if (m_close_code != 0) { // also when the peer closed right after: what it sent last has been read
        end();
        return false;
    }
    if (done.ok()) return true;
    end();
    return std::move(done).error();
}

} // namespace hone::net
