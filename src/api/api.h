// The HTTP API and the UI behind net::Server: finds the route, the caller, checks permission, CSRF, rate and
// idempotency, calls the handler, adds headers. docs/life-of-a-request.md describes it step by step.
#pragma once

#include "api/core/documents.h"
#include "api/core/idempotency.h"
#include "api/core/live_streams.h"
#include "api/core/metrics.h"
#include "api/core/rate_limit.h"
#include "api/core/route.h"
#include "api/core/run_followers.h"
#include "net/static_files.h"

namespace hone::api {

struct ApiOptions {
    int64_t requests_per_minute = 6000;
    size_t body_limit = 4 << 20;
};

class Api final : public net::Handler {
public:
    Api(Services services, net::StaticFiles ui, ApiOptions options);

    net::Plan plan(const net::RequestHead& head) override;
    net::Response handle(net::Request&& request) override;
    // For a caller that is known without credentials, on a route of the API.
    net::Response handle_as(net::Request&& request, const access::Caller& caller);

    Idempotency& idempotency() { return m_idempotency; }

private:
    struct Match {
        size_t route = 0;
        std::map<std::string, std::string, std::less<>> path;
    };
    struct Entry {
        size_t route;
        std::vector<std::string_view> segments; // "{…}" is a parameter
    };

    // The route, or the response that refuses the request (404, 405).
    std::variant<Match, net::Response> find(const net::RequestHead& head) const;
    net::Response health(const net::RequestHead& head);
    void count(const net::RequestHead& head, const Match& match, const net::Response& response, Duration length);
    net::Response readiness(const net::RequestHead& head) const;
    net::Response respond(const net::Request& request, const Match& match);
    Result<access::Caller> authenticate(const net::RequestHead& head, const Route& route) const;
    Result<> authorize(const access::Caller& caller, const net::RequestHead& head, Need need) const;
    std::optional<net::Response> refuse_by_rate(const access::Caller& caller);
    // Ends an event stream when its caller loses the right to it.
    net::Response watched(net::Response response, const net::Request& request, const Match& match);
    net::Response call(const net::Request& request, const Match& match, const access::Caller& caller);

    Services m_services;
    const net::StaticFiles m_ui;
    const ApiOptions m_options;
    const std::span<const Route> m_routes;
    std::vector<Entry> m_entries;
    RateLimit m_rate_limit;
    Idempotency m_idempotency;
    Metrics m_metrics;
    RunFollowers m_run_followers;
    LiveStreams m_live_streams; // last: its thread calls the others
};

} // namespace hone::api
