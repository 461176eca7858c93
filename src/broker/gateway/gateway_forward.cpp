#include "base/status.h"
#include "base/text.h"
#include "broker/egress/placeholder.h"
#include "broker/gateway/gateway_pipe.h"
#include "broker/gateway/gateway_state.h"

namespace hone::broker {

namespace {

struct Forward {
    std::string_view prefix; // of the gateway's path
    std::string_view target; // what stands for it at the server
};
// /api/v1/runs -> /v1/runs, /otlp/v1/traces -> /v1/traces; the others keep their place.
constexpr Forward forwards[] = {{"/api/v1/", "/v1/"}, {"/otlp/v1/", "/v1/"}, {"/mcp", "/mcp"}};

const Forward* find_forward(std::string_view path) {
    for (const Forward& forward : forwards) {
        if (!path.starts_with(forward.prefix)) continue;
        const std::string_view rest = path.substr(forward.prefix.size());
        if (forward.prefix.ends_with('/') || rest.empty() || rest.front() == '?') return &forward;
    }
    return nullptr;
}

// The server must treat the request as one of the run.
constexpr std::string_view stripped[] = {"authorization",    "cookie",    "x-api-key",       "api-key",
                                         "forwarded",        "via",       "x-forwarded-for", "x-forwarded-proto",
                                         "x-forwarded-host", "x-real-ip", "content-length",  "expect"};

const std::string idle_key = "server";
constexpr std::string_view key_variable = "HONE_API_KEY";
constexpr std::string_view tool_limit_message =
    "the tool took longer than the time limit of the run's preset (sandbox.tool_seconds)";

} // namespace

bool ForwardExchange::covers(std::string_view path) {
    return find_forward(path) != nullptr;
}

bool ForwardExchange::refuse(int status, std::string_view code, std::string_view message) {
    static_cast<void>(
        m_client.write(refusal(status, code, message), Deadline::after(m_gateway.m_options.idle_timeout)));
    end_politely(m_client);
    return false;
}

// Sends the head; the run's key is in no other memory than this text and the run's state.
Result<> ForwardExchange::send_head(const RequestHead& head) {
    const Forward& forward = *find_forward(head.path);
    RequestHead sent = head;
    remove_hop_headers(sent.headers);
    for (const std::string_view name : stripped) remove_header(sent.headers, name);
    set_header(sent.headers, "host", m_gateway.m_upstream->host());
    const std::string target = std::string(forward.target) + head.path.substr(forward.prefix.size());
    std::string text = write_request_head(sent, target);
    const std::string_view key = m_skill_key ? m_skill_key->value.reveal() : m_run.run.run_key.reveal();
    text.reserve(text.size() + key.size() + 32);
    text.resize(text.size() - 2); // before the empty line
    text.append("authorization: Bearer ").append(key).append("\r\n\r\n");
    const auto written = m_other->write(text, Deadline::after(m_gateway.m_options.idle_timeout));
    crypto::wipe(text);
    return written;
}

// With the hone skill a worker reads what the key can read, by sending its placeholder. Everything else goes with the
// run's own key, whatever the request carries.
Result<> ForwardExchange::take_skill_key(const RequestHead& head) {
    const std::string_view sent = header_value(head.headers, "authorization");
    const auto policy = m_attached.policy();
    for (const skill::Credential& credential : policy->grant().credentials) {
        if (credential.variable != key_variable || !credential.brokered || sent.empty()) continue;
        const std::string placeholder = TRY(m_attached.placeholders().of(credential));
        if (sent.find(placeholder) == sent.npos) continue;
        if (head.method != "GET" && head.method != "HEAD")
            return forbidden("the key of the hone skill only reads: " + head.method + " is not passed on with it");
        auto opened = TRY(m_run.credential(m_attached, credential.secret_id, m_gateway.m_options.secret_lifetime));
        if (!m_run.run.check_key) return forbidden("this run cannot use a key of a hone skill");
        TRY(m_run.run.check_key(opened->value.reveal()));
        Decision decision;
        decision.time = m_gateway.m_clock.now();
        decision.run_id = m_attached.run_id();
        decision.allowed = true;
        decision.method = head.method;
        decision.target = {"hone", 0, false};
        decision.path = std::string(head.path_without_query());
        decision.rule = "hone skill";
        decision.reason = "the key of the run's hone skill reads";
        decision.secret_names = {credential.secret_name};
        TRY(m_attached.decided(decision));
        m_skill_key = std::move(opened);
        return {};
    }
    return {};
}

// Passes the request's body on as it comes.
Result<> ForwardExchange::send_body(const RequestHead& head) {
    const Duration idle = m_gateway.m_options.idle_timeout;
    const auto limit = static_cast<uint64_t>(m_attached.caps().request_bytes);
    if (head.expects_continue && head.framing != Framing::none)
        TRY(m_client.write("HTTP/1.1 100 Continue\r\n\r\n", Deadline::after(idle)));
    net::BodyDecoder decoder(head.framing, head.length);
    uint64_t total = 0;
    std::string content, framed;
    while (!decoder.is_done()) {
        if (m_client.buffer().empty() && !TRY(m_client.fill(Deadline::after(idle), 64 << 10)))
            return conflict("the request was interrupted");
        content.clear();
        framed.clear();
        m_client.buffer().erase(0, decoder.feed(m_client.buffer(), content));
        if (decoder.is_failed()) return invalid("the request's body is not framed properly");
        total += content.size();
        if (total > limit) return too_large("the request is too large");
        TRY(m_attached.count_bytes(static_cast<int64_t>(content.size())));
        frame(head.framing, content, decoder.is_done(), framed);
        TRY(m_other->write(framed, Deadline::after(idle)));
    }
    return {};
}

// A call of a tool ends in time, whether its response has begun or not.
Duration ForwardExchange::time_left(const RequestHead& head, Duration otherwise) const {
    if (m_run.run.tool_timeout == Duration{} || head.path_without_query() != "/mcp" || head.method != "POST")
        return otherwise;
    return std::max(Duration(std::chrono::milliseconds(1)),
                    m_began + m_run.run.tool_timeout - m_gateway.m_clock.steady());
}

Result<ResponseHead> ForwardExchange::reach(const RequestHead& head) {
    const GatewayOptions& options = m_gateway.m_options;
    m_began = m_gateway.m_clock.steady();
    // Only a request without a body can be sent once more, so only such a one may meet a connection that just ended.
    if (head.framing == Framing::none) m_other = m_run.take_idle(idle_key, m_gateway.m_clock.steady());
    const bool is_reused = m_other.has_value();
    if (!is_reused) m_other = TRY(m_gateway.m_upstream->connect(m_attached.cancel()));
    const auto sent_head = send_head(head);
    auto sent = sent_head.ok() ? send_body(head) : sent_head;
    if (!sent.ok() && sent.error().code != Code::unavailable) return sent.error();
    // Also after a failed write: the server may refuse a request before it has read it.
    auto response = await_response(*m_other, m_client, head.method, time_left(head, options.response_timeout),
                                   options.idle_timeout);
    if (response.ok() || !is_reused || response.error().code != Code::unavailable) return response;
    m_other = TRY(m_gateway.m_upstream->connect(m_attached.cancel()));
    TRY(send_head(head));
    return await_response(*m_other, m_client, head.method, time_left(head, options.response_timeout),
                          options.idle_timeout);
}

bool ForwardExchange::serve_request(RequestHead& head) {
    const GatewayOptions& options = m_gateway.m_options;
    if (m_gateway.m_upstream == nullptr || m_run.run.run_key.empty())
        return refuse(403, "forbidden", "this run has no key for Hone's own API");
    if (!head.upgrade.empty()) return refuse(400, "invalid", "the gateway does not switch protocols");
    if (head.method == "TRACE" || head.method == "CONNECT")
        return refuse(405, "not_allowed", "not a method of the gateway");
    if (is_ambiguous_path(head.path_without_query())) return refuse(400, "invalid", "the path is ambiguous");

    // 407 is about the credentials of a proxy; this is the API.
    if (const auto taken = take_skill_key(head); !taken.ok())
        return refuse(taken.error().code == Code::unauthorized ? http_status(Code::forbidden)
                                                               : status_of(taken.error()),
                      code_name(taken.error().code), taken.error().message);
    auto reached = reach(head);
    if (!reached.ok()) {
        const Error& error = reached.error();
        if (error.code == Code::conflict) return false;
        if (error.code == Code::busy && time_left(head, options.response_timeout) < options.response_timeout)
            return refuse(status_of(error), code_name(error.code), tool_limit_message);
        return refuse(status_of(error), code_name(error.code), error.message);
    }
    const ResponseHead& response = reached.value();
    ResponseHead passed = response;
    remove_hop_headers(passed.headers);
    remove_header(passed.headers, "set-cookie");
    remove_header(passed.headers, "set-cookie2");
    remove_header(passed.headers, "content-length");
    const bool keep = head.keep_alive && !head.http_1_0;
    if (passed.framing == Framing::until_close) passed.framing = Framing::chunked;
    if (head.http_1_0 && passed.framing == Framing::chunked) passed.framing = Framing::until_close;
    if (!keep) passed.headers.push_back({"connection", "close"});
    if (!m_client.write(write_response_head(passed), Deadline::after(options.idle_timeout)).ok()) return false;
    const PipeEnd end =
        pipe_body(*m_other, m_client, response, passed.framing, options.idle_timeout, [&](std::string& piece, bool) {
            const bool in_time = time_left(head, std::chrono::hours(1)) > std::chrono::milliseconds(1);
            return in_time && m_attached.count_bytes(static_cast<int64_t>(piece.size())).ok();
        });
    if (end != PipeEnd::whole) return false;
    if (response.keep_alive && m_other->buffer().empty())
        m_run.keep_idle(idle_key, std::move(*m_other), m_gateway.m_clock.steady() + options.reuse_for);
    return keep;
}

} // namespace hone::broker
