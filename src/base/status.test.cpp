#include "base/status.h"

#include <doctest/doctest.h>
#include <set>
#include <string>

using namespace hone;

TEST_CASE("every error code has a name, an HTTP status and a gRPC status") {
    std::set<std::string> names;
    for (const CodeStatus& row : code_statuses()) {
        CAPTURE(row.name);
        CHECK(names.insert(row.name).second);
        CHECK(std::string(code_name(row.code)) == row.name);
        CHECK(http_status(row.code) == row.http);
        CHECK(row.http >= 400);
        CHECK(proxy_status(row.code) == row.proxy);
        CHECK(row.proxy >= 400);
        CHECK(grpc_code(row.code) == row.grpc);
        CHECK(grpc_code_of_http(row.http) == row.grpc);
    }
    CHECK(names.size() == 10);
}

TEST_CASE("a proxy refuses its own clients and the servers behind it with other statuses than an API") {
    CHECK(proxy_status(Code::unauthorized) == 407);
    CHECK(proxy_status(Code::too_large) == 431);
    CHECK(proxy_status(Code::unavailable) == 502);
    CHECK(proxy_status(Code::busy) == 504);
    CHECK(proxy_status(Code::internal) == 503);
}

TEST_CASE("an HTTP status without a code has a gRPC status by its class") {
    CHECK(grpc_code_of_http(200) == GrpcCode::ok);
    CHECK(grpc_code_of_http(202) == GrpcCode::ok);
    CHECK(grpc_code_of_http(415) == GrpcCode::invalid_argument);
    CHECK(grpc_code_of_http(502) == GrpcCode::internal);
}
