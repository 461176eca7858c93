#include "broker/egress/exchange.h"

#include "base/text.h"
#include "net/http/head_parser.h"

#include <array>
#include <poll.h>

namespace hone::broker {

namespace {

constexpr size_t piece_bytes = 16 << 10;
constexpr size_t most_waiting = 128 << 10; // bytes that wait for a slow side

class Exchange {
public:
    Exchange(AttachedRun& attached, Channel& client, Channel& upstream, const RequestHead& request,
             const ExchangeOptions& options)
        : m_attached(attached),
          m_client(client),
          m_upstream(upstream),
          m_request(request),
          m_options(options),
          m_caps(attached.caps()),
          m_request_body(request.framing, request.length),
          m_request_done(request.framing == Framing::none) {}

    ExchangeResult run() {
        if (auto outcome = run_steps(); !outcome.ok()) m_result.error = outcome.error();
        const bool clean = m_result.error.message.empty() && m_response_done && m_request_done && !m_switched;
        m_result.client_reusable = clean && m_request.keep_alive && m_down_framing != Framing::until_close;
        m_result.upstream_reusable = clean && m_response.keep_alive;
        return std::move(m_result);
    }

private:
    Result<> run_steps() {
        std::string head = write_request_head(m_request, m_request.path);
        auto written = m_upstream.write(head, Deadline::after(m_caps.idle_timeout));
        crypto::wipe(head);
        TRY(std::move(written));
        while (!m_response_done || !m_down.empty()) {
            if (TRY(move_some())) {
                if (m_attached.cancel().fired()) return conflict("the run has ended");
            } else {
                TRY(wait());
            }
        }
        return {};
    }

    Result<bool> move_some() {
        bool moved = TRY(flush_up());
        moved |= TRY(flush_down());
        if (wants_request()) moved |= TRY(take_request());
        if (wants_response()) moved |= TRY(take_response());
        return moved;
    }

    bool wants_request() const { return !m_request_done && !m_upstream_deaf && m_up.size() < most_waiting; }
    bool wants_response() const { return !m_response_done && m_down.size() < most_waiting; }

    Result<> wait() {
        std::array<pollfd, 2> polled{pollfd{m_client.descriptor(), 0, 0}, pollfd{m_upstream.descriptor(), 0, 0}};
        if (wants_request()) polled[0].events |= POLLIN;
        if (!m_down.empty()) polled[0].events |= POLLOUT;
        if (wants_response()) polled[1].events |= POLLIN;
        if (!m_up.empty()) polled[1].events |= POLLOUT;
        if (polled[1].events == 0) polled[1].fd = -1;
        TRY(wait_any(polled, m_attached.cancel(), Deadline::after(m_caps.idle_timeout)));
        // No client waits for the response; without this a silent upstream would hold the thread until it sends.
        if (polled[0].events == 0 && (polled[0].revents & (POLLHUP | POLLERR)) != 0)
            return unavailable("the client closed the connection");
        return {};
    }

    Result<bool> flush_down() {
        if (m_down.empty()) return false;
        const net::IoStep step = m_client.try_write(m_down);
        if (step.state == net::Io::done) {
            m_down.erase(0, step.bytes);
            m_result.responded = true;
            return true;
        }
        if (step.state == net::Io::want_read || step.state == net::Io::want_write) return false;
        return unavailable("the client closed the connection");
    }

    // An upstream that stops reading may still send a response: 413, then it closes.
    Result<bool> flush_up() {
        if (m_up.empty()) return false;
        const net::IoStep step = m_upstream.try_write(m_up);
        if (step.state == net::Io::done) {
            m_up.erase(0, step.bytes);
            if (m_up.empty() && m_switched && m_request_done) m_upstream.shut_down_writing();
            return true;
        }
        if (step.state == net::Io::want_read || step.state == net::Io::want_write) return false;
        m_upstream_deaf = true;
        m_up.clear();
        return true;
    }

    Result<bool> take_request() {
        std::array<char, piece_bytes> piece;
        const net::IoStep step = m_client.try_read(piece);
        if (step.state == net::Io::want_read || step.state == net::Io::want_write) return false;
        if (step.state != net::Io::done) {
            if (!m_switched || step.state == net::Io::failed) return unavailable("the client interrupted its request");
            m_request_done = true;
            if (m_up.empty()) m_upstream.shut_down_writing();
            return true;
        }
        const std::string_view bytes(piece.data(), step.bytes);
        std::string content;
        const size_t used = m_request_body.feed(bytes, content);
        if (m_request_body.is_failed()) return invalid("the framing of the request's body is malformed");
        m_request_done = m_request_body.is_done();
        frame(m_request.framing, content, m_request_done, m_up);
        // What follows is the next request of this connection.
        if (used < bytes.size()) m_client.buffer().insert(0, bytes.substr(used));
        m_result.sent += static_cast<int64_t>(content.size());
        if (m_result.sent > m_caps.request_bytes) return too_large("the request is larger than the run may send");
        TRY(m_attached.count_bytes(static_cast<int64_t>(bytes.size())));
        return true;
    }

    Result<bool> take_response() {
        std::array<char, piece_bytes> piece;
        const net::IoStep step = m_upstream.try_read(piece);
        if (step.state == net::Io::want_read || step.state == net::Io::want_write) return false;
        if (step.state != net::Io::done) {
            TRY(end_response(step.state == net::Io::closed));
            return true;
        }
        const std::string_view bytes(piece.data(), step.bytes);
        TRY(m_attached.count_bytes(static_cast<int64_t>(bytes.size())));
        if (m_head_done)
            TRY(take_content(bytes));
        else
            TRY(take_head(bytes));
        return true;
    }

    Result<> end_response(bool proper) {
        if (!m_head_done) return unavailable("the server closed the connection without a response");
        const bool cut = m_attached.cancel().fired() || (m_options.was_cut && m_options.was_cut());
        if (!proper || cut || !m_response_body.finish_at_end()) {
            flush_held(false);
            drain_down();
            return unavailable("the server interrupted its response");
        }
        flush_held(true);
        m_response_done = true;
        return {};
    }

    // The received part of an interrupted response is still sent to the client.
    void drain_down() {
        m_result.responded |= !m_down.empty(); // also when only a part of it gets through
        static_cast<void>(m_client.write(m_down, Deadline::after(std::chrono::seconds(5))));
        m_down.clear();
    }

    Result<> take_head(std::string_view bytes) {
        m_head += bytes;
        const auto outcome = m_scanner.scan(m_head, {});
        if (outcome == net::HeadScanner::Outcome::more) return {};
        if (outcome == net::HeadScanner::Outcome::bad)
            return unavailable("the server's response is malformed: " + m_scanner.error().message);
        const size_t size = m_scanner.size();
        auto parsed = parse_response_head(std::string_view(m_head).substr(0, size), m_request.method);
        if (!parsed.ok()) return unavailable("the server's response is malformed: " + parsed.error().message);
        m_response = std::move(parsed).value();
        const std::string rest = m_head.substr(size);
        m_head.clear();
        m_scanner = {};
        if (m_response.status < 200 && m_response.status != 101) {
            if (!m_request.http_1_0) TRY(pass_head());
            return rest.empty() ? Result<>() : take_head(rest);
        }
        m_head_done = true;
        m_result.status = m_response.status;
        TRY(pass_head());
        if (m_response.status == 101) return switch_protocols(rest);
        m_response_body = net::BodyDecoder(m_response.framing, m_response.length);
        if (m_options.redactor) m_redacted = std::make_unique<RedactedStream>(*m_options.redactor);
        return take_content(rest);
    }

    Result<> switch_protocols(std::string_view rest) {
        if (m_request.upgrade != "websocket") return unavailable("the server switched protocols without a request");
        m_switched = true;
        m_request_done = false;
        m_request_body = net::BodyDecoder(Framing::until_close, 0);
        m_down_framing = Framing::until_close;
        m_response_body = net::BodyDecoder(Framing::until_close, 0);
        if (m_options.redactor) m_redacted = std::make_unique<RedactedStream>(*m_options.redactor);
        return take_content(rest);
    }

    Result<> pass_head() {
        ResponseHead head = m_response;
        remove_hop_headers(head.headers);
        remove_header(head.headers, "alt-svc"); // other doors are closed from inside
        // Before the status is read: clients keep cookies of interim responses too.
        if (m_options.drops_cookies)
            for (const char* name : {"set-cookie", "set-cookie2"}) remove_header(head.headers, name);
        if (head.status == 101) {
            head.headers.push_back({"Connection", "Upgrade"});
            head.headers.push_back({"Upgrade", m_request.upgrade});
        } else if (head.status >= 200) {
            if (m_options.on_response) TRY(m_options.on_response(head));
            if (head.framing == Framing::length && head.length > static_cast<uint64_t>(m_caps.response_bytes))
                return too_large("the response is larger than the run may receive");
            if (head.framing == Framing::chunked && m_request.http_1_0) head.framing = Framing::until_close;
            m_down_framing = head.framing;
            const bool stays = m_request.keep_alive && head.framing != Framing::until_close;
            if (!stays)
                head.headers.push_back({"Connection", "close"});
            else if (m_request.http_1_0)
                head.headers.push_back({"Connection", "keep-alive"});
        }
        if (m_options.redactor) {
            m_options.redactor->redact(head.reason);
            for (Header& header : head.headers) m_options.redactor->redact(header.value);
        }
        m_down += write_response_head(head);
        return {};
    }

    Result<> take_content(std::string_view bytes) {
        std::string content;
        m_response_body.feed(bytes, content);
        if (m_response_body.is_failed()) {
            drain_down();
            return unavailable("the framing of the response's body is malformed");
        }
        m_response_done = m_response_body.is_done();
        m_result.received += static_cast<int64_t>(content.size());
        if (m_result.received > m_caps.response_bytes)
            return too_large("the response is larger than the run may receive");
        if (m_redacted) {
            m_redacted->feed(content);
            if (m_response_done) m_redacted->finish(content);
        }
        frame(m_down_framing, content, m_response_done, m_down);
        return {};
    }

    // The rest of a response that ends with its connection.
    void flush_held(bool last) {
        std::string rest;
        if (m_redacted) m_redacted->finish(rest);
        frame(m_down_framing, rest, last, m_down);
    }

    AttachedRun& m_attached;
    Channel& m_client;
    Channel& m_upstream;
    const RequestHead& m_request;
    const ExchangeOptions& m_options;
    const Caps m_caps;

    net::BodyDecoder m_request_body;
    bool m_request_done;
    bool m_upstream_deaf = false;
    std::string m_up; // to the server

    net::HeadScanner m_scanner;
    std::string m_head;
    ResponseHead m_response;
    bool m_head_done = false;
    bool m_switched = false;
    net::BodyDecoder m_response_body;
    std::unique_ptr<RedactedStream> m_redacted;
    bool m_response_done = false;
    Framing m_down_framing = Framing::none;
    std::string m_down; // to the client

    ExchangeResult m_result;
};

} // namespace

ExchangeResult run_exchange(AttachedRun& attached, Channel& client, Channel& upstream, const RequestHead& request,
                            const ExchangeOptions& options) {
    return Exchange(attached, client, upstream, request, options).run();
}

} // namespace hone::broker
