#include "broker/gateway/own_call.h"

#include "base/log.h"
#include "broker/wire/http_head.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <thread>

namespace hone::broker {

namespace {

// The gateway's side of the connection, on a thread of its own. Ends when the other side is closed.
class GatewaySide {
public:
    GatewaySide(Gateway& gateway, AttachedRun& attached, const OwnCall& call, Fd socket)
        : m_thread([&gateway, &attached, &call, descriptor = std::move(socket)]() mutable {
              try {
                  Channel channel(net::Socket(std::move(descriptor)), attached.cancel());
                  gateway.serve_own(attached, channel, call);
                  channel.close();
              } catch (const std::exception& error) {
                  log(Level::error, "a model call failed", {{"owner", attached.run_id()}, {"error", error.what()}});
              }
          }) {}
    ~GatewaySide() { m_thread.join(); }
    GatewaySide(const GatewaySide&) = delete;
    GatewaySide& operator=(const GatewaySide&) = delete;

private:
    std::thread m_thread;
};

std::string request_text(const OwnRequest& request) {
    RequestHead head;
    head.method = "POST";
    head.headers = {{"host", "gateway"}, {"content-type", "application/json"}, {"connection", "close"}};
    if (request.path.starts_with("/anthropic/")) head.headers.push_back({"anthropic-version", "2023-06-01"});
    head.framing = Framing::length;
    head.length = request.body.size();
    return write_request_head(head, request.path) + request.body;
}

Result<OwnResponse> exchange(Channel& channel, const OwnRequest& request) {
    const Deadline deadline = Deadline::after(request.timeout);
    TRY(channel.write(request_text(request), deadline));
    const auto head = TRY(read_response(channel, "POST", deadline));
    if (!head) return unavailable("the gateway closed the connection");
    OwnResponse response;
    response.status = head->status;
    response.content_type = header_value(head->headers, "content-type");
    response.retry_after = header_value(head->headers, "retry-after");
    const bool is_watched = request.watch && head->status >= 200 && head->status < 300;
    net::BodyDecoder decoder(head->framing, head->length);
    while (!decoder.is_done()) {
        if (channel.buffer().empty() && !TRY(channel.fill(deadline))) {
            if (decoder.finish_at_end()) break;
            return unavailable("the response was interrupted");
        }
        channel.buffer().erase(0, decoder.feed(channel.buffer(), response.body));
        if (decoder.is_failed()) return unavailable("the response is malformed");
        if (response.body.size() > request.most_bytes)
            return too_large("the response has more than " + std::to_string(request.most_bytes >> 20) + " MiB");
        if (is_watched && !request.watch(response.content_type, response.body))
            return conflict("the call was ended by its receiver");
    }
    return response;
}

} // namespace

Result<OwnResponse> send_own(Gateway& gateway, AttachedRun& attached, const OwnRequest& request, const Cancel& cancel) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return system_error("socketpair", errno);
    Fd near(ends[0]), far(ends[1]);
    const GatewaySide other(gateway, attached, request.call, std::move(far)); // joined after `channel` is closed
    Channel channel(net::Socket(std::move(near)), cancel);
    auto response = exchange(channel, request);
    channel.close();
    return response;
}

} // namespace hone::broker
