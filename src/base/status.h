// How an error code is spelled and which HTTP and gRPC status it has: the one table that the API, OTLP over HTTP,
// OTLP over gRPC and the broker use. Pure, any thread.
#pragma once

#include "base/result.h"

#include <span>

namespace hone {

// The gRPC statuses that we respond with, by gRPC's numbers.
enum class GrpcCode {
    ok = 0,
    invalid_argument = 3,
    not_found = 5,
    permission_denied = 7,
    resource_exhausted = 8,
    unimplemented = 12,
    internal = 13,
    unavailable = 14,
    unauthenticated = 16,
};

struct CodeStatus {
    Code code;
    const char* name; // in the API: "not_found"
    int http;
    int proxy; // HTTP, of the broker's own refusals
    GrpcCode grpc;
};

// One row per Code, in the order of the enum.
std::span<const CodeStatus> code_statuses();
int http_status(Code code);
int proxy_status(Code code);
GrpcCode grpc_code(Code code);
// Of an HTTP response: ok for 2xx; a status that the table does not hold is internal from 500 on, else
// invalid_argument.
GrpcCode grpc_code_of_http(int status);

} // namespace hone
