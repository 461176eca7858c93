#include "base/status.h"

#include <algorithm>
#include <array>

namespace hone {

namespace {

// A proxy has statuses of its own: 407 is about its credentials, 431 refuses a head, 502 and 504 are about the server
// behind it.
// A conflict is invalid_argument and not `aborted`: OTLP exporters send again what was aborted.
constexpr std::array code_table{
    CodeStatus{Code::invalid, "invalid", 400, 400, GrpcCode::invalid_argument},
    CodeStatus{Code::unauthorized, "unauthorized", 401, 407, GrpcCode::unauthenticated},
    CodeStatus{Code::forbidden, "forbidden", 403, 403, GrpcCode::permission_denied},
    CodeStatus{Code::not_found, "not_found", 404, 404, GrpcCode::not_found},
    CodeStatus{Code::conflict, "conflict", 409, 409, GrpcCode::invalid_argument},
    CodeStatus{Code::too_large, "too_large", 413, 431, GrpcCode::invalid_argument},
    CodeStatus{Code::busy, "busy", 429, 504, GrpcCode::resource_exhausted},
    CodeStatus{Code::unavailable, "unavailable", 503, 502, GrpcCode::unavailable},
    CodeStatus{Code::corrupt, "corrupt", 500, 503, GrpcCode::internal},
    CodeStatus{Code::internal, "internal", 500, 503, GrpcCode::internal},
};

constexpr bool is_in_order() {
    for (size_t i = 0; i < code_table.size(); ++i)
        if (static_cast<size_t>(code_table[i].code) != i) return false;
    return code_table.back().code == Code::internal; // the last of the enum
}
static_assert(is_in_order());

const CodeStatus& row_of(Code code) {
    return code_table[std::min(static_cast<size_t>(code), code_table.size() - 1)];
}

} // namespace

std::span<const CodeStatus> code_statuses() {
    return code_table;
}

const char* code_name(Code code) {
    return row_of(code).name;
}

int http_status(Code code) {
    return row_of(code).http;
}

int proxy_status(Code code) {
    return row_of(code).proxy;
}

GrpcCode grpc_code(Code code) {
    return row_of(code).grpc;
}

GrpcCode grpc_code_of_http(int status) {
    if (status >= 200 && status < 300) return GrpcCode::ok;
    for (const CodeStatus& row : code_table)
        if (row.http == status) return row.grpc;
    return status >= 500 ? GrpcCode::internal : GrpcCode::invalid_argument;
}

} // namespace hone
