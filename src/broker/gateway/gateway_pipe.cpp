#include "broker/gateway/gateway_pipe.h"

#include "base/text.h"

#include <array>
#include <poll.h>

namespace hone::broker {

namespace {

constexpr size_t read_bytes = 64 << 10;
// Buffer of a response: small for a stream that waits for its model, larger for one that arrives faster than it is
// sent.
constexpr size_t least_piece = 16 << 10, most_piece = 256 << 10;

bool is_disconnected(const pollfd& client) {
    return (client.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

// As `frame`, without a copy of the piece.
Result<> write_framed(Channel& client, Framing framing, std::string_view piece, bool last, Deadline deadline) {
    if (framing != Framing::chunked) return client.write(piece, deadline);
    std::string before, after;
    if (!piece.empty()) {
        before = chunk_start(piece.size());
        after = "\r\n";
    }
    if (last) after += last_chunk;
    std::array<std::string_view, 3> pieces{before, piece, after};
    return client.write_all(pieces, deadline);
}

// All that is there and fits. TLS gives a record of 16 KiB at a time; one write for each would be many.
size_t read_more(Channel& other, std::span<char> into, net::IoStep& last) {
    size_t filled = 0;
    do {
        last = other.try_read(into.subspan(filled));
        filled += last.bytes;
    } while (last.state == net::Io::done && other.is_tls() && filled < into.size());
    return filled;
}

PipeEnd pass_body(Channel& other, Channel& client, const ResponseHead& head, Framing to_client, Duration idle,
                  const TakePiece& take) {
    net::BodyDecoder decoder(head.framing, head.length);
    std::vector<char> buffer(least_piece);
    std::string content;
    const auto pass = [&](bool last) {
        if (!take(content, last)) return PipeEnd::refused;
        const bool sent = write_framed(client, to_client, content, last, Deadline::after(idle)).ok();
        return sent ? PipeEnd::whole : PipeEnd::client_gone;
    };
    while (!decoder.is_done()) {
        net::IoStep step;
        const std::string_view read(buffer.data(), read_more(other, buffer, step));
        if (!read.empty()) {
            content.clear();
            const size_t used = decoder.feed(read, content);
            if (used < read.size()) other.buffer().insert(0, read.substr(used)); // makes the connection stale
            if (decoder.is_done()) return pass(true);
            if (!content.empty())
                if (const PipeEnd end = pass(false); end != PipeEnd::whole) return end;
            if (decoder.is_failed()) return PipeEnd::cut;
            if (read.size() == buffer.size() && buffer.size() < most_piece) buffer.resize(buffer.size() * 2);
        }
        if (step.state == net::Io::want_read || step.state == net::Io::want_write) {
            const auto waited = wait_for_other(other, client, Deadline::after(idle));
            if (!waited.ok()) return waited.error().code == Code::conflict ? PipeEnd::client_gone : PipeEnd::cut;
        } else if (step.state == net::Io::closed && decoder.finish_at_end()) {
            break;
        } else if (step.state != net::Io::done) {
            return PipeEnd::cut;
        }
    }
    content.clear();
    return pass(true);
}

} // namespace

Result<std::string> read_whole_body(Channel& client, const RequestHead& head, size_t limit, Duration idle) {
    if (head.framing == Framing::length && head.length > limit) return too_large("the request is too large");
    if (head.expects_continue && head.framing != Framing::none)
        TRY(client.write("HTTP/1.1 100 Continue\r\n\r\n", Deadline::after(idle)));
    std::string body;
    if (head.framing == Framing::length) body.reserve(head.length);
    net::BodyDecoder decoder(head.framing, head.length);
    while (!decoder.is_done()) {
        if (client.buffer().empty() && !TRY(client.fill(Deadline::after(idle), read_bytes)))
            return unavailable("the request was interrupted");
        const size_t used = decoder.feed(client.buffer(), body);
        client.buffer().erase(0, used);
        if (decoder.is_failed()) return invalid("the request's body is not framed properly");
        if (body.size() > limit) return too_large("the request is too large");
    }
    return body;
}

Result<> send_response(Channel& client, int status, std::string_view content_type, std::string_view body, bool close,
                       Duration idle, const std::vector<Header>& more) {
    ResponseHead head;
    head.status = status;
    head.headers = more;
    head.headers.push_back({"content-type", std::string(content_type)});
    if (close) head.headers.push_back({"connection", "close"});
    head.framing = Framing::length;
    head.length = body.size();
    return client.write(write_response_head(head) + std::string(body), Deadline::after(idle));
}

void end_politely(Channel& client) {
    client.shut_down_writing();
    const Deadline deadline = Deadline::after(std::chrono::seconds(1));
    std::array<char, 16 << 10> scrap;
    for (size_t drained = 0; drained < (4 << 20);) {
        const auto count = client.read(scrap, deadline);
        if (!count.ok() || count.value() == 0) return;
        drained += count.value();
    }
}

Result<> wait_for_other(Channel& other, const Channel& client, Deadline deadline) {
    std::array<pollfd, 2> polled{{{other.descriptor(), POLLIN, 0}, {client.descriptor(), POLLRDHUP, 0}}};
    TRY(wait_any(polled, client.cancel(), deadline));
    if (polled[0].revents == 0 && is_disconnected(polled[1])) return conflict("the client disconnected");
    return {};
}

bool has_left(const Channel& client) {
    pollfd polled{client.descriptor(), POLLRDHUP, 0};
    return ::poll(&polled, 1, 0) == 1 && is_disconnected(polled);
}

Result<ResponseHead> await_response(Channel& other, const Channel& client, std::string_view method, Duration first_byte,
                                    Duration idle) {
    constexpr int most_interim = 8;
    for (int i = 0; i < most_interim; ++i) {
        if (other.buffer().empty()) {
            char first = 0; // of a response directly after an interim one, which TLS has read ahead
            if (other.try_read({&first, 1}).state == net::Io::done)
                other.buffer() += first;
            else
                TRY(wait_for_other(other, client, Deadline::after(first_byte)));
        }
        auto head = TRY(read_response(other, method, Deadline::after(idle)));
        if (!head) return unavailable("the connection was closed before a response");
        if (head->status >= 200 || head->status == 101) return std::move(*head);
    }
    return unavailable("too many interim responses");
}

std::string read_some_body(Channel& other, const ResponseHead& head, size_t limit) {
    const Deadline deadline = Deadline::after(std::chrono::seconds(3));
    std::string body;
    net::BodyDecoder decoder(head.framing, head.length);
    while (!decoder.is_done() && !decoder.is_failed() && body.size() < limit) {
        if (other.buffer().empty()) {
            const auto more = other.fill(deadline, limit);
            if (!more.ok() || !more.value()) break;
        }
        other.buffer().erase(0, decoder.feed(other.buffer(), body));
    }
    body.resize(std::min(body.size(), limit));
    return body;
}

PipeEnd pipe_body(Channel& other, Channel& client, const ResponseHead& head, Framing to_client, Duration idle,
                  const TakePiece& take) {
    const PipeEnd end = pass_body(other, client, head, to_client, idle, take);
    if (end != PipeEnd::whole) client.reset_connection();
    return end;
}

} // namespace hone::broker
