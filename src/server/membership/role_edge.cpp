#include "server/membership/role_edge.h"

#include "api/core/drop_in.h"

namespace hone::server {

net::Plan RoleEdge::plan(const net::RequestHead& head) {
    if (head.path == "/healthz" || head.path == "/readyz" || head.path == "/metrics") return m_api.plan(head);
    const bool is_telemetry = api::is_sender_path(api::drop_in_path(head.method, head.path).value_or(head.path));
    if (is_telemetry ? m_roles.ingest : m_roles.api) return m_api.plan(head);
    net::Plan plan;
    plan.response = net::error_response(404, "not_found",
                                        is_telemetry ? "this server does not have the role ingest"
                                                     : "this server does not have the role api");
    return plan;
}

} // namespace hone::server
