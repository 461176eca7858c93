// What the OTLP listener serves: telemetry (also at the addresses of other products' SDKs) and /healthz, nothing else.
// Where the installation is open it lets callers of this machine send without a key. Used by net::Server: plan on the
// edge, handle on the ingest lane.
#pragma once

#include "api/api.h"

namespace hone::server {

class OtlpEdge final : public net::Handler {
public:
    // `open_space`: where callers of this machine without a key send to; absent: every caller needs a key.
    OtlpEdge(api::Api& api, std::optional<access::SpaceId> open_space)
        : m_api(api),
          m_open_space(std::move(open_space)) {}

    net::Plan plan(const net::RequestHead& head) override;
    net::Response handle(net::Request&& request) override;

private:
    api::Api& m_api;
    const std::optional<access::SpaceId> m_open_space;
};

// "127.0.0.1", "::1"
bool is_loopback(std::string_view ip_address);

} // namespace hone::server
