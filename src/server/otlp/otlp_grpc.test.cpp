#include "server/otlp/otlp_grpc.h"

#include <doctest/doctest.h>

using namespace hone;

namespace {

// Keeps what it was given, and accepts it.
class LastRequest final : public net::Handler {
public:
    net::Plan plan(const net::RequestHead&) override { return {}; }
    net::Response handle(net::Request&& request) override {
        last = std::move(request);
        return net::text_response(200, "");
    }
    net::Request last;
};

} // namespace

TEST_CASE("traces, logs and metrics over gRPC are the same requests over HTTP, with the keys of every SDK") {
    LastRequest handler;
    const FakeClock clock{from_ns(1)};
    const auto call = [&](std::string method, std::string header) {
        grpc_bytes::GrpcCall made;
        made.method = std::move(method);
        made.metadata = {{std::move(header), "hone_key"}, {"x-project-name", "shop"}, {"te", "trailers"}};
        made.peer = "192.0.2.1";
        made.message = "bytes";
        return server::handle_grpc(handler, made, clock);
    };
    const std::string prefix = "/opentelemetry.proto.collector.";
    for (const auto& [method, path] :
         {std::pair{"trace.v1.TraceService/Export", "/v1/traces"}, std::pair{"logs.v1.LogsService/Export", "/v1/logs"},
          std::pair{"metrics.v1.MetricsService/Export", "/v1/metrics"}})
        for (const char* header : {"authorization", "api_key", "x-api-key"}) {
            CHECK(call(prefix + method, header).code == GrpcCode::ok);
            CHECK(handler.last.path == path);
            CHECK(handler.last.header(header) == "hone_key");
            CHECK(handler.last.header("x-project-name") == "shop");
            CHECK(!handler.last.has_header("te"));
            CHECK(handler.last.body == "bytes");
        }
    CHECK(call(prefix + "profiles.v1.ProfilesService/Export", "authorization").code == GrpcCode::unimplemented);
}
