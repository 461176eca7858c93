#include "server/otlp/otlp_grpc.h"

#include "api/core/drop_in.h"
#include "base/id.h"
#include "base/status.h"
#include "json/json.h"

namespace hone::server {

namespace {

using grpc_bytes::GrpcCall;
using grpc_bytes::GrpcResponse;

// The same request over HTTP; empty when the method is unknown.
std::string_view http_path_of(std::string_view method) {
    if (method == "/opentelemetry.proto.collector.trace.v1.TraceService/Export") return "/v1/traces";
    if (method == "/opentelemetry.proto.collector.logs.v1.LogsService/Export") return "/v1/logs";
    if (method == "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export") return "/v1/metrics";
    return {};
}

// The message of a refusal: of our own envelope, or of google.rpc.Status (code in field 1, message in field 2).
std::string refusal_text(const net::Response& response) {
    if (response.content_type.starts_with("application/json")) {
        const auto tree = json::parse(response.body);
        const json::Value* error =
            tree.ok() && tree.value().is_object() ? tree.value().get_object().if_contains("error") : nullptr;
        const json::Value* message = error && error->is_object() ? error->get_object().if_contains("message") : nullptr;
        if (message && message->is_string()) return std::string(message->get_string());
    }
    std::string_view body = response.body;
    if (body.size() > 4 && body[0] == 0x08 && body[2] == 0x12) {
        body.remove_prefix(3);
        while (!body.empty() && (static_cast<unsigned char>(body.front()) & 0x80) != 0) body.remove_prefix(1);
        if (!body.empty()) body.remove_prefix(1);
        return std::string(body);
    }
    return "refused with HTTP status " + std::to_string(response.status);
}

} // namespace

GrpcResponse handle_grpc(net::Handler& otlp, const GrpcCall& call, const Clock& clock) {
    const std::string_view path = http_path_of(call.method);
    if (path.empty())
        return {GrpcCode::unimplemented, "this address takes traces, logs and metrics: TraceService/Export", {}, 0};
    net::Request request;
    request.method = "POST";
    request.target = request.path = path;
    request.peer = call.peer;
    request.id = "req_" + make_ulid(clock.now());
    request.headers.push_back({"Content-Type", "application/x-protobuf"});
    for (const std::string_view name : api::sender_headers())
        if (const auto value = call.header(name); !value.empty())
            request.headers.push_back({std::string(name), std::string(value)});
    request.body = call.message;
    net::Response handled = otlp.handle(std::move(request));
    GrpcResponse response;
    response.code = grpc_code_of_http(handled.status);
    if (response.code == GrpcCode::ok) {
        response.message = std::move(handled.body);
        return response;
    }
    response.text = refusal_text(handled);
    if (handled.status == 429 || handled.status == 503) {
        const auto wait = parse_integer(handled.header("Retry-After"));
        response.retry_after_seconds = wait.ok() ? static_cast<int>(wait.value()) : 1;
    }
    return response;
}

} // namespace hone::server
