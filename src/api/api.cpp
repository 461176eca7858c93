#include "api/api.h"

#include "access/accounts/agent_keys.h"
#include "api/core/cookies.h"
#include "api/core/drop_in.h"
#include "api/mcp/mcp.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/status.h"
#include "crypto/crypto.h"
#include "identity/identity.h"
#include "net/http/url.h"
#include "otlp/encode.h"
#include "run/run_services.h"
#include "telemetry/spans.h"

#include <algorithm>

namespace hone::api {

namespace {

// Previews of files that workers made are frames of this server, in a sandbox of their own.
constexpr const char* frames_of_previews = "; frame-src 'self'";
// Sounds are files of this server, or data inside of a trace; never of another server.
constexpr const char* sounds_of_pages = "; media-src 'self' data:";

constexpr std::string_view bearer = "Bearer ";

bool is_parameter(std::string_view segment) {
    return segment.starts_with('{');
}

bool is_safe(std::string_view method) {
    return method == "GET" || method == "HEAD";
}

constexpr std::string_view agent_endpoint = "/mcp";

bool is_api(std::string_view path) {
    return path.starts_with("/v1/") || path == "/v1" || path == "/openapi.json" || path == "/mcp" ||
           path == "/arize_phoenix_version" || path.starts_with("/api/v1/") || path.starts_with("/oauth/") ||
           path.starts_with("/.well-known/oauth-");
}

bool is_health(std::string_view path) {
    return path == "/healthz" || path == "/readyz" || path == "/metrics";
}

// Every response of the API has these headers.
net::Response with_headers(net::Response response) {
    net::add_security_headers(response, net::api_content_security_policy);
    if (response.header("Cache-Control").empty()) response.set_header("Cache-Control", "no-store");
    return response;
}

net::Response reading_only(std::string_view why) {
    net::Response response = net::error_response(405, "not_allowed", why);
    response.set_header("Allow", "GET, HEAD");
    return response;
}

net::Response refusal(const Error& error, const net::RequestHead& head) {
    if (error.code == Code::internal || error.code == Code::corrupt)
        log(Level::error, "request failed",
            {{"request", head.id}, {"path", head.path}, {"why", error.message}, {"trail", error.trail}});
    net::Response response = net::error_response(error);
    if (response.status == 429 || response.status == 503)
        if (response.header("Retry-After").empty()) response.set_header("Retry-After", "1");
    if (response.status == 401) response.set_header("WWW-Authenticate", "Bearer realm=\"hone\"");
    return response;
}

bool is_json(std::string_view content_type) {
    const std::string_view type = trim(content_type.substr(0, content_type.find(';')));
    return equals_ignoring_case(type, "application/json");
}

// The message of our own error envelope; none in any other body.
std::optional<std::string> message_in(const net::Response& response) {
    if (response.status < 400 || !is_json(response.content_type)) return std::nullopt;
    const auto body = json::parse(response.body);
    if (!body.ok() || !body.value().is_object()) return std::nullopt;
    const json::Value* error = body.value().get_object().if_contains("error");
    if (error == nullptr || !error->is_object()) return std::nullopt;
    const json::Value* code = error->get_object().if_contains("code");
    const json::Value* message = error->get_object().if_contains("message");
    if (code == nullptr || !code->is_string() || message == nullptr || !message->is_string()) return std::nullopt;
    return std::string(message->get_string());
}

otlp::Encoding encoding_of(const net::RequestHead& head) {
    return is_json(head.header("Content-Type")) ? otlp::Encoding::json : otlp::Encoding::protobuf;
}

// Gives an error the form of the route's protocol. What a handler refuses by itself has it already.
net::Response in_form(net::Response response, ErrorForm form, otlp::Encoding encoding) {
    if (form == ErrorForm::ours) return response;
    const auto message = message_in(response);
    if (!message) return response;
    if (form == ErrorForm::detailed) {
        json::Value body = json::parse(response.body).value();
        // An error with members of its own is read by them.
        if (body.get_object().size() > 1) return response;
        body.get_object()["detail"] = *message;
        response.body = json::print(body);
        return response;
    }
    if (form == ErrorForm::oauth) {
        const char* code = response.status < 500 ? "invalid_request" : "server_error";
        response.body = json::print(json::Object{{"error", code}, {"error_description", *message}});
        return response;
    }
    if (form == ErrorForm::json_rpc) {
        response.body = json::print(json_rpc_failure(response.status < 500 ? -32600 : -32603, *message));
        return response;
    }
    response.content_type = encoding == otlp::Encoding::json ? "application/json" : "application/x-protobuf";
    response.body = otlp::encode_status(encoding, static_cast<int>(grpc_code_of_http(response.status)), *message);
    return response;
}

// "00-<trace id>-<span id>-01" of a caller that traces its own requests.
void read_parent(std::string_view header, Operation& operation) {
    const auto parts = split(header, '-');
    const auto is_id = [](std::string_view text, size_t size) {
        return text.size() == size && text.find_first_not_of("0123456789abcdef") == text.npos &&
               text.find_first_not_of('0') != text.npos;
    };
    if (parts.size() < 4 || parts[0] != "00" || !is_id(parts[1], 32) || !is_id(parts[2], 16)) return;
    operation.trace_id = parts[1];
    operation.parent_id = parts[2];
}

// A sender that announces a body over the limit is refused before it sends it.
std::optional<net::Response> refuse_large_traces(const net::RequestHead& head, size_t limit) {
    const auto length = parse_integer(head.header("Content-Length"));
    if (!length.ok() || length.value() < 0 || static_cast<uint64_t>(length.value()) <= limit) return std::nullopt;
    const Error large = too_large("the body is larger than " + std::to_string(limit) + " bytes; send smaller batches");
    return in_form(net::error_response(large), ErrorForm::rpc_status, encoding_of(head));
}

} // namespace

Api::Api(Services services, net::StaticFiles ui, ApiOptions options)
    : m_services(services),
      m_ui(std::move(ui)),
      m_options(options),
      m_routes(routes()),
      m_rate_limit(services.clock, options.requests_per_minute),
      m_idempotency(services.access.idempotent_responses),
      m_metrics(m_routes.size()),
      m_run_followers(services.run.transcript, services.clock),
      m_live_streams(services.access.audit) {
    for (size_t i = 0; i < m_routes.size(); ++i) m_entries.push_back({i, split(m_routes[i].path.substr(1), '/')});
}

net::Plan Api::plan(const net::RequestHead& head) {
    if (auto path = drop_in_path(head.method, head.path)) {
        net::RequestHead moved = head;
        moved.path = std::move(*path);
        return plan(moved);
    }
    net::Plan plan;
    plan.body_limit = m_options.body_limit;
    if (head.path == "/healthz") {
        plan.response = health(head);
        return plan;
    }
    if (is_health(head.path)) return plan;
    if (!is_api(head.path)) {
        // The UI: embedded files are sent immediately, a directory is read on the pool.
        if (!m_ui.reads_disk() || !is_safe(head.method)) plan.response = handle(net::Request{head, {}, nullptr});
        return plan;
    }
    auto found = find(head);
    if (auto* refused = std::get_if<net::Response>(&found))
        plan.response = with_headers(std::move(*refused));
    else {
        const Route& route = m_routes[std::get<Match>(found).route];
        plan.lane = route.lane;
        plan.stream_body = route.streams_body;
        plan.waits = route.is_patient;
        if (route.body_limit > 0) plan.body_limit = route.body_limit;
        if (route.errors == ErrorForm::rpc_status)
            if (auto large = refuse_large_traces(head, *plan.body_limit))
                plan.response = with_headers(std::move(*large));
        if (route.errors != ErrorForm::ours)
            plan.refusal = [form = route.errors, encoding = encoding_of(head)](net::Response response) {
                return with_headers(in_form(std::move(response), form, encoding));
            };
    }
    return plan;
}

net::Response Api::handle(net::Request&& request) {
    if (auto path = drop_in_path(request.method, request.path)) request.path = std::move(*path);
    if (is_health(request.path)) return health(request);
    if (!is_api(request.path)) {
        if (!is_safe(request.method)) return with_headers(reading_only("only GET and HEAD here; the API is under /v1"));
        if (auto file = m_ui.serve(request)) {
            net::add_security_headers(*file, std::string(net::ui_content_security_policy) + frames_of_previews +
                                                 sounds_of_pages);
            return std::move(*file);
        }
        return with_headers(net::error_response(not_found(std::string(truncate_utf8(request.path, 200)))));
    }
    auto found = find(request);
    if (auto* refused = std::get_if<net::Response>(&found)) return with_headers(std::move(*refused));
    const Match& match = std::get<Match>(found);
    const Duration start = m_services.clock.steady();
    net::Response response = respond(request, match);
    response = in_form(std::move(response), m_routes[match.route].errors, encoding_of(request));
    // Where an agent without a token finds the authorization server.
    if (response.status == 401 && m_routes[match.route].path == agent_endpoint)
        if (const std::string place = m_services.identities.agents.resource_metadata_url(); !place.empty())
            response.set_header("WWW-Authenticate", "Bearer realm=\"hone\", resource_metadata=\"" + place + "\"");
    count(request, match, response, m_services.clock.steady() - start);
    return with_headers(std::move(response));
}

// In the metrics, and as an operation of this server unless it is about such operations.
void Api::count(const net::RequestHead& head, const Match& match, const net::Response& response, Duration length) {
    m_metrics.count(match.route, response.status, length);
    if (!has_operation_sink() || head.has_header(self_telemetry_header)) return;
    const Route& route = m_routes[match.route];
    Operation operation;
    operation.kind = "request";
    operation.name = std::string(route.method) + " " + std::string(route.path);
    operation.start = m_services.clock.now() - length;
    operation.length = length;
    operation.has_failed = response.status >= 500;
    operation.attributes = {{"http.request.method", head.method},
                            {"http.route", std::string(route.path)},
                            {"http.response.status_code", std::to_string(response.status)},
                            {"hone.request.id", head.id}};
    read_parent(head.header("traceparent"), operation);
    report_operation(std::move(operation));
}

net::Response Api::handle_as(net::Request&& request, const access::Caller& caller) {
    if (auto path = drop_in_path(request.method, request.path)) request.path = std::move(*path);
    auto found = find(request);
    if (auto* refused = std::get_if<net::Response>(&found)) return with_headers(std::move(*refused));
    const Match& match = std::get<Match>(found);
    const Duration start = m_services.clock.steady();
    const auto allowed = authorize(caller, request, m_routes[match.route].need);
    net::Response response = allowed.ok() ? call(request, match, caller) : refusal(allowed.error(), request);
    response = in_form(std::move(response), m_routes[match.route].errors, encoding_of(request));
    count(request, match, response, m_services.clock.steady() - start);
    return with_headers(std::move(response));
}

net::Response Api::health(const net::RequestHead& head) {
    net::Response response;
    if (!is_safe(head.method)) {
        response = reading_only("only GET and HEAD here");
    } else if (head.path == "/healthz") {
        response = net::text_response(200, "ok\n");
    } else if (head.path == "/readyz") {
        response = readiness(head);
    } else {
        response = net::text_response(200, m_metrics.print(m_routes) + m_services.installation.metrics());
        response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    }
    return with_headers(std::move(response));
}

// docs/health.md explains why spans that cannot be stored make it 503, and spans that are only late do not.
net::Response Api::readiness(const net::RequestHead& head) const {
    const std::string why = m_services.installation.not_ready();
    if (!why.empty()) return net::text_response(503, why + "\n");
    const auto pairs = net::parse_query(head.query);
    const bool without_spans =
        pairs.ok() && std::any_of(pairs.value().begin(), pairs.value().end(),
                                  [](const auto& pair) { return pair.first == "exclude" && pair.second == "spans"; });
    if (without_spans) return net::text_response(200, "ready\n");
    const telemetry::Backlog backlog = m_services.spans.telemetry.backlog();
    const telemetry::RecordBacklog records = m_services.spans.telemetry.record_log().backlog();
    std::string text;
    if (backlog.is_late) text += backlog.problem() + "\n" + telemetry::backlog_advice() + "\n";
    if (records.is_late) text += records.problem() + "\n" + telemetry::record_backlog_advice() + "\n";
    if (text.empty()) return net::text_response(200, "ready\n");
    const bool is_failing = backlog.is_failing() || records.is_failing();
    return is_failing ? net::text_response(503, text) : net::text_response(200, "ready\nwarning: " + text);
}

std::variant<Api::Match, net::Response> Api::find(const net::RequestHead& head) const {
    auto segments = net::split_path(head.path);
    if (!segments.ok()) return net::error_response(segments.error());
    const auto& parts = segments.value();
    const std::string_view method = head.method == "HEAD" ? std::string_view("GET") : std::string_view(head.method);
    std::string allowed;
    for (const Entry& entry : m_entries) {
        if (entry.segments.size() != parts.size()) continue;
        bool fits = true;
        for (size_t i = 0; fits && i < parts.size(); ++i)
            fits = is_parameter(entry.segments[i]) || entry.segments[i] == parts[i];
        if (!fits) continue;
        const Route& route = m_routes[entry.route];
        if (route.method != method) {
            const std::string_view methods = route.method == "GET" ? "GET, HEAD" : route.method;
            if (allowed.find(methods) == std::string::npos) // several routes fit the path
                allowed += (allowed.empty() ? "" : ", ") + std::string(methods);
            continue;
        }
        Match match{entry.route, {}};
        for (size_t i = 0; i < parts.size(); ++i)
            if (is_parameter(entry.segments[i]))
                match.path[std::string(entry.segments[i].substr(1, entry.segments[i].size() - 2))] = parts[i];
        return match;
    }
    if (allowed.empty())
        return net::error_response(404, "not_found", "no such route; GET /openapi.json lists all of them");
    net::Response response =
        net::error_response(405, "not_allowed", head.method + " is not allowed here; allowed: " + allowed);
    response.set_header("Allow", allowed);
    return response;
}

Result<access::Caller> Api::authenticate(const net::RequestHead& head, const Route& route) const {
    if (route.need.kind == Need::Kind::guest) return access::Caller::guest(head.peer, head.id);
    if (route.takes_sender_keys)
        if (const std::string key = sender_key(head); !key.empty())
            return m_services.access.keys.authenticate(key, head.peer, head.id);
    if (const auto value = head.header("Authorization"); !value.empty()) {
        if (value.size() <= bearer.size() || !equals_ignoring_case(value.substr(0, bearer.size()), bearer))
            return unauthorized("Authorization must be `Bearer <api key>`");
        const std::string_view token = trim(value.substr(bearer.size()));
        // Elsewhere the token of an agent is no key: it is for this endpoint alone.
        if (route.path == agent_endpoint && access::is_agent_token(token))
            return m_services.identities.agents.authenticate(token, head.peer, head.id);
        return m_services.access.keys.authenticate(token, head.peer, head.id);
    }
    if (const std::string token = session_token(head); !token.empty())
        return m_services.access.logins.authenticate(token, head.peer, head.id);
    return access::Caller::guest(head.peer, head.id);
}

Result<> Api::authorize(const access::Caller& caller, const net::RequestHead& head, Need need) const {
    if (need.kind == Need::Kind::guest) return {};
    if (caller.is_guest()) return unauthorized("log in, or send an API key as `Authorization: Bearer …`");
    // A browser sends the cookie with requests of any page; only our own page knows the token.
    if (caller.kind == access::CallerKind::user && !is_safe(head.method) &&
        !crypto::equal(head.header("X-CSRF-Token"), caller.csrf_token))
        return forbidden("the X-CSRF-Token header is missing or wrong; GET /v1/me gives it");
    // Refuses callers who hold the permission nowhere; the domain checks the place.
    if (need.kind == Need::Kind::permission && !caller.may_anywhere(need.permission))
        return forbidden("this needs the permission " + std::string(name_of(need.permission)));
    return {};
}

std::optional<net::Response> Api::refuse_by_rate(const access::Caller& caller) {
    const int64_t wait = m_rate_limit.take(caller.is_guest() ? "peer:" + caller.peer : caller.actor());
    if (wait == 0) return std::nullopt;
    net::Response response =
        net::error_response(429, "busy", "too many requests; try again in " + std::to_string(wait) + " s");
    response.set_header("Retry-After", std::to_string(wait));
    return response;
}

net::Response Api::respond(const net::Request& request, const Match& match) {
    const Route& route = m_routes[match.route];
    auto caller = authenticate(request, route);
    if (!caller.ok()) return refusal(caller.error(), request);
    // Senders of traces are limited by the span log instead.
    if ((route.lane != net::Lane::ingest && !route.is_patient) || caller.value().is_guest())
        if (auto refused = refuse_by_rate(caller.value())) return std::move(*refused);
    if (auto allowed = authorize(caller.value(), request, route.need); !allowed.ok())
        return refusal(allowed.error(), request);
    if (route.body_schema != nullptr && !is_json(request.header("Content-Type")))
        return net::error_response(415, "invalid", "the body must be JSON: send Content-Type: application/json");

    const std::string key(request.header("Idempotency-Key"));
    if (route.method != "POST" || route.streams_body || !request.has_header("Idempotency-Key") ||
        caller.value().is_guest())
        return watched(call(request, match, caller.value()), request, match);
    auto earlier = m_idempotency.begin(caller.value(), key, Idempotency::hash_of(request, request.body));
    if (!earlier.ok()) return refusal(earlier.error(), request);
    if (earlier.value()) return std::move(*earlier.value());
    net::Response response = call(request, match, caller.value());
    if (auto kept = m_idempotency.finish(caller.value(), key, response, route.secret_response); !kept.ok())
        log(Level::warning, "response of an idempotent request not kept",
            {{"request", request.id}, {"why", kept.error().message}});
    return response;
}

// The checks of the request are repeated as a whole, by its own handler: no route of events can be forgotten.
net::Response Api::watched(net::Response response, const net::Request& request, const Match& match) {
    if (!response.on_events || response.events_end) return response;
    auto head = std::make_shared<net::RequestHead>(static_cast<const net::RequestHead&>(request));
    auto is_allowed = [this, head, match] {
        net::Request again{*head, {}, nullptr};
        again.gone = nullptr;
        const auto caller = authenticate(again, m_routes[match.route]);
        if (!caller.ok()) return caller.error().code == Code::busy;
        if (!authorize(caller.value(), again, m_routes[match.route].need).ok()) return false;
        const net::Response repeated = call(again, match, caller.value());
        return repeated.status < 400 || repeated.status == 429 || repeated.status == 503;
    };
    response.on_events = [this, begin = std::move(response.on_events),
                          is_allowed = std::move(is_allowed)](std::shared_ptr<net::EventStream> events) {
        m_live_streams.add(events, is_allowed);
        begin(std::move(events));
    };
    return response;
}

net::Response Api::call(const net::Request& request, const Match& match, const access::Caller& caller) {
    const Call call{request,
                    caller,
                    m_services,
                    m_run_followers,
                    match.path,
                    {},
                    request.body_stream.get(),
                    m_routes[match.route].ignores_unknown_query};
    auto outcome = m_routes[match.route].handle(call, request.body);
    const bool is_invalid = !outcome.ok() && outcome.error().code == Code::invalid;
    net::Response response = outcome.ok() ? std::move(outcome).value() : refusal(outcome.error(), request);
    if (is_invalid) response.status = m_routes[match.route].invalid_status;
    for (auto& header : call.response_headers) response.set_header(header.name, std::move(header.value));
    return response;
}

} // namespace hone::api
