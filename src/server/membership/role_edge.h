// The API's address of a server with some of the roles: without `api` it serves health and metrics, without `ingest` it
// takes no telemetry. Used by net::Server: plan on the edge, handle on the lanes.
#pragma once

#include "api/api.h"
#include "server/membership/roles.h"

namespace hone::server {

class RoleEdge final : public net::Handler {
public:
    RoleEdge(api::Api& api, Roles roles) : m_api(api), m_roles(roles) {}

    net::Plan plan(const net::RequestHead& head) override;
    net::Response handle(net::Request&& request) override { return m_api.handle(std::move(request)); }

private:
    api::Api& m_api;
    const Roles m_roles;
};

} // namespace hone::server
