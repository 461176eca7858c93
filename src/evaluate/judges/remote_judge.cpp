// Evaluators of kind remote: the document goes to a service of the user by a signed POST. The address is checked and
// the connection goes to the checked one; redirects are not followed.
#include "base/text.h"
#include "crypto/crypto.h"
#include "crypto/hmac.h"
#include "evaluate/content/canonical.h"
#include "evaluate/evaluators/verdict.h"
#include "evaluate/judges/judge.h"
#include "net/client/address_range.h"
#include "net/http/url.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::evaluate {

namespace {

constexpr size_t largest_remote_document = 5 << 20;
constexpr size_t largest_remote_reply = 256 << 10;
constexpr Duration shortest_wait = std::chrono::seconds(1);
constexpr Duration longest_wait = std::chrono::minutes(5);

JudgeOutcome remote_failure(JudgeReason reason, std::string why, bool is_temporary = false) {
    JudgeOutcome outcome;
    outcome.reason = reason;
    outcome.error = std::move(why);
    outcome.is_temporary = is_temporary;
    return outcome;
}

// "host:port" of the first address; forbidden: one of them is private and not allowed.
Result<std::string> checked_remote_address(const std::string& url, RemoteAccess& remote) {
    const net::Url parsed = TRY(net::parse_url(url));
    const bool allows_private = remote.allows_private(parsed.host, parsed.port);
    const auto reach = allows_private ? net::Reach::also_private : net::Reach::public_only;
    const auto endpoints = TRY(net::resolve(parsed.host, parsed.port));
    if (endpoints.empty()) return unavailable(parsed.host + " has no address");
    for (const net::Endpoint& endpoint : endpoints) {
        auto why = net::refused_range(endpoint, reach);
        if (!why && !allows_private && net::is_own_address(endpoint)) why = "address of this machine";
        if (why)
            return forbidden(fmt::format("{} is at a {}; an owner of the installation can allow it with "
                                         "egress_private_hosts",
                                         parsed.host, *why));
    }
    return endpoints.front().text;
}

Duration wait_of(const json::Value& seconds) {
    if (!seconds.is_number()) return longest_wait;
    const double given = std::clamp(seconds.to_number<double>(), 0.0, 3600.0);
    return std::clamp(Duration(static_cast<int64_t>(given * 1e9)), shortest_wait, longest_wait);
}

Duration wait_of_header(std::string_view text) {
    const auto seconds = parse_integer(trim(text));
    if (!seconds.ok() || seconds.value() < 0) return {};
    return std::clamp(Duration(std::chrono::seconds(std::min<int64_t>(seconds.value(), 3600))), shortest_wait,
                      longest_wait);
}

std::string body_start(const net::ClientResponse& response) {
    return repair_utf8(truncate_utf8(trim(response.body), 300));
}

JudgeOutcome read_remote_reply(const OutputConfig& output, const std::string& name,
                               const net::ClientResponse& response) {
    const int status = response.status;
    if (status == 202) {
        auto body = json::parse(response.body);
        const json::Value* seconds =
            body.ok() && body.value().is_object() ? body.value().get_object().if_contains("retry_after") : nullptr;
        auto outcome = remote_failure(JudgeReason::provider, "the service has no verdict yet", true);
        outcome.is_pending = true;
        outcome.retry_after = seconds != nullptr ? wait_of(*seconds) : std::chrono::seconds(30);
        return outcome;
    }
    if (status < 200 || status > 299) {
        const bool is_temporary = status == 429 || status >= 500;
        const bool is_rejected = status == 401 || status == 403;
        auto outcome =
            remote_failure(is_rejected ? JudgeReason::rejected : JudgeReason::provider,
                           fmt::format("the service responded with status {}{}: {}", status,
                                       status / 100 == 3 ? " (redirects are not followed)" : "", body_start(response)),
                           is_temporary);
        outcome.retry_after = wait_of_header(response.header("Retry-After"));
        return outcome;
    }
    const auto body = json::parse(response.body);
    if (!body.ok())
        return remote_failure(JudgeReason::unparsable,
                              "the response of the service is not JSON: " + body_start(response));
    auto verdict = verdict_of(output, body.value(), name);
    if (!verdict.ok()) return remote_failure(JudgeReason::off_config, verdict.error().message);
    JudgeOutcome outcome;
    outcome.verdict = std::move(verdict).value();
    return outcome;
}

} // namespace

JudgeOutcome Judges::judge_remote(const JudgeRequest& request) {
    const RemoteDefinition& remote = *request.version.remote;
    if (m_parts.remote == nullptr)
        return remote_failure(JudgeReason::unavailable, "this server calls no remote evaluators");
    auto arguments = arguments_of(*remote.mapping, request.document);
    if (!arguments.ok()) return remote_failure(JudgeReason::missing_variable, arguments.error().message);
    const auto secret = m_parts.remote->signing_secret(request.version.space_id, request.version.evaluator_id);
    if (!secret.ok())
        return remote_failure(JudgeReason::rejected,
                              "the evaluator has no signing secret: POST /v1/evaluators/{evaluator}/signing_secret "
                              "makes one");
    const auto address = checked_remote_address(remote.url, *m_parts.remote);
    if (!address.ok()) {
        const bool is_forbidden = address.error().code == Code::forbidden;
        return remote_failure(is_forbidden ? JudgeReason::rejected : JudgeReason::provider, address.error().message,
                              !is_forbidden);
    }
    const std::string job =
        !request.job.empty()
            ? request.job
            : to_hex(crypto::hash(fmt::format("{}\n{}\n{}\n{}", request.owner, request.version.content_hash,
                                              request.repetition, canonical_text(request.document))));
    json::Object target{{"kind", request.target.kind.empty() ? "document" : request.target.kind},
                        {"id", request.target.id},
                        {"project", request.target.project_name}};
    json::Object body{{"job", job},
                      {"evaluator", request.version.name},
                      {"version", request.version.number},
                      {"target", std::move(target)}};
    body["document"] = std::move(arguments).value();
    net::ClientRequest outgoing;
    outgoing.method = "POST";
    outgoing.url = remote.url;
    outgoing.body = json::print(body);
    if (outgoing.body.size() > largest_remote_document)
        return remote_failure(JudgeReason::too_large, "the document has more than 5 MiB");
    const std::string time = to_text(m_parts.clock.now());
    outgoing.headers = {
        {"Content-Type", "application/json"},
        {"Accept", "application/json"},
        {"X-Hone-Time", time},
        {"X-Hone-Signature", "v1=" + to_hex(crypto::hmac_sha256(secret.value(), time + "." + outgoing.body))},
        {"Idempotency-Key", job}};
    outgoing.connect_to = address.value();
    outgoing.max_response_bytes = largest_remote_reply;
    outgoing.total_timeout = std::chrono::milliseconds(*remote.timeout_ms);
    outgoing.cancel = &m_cancel;
    const Duration began = m_parts.clock.steady();
    const auto response = m_client.send(outgoing);
    JudgeOutcome outcome;
    if (!response.ok()) {
        if (m_cancel.is_cancelled()) return remote_failure(JudgeReason::stopped, "the server stops", true);
        if (response.error().code == Code::too_large)
            outcome = remote_failure(JudgeReason::too_large, "the response of the service has more than 256 KiB");
        else
            outcome = remote_failure(response.error().code == Code::busy ? JudgeReason::timeout : JudgeReason::provider,
                                     "the request failed: " + response.error().message, true);
    } else {
        outcome = read_remote_reply(*remote.output, request.version.name, response.value());
    }
    outcome.duration_ms = std::chrono::duration_cast<std::chrono::milliseconds>(m_parts.clock.steady() - began).count();
    return outcome;
}

} // namespace hone::evaluate
