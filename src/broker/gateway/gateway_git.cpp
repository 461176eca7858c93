// /git/REPO of the gateway: the frame of git's smart HTTP protocol. The data of git itself passes through as it
// is; which repositories there are, and what may be pushed, is the GitService's business.
#include "base/text.h"
#include "broker/egress/policy.h"
#include "broker/gateway/gateway_pipe.h"
#include "broker/gateway/gateway_state.h"

#include <array>

namespace hone::broker {

namespace {

constexpr std::string_view prefix = "/git/";
constexpr std::string_view upload = "git-upload-pack";
constexpr std::string_view receive = "git-receive-pack";
constexpr size_t read_step = 64 << 10;

// The request that the path names; nothing when it is not one of git's.
std::optional<GitCall> read_call(const RequestHead& head) {
    std::string_view path = head.path_without_query();
    const std::string_view query = std::string_view(head.path).substr(std::min(head.path.size(), path.size() + 1));
    path.remove_prefix(prefix.size());
    GitCall call;
    const size_t slash = path.find('/');
    if (slash == std::string_view::npos || slash == 0) return std::nullopt;
    std::string_view name = path.substr(0, slash);
    if (name.ends_with(".git")) name.remove_suffix(4);
    call.repo = name;
    const std::string_view rest = path.substr(slash + 1);
    if (rest == "info/refs" && head.method == "GET") {
        call.advertise = true;
        call.pushes = query == "service=git-receive-pack";
        if (!call.pushes && query != "service=git-upload-pack") return std::nullopt;
        return call;
    }
    if (head.method != "POST" || !query.empty()) return std::nullopt;
    call.pushes = rest == receive;
    if (!call.pushes && rest != upload) return std::nullopt;
    return call;
}

} // namespace

bool GitGate::covers(std::string_view path) {
    return path.starts_with(prefix);
}

// Git's client prints a plain text for its user.
bool GitGate::refuse(int status, const std::string& message) {
    static_cast<void>(send_response(m_client, status, "text/plain; charset=utf-8", message + "\n", true,
                                    m_gateway.m_options.idle_timeout));
    end_politely(m_client);
    return false;
}

// The client must not take a broken pack for a whole one.
bool GitGate::reset_connection() {
    m_client.reset_connection();
    return false;
}

// Passes the request's body on as it comes.
Result<> GitGate::take_body(const RequestHead& head, GitResponse& response) {
    const Duration idle = m_gateway.m_options.idle_timeout;
    if (head.expects_continue && head.framing != Framing::none)
        TRY(m_client.write("HTTP/1.1 100 Continue\r\n\r\n", Deadline::after(idle)));
    net::BodyDecoder decoder(head.framing, head.length);
    std::string content;
    while (!decoder.is_done()) {
        if (m_client.buffer().empty() && !TRY(m_client.fill(Deadline::after(idle), read_step)))
            return conflict("the request was interrupted");
        content.clear();
        m_client.buffer().erase(0, decoder.feed(m_client.buffer(), content));
        if (decoder.is_failed()) return invalid("the request's body is not framed properly");
        TRY(m_attached.count_bytes(static_cast<int64_t>(content.size())));
        if (!content.empty()) TRY(response.write(content));
    }
    return response.finish();
}

bool GitGate::serve_request(const RequestHead& head) {
    const Duration idle = m_gateway.m_options.idle_timeout;
    if (m_gateway.m_git == nullptr) return refuse(503, "this server has no repositories for workers");
    if (is_ambiguous_path(head.path_without_query())) return refuse(400, "the path is ambiguous");
    auto call = read_call(head);
    if (!call)
        return refuse(404,
                      "this is not an address of a repository; git clone " + std::string(gateway_git_url) + "NAME");
    const std::string_view service = call->pushes ? receive : upload;
    call->run_id = m_attached.run_id();
    call->protocol = header_value(head.headers, "git-protocol");
    call->stopped = [this] { return m_attached.cancel().fired(); };
    const std::string_view encoding = header_value(head.headers, "content-encoding");
    call->gzip = encoding == "gzip" || encoding == "x-gzip";
    if (!call->gzip && !encoding.empty() && encoding != "identity")
        return refuse(415, "this content-encoding is not supported");
    const std::string request_type = "application/x-" + std::string(service) + "-request";
    if (!call->advertise && header_value(head.headers, "content-type") != request_type)
        return refuse(415, "the body must be " + request_type);

    auto served = m_gateway.m_git->serve(*call);
    if (!served.ok()) return refuse(status_of(served.error()), served.error().message);
    GitResponse& response = *served.value();
    const auto taken = take_body(head, response);
    if (!taken.ok()) return refuse(status_of(taken.error(), Part::body), taken.error().message);
    auto piece = response.read();
    if (!piece.ok()) return refuse(status_of(piece.error()), piece.error().message);

    ResponseHead passed;
    passed.status = 200;
    passed.reason = "OK";
    passed.headers = {
        {"Content-Type", "application/x-" + std::string(service) + (call->advertise ? "-advertisement" : "-result")},
        {"Cache-Control", "no-cache"}};
    const bool keep = head.keep_alive && !head.http_1_0;
    passed.framing = head.http_1_0 ? Framing::until_close : Framing::chunked;
    if (!keep) passed.headers.push_back({"connection", "close"});
    std::string before = write_response_head(passed);
    while (piece.ok() && !piece.value().empty()) {
        const bool chunked = passed.framing == Framing::chunked;
        if (chunked) before += chunk_start(piece.value().size());
        if (!m_attached.count_bytes(static_cast<int64_t>(piece.value().size())).ok()) return reset_connection();
        // Packs are large: no copy only to put their frame around them.
        std::array<std::string_view, 3> parts{before, piece.value(), chunked ? "\r\n" : ""};
        if (!m_client.write_all(parts, Deadline::after(idle)).ok()) return reset_connection();
        before.clear();
        piece = response.read();
    }
    if (!piece.ok()) return reset_connection();
    frame(passed.framing, {}, true, before);
    return m_client.write(before, Deadline::after(idle)).ok() && keep;
}

} // namespace hone::broker
