#include "server/otlp/otlp_edge.h"

#include "api/core/drop_in.h"

namespace hone::server {

bool is_loopback(std::string_view ip_address) {
    return ip_address.starts_with("127.") || ip_address == "::1" || ip_address.starts_with("::ffff:127.");
}

net::Plan OtlpEdge::plan(const net::RequestHead& head) {
    if (head.path == "/healthz" || api::is_sender_path(api::drop_in_path(head.method, head.path).value_or(head.path)))
        return m_api.plan(head);
    net::Plan plan;
    plan.response =
        net::error_response(404, "not_found", "this address takes telemetry: /v1/traces, /v1/logs, /v1/metrics");
    return plan;
}

net::Response OtlpEdge::handle(net::Request&& request) {
    const bool has_key = request.has_header("Authorization") || !api::sender_key(request).empty();
    if (!m_open_space || has_key || !is_loopback(request.peer)) return m_api.handle(std::move(request));
    // No more than a key that may only send: nothing can be read, restricted projects stay shut.
    access::Caller caller = access::Caller::guest(request.peer, request.id);
    caller.kind = access::CallerKind::key;
    caller.name = "otlp_open";
    caller.roles[*m_open_space] = access::Role::member;
    caller.scope.add(access::Permission::trace_write);
    return m_api.handle_as(std::move(request), caller);
}

} // namespace hone::server
