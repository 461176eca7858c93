// OTLP over gRPC: each Export call is handled as the same request over HTTP, so that keys, permissions and
// limits are the same. Called on the gRPC server's pool; thread-safe.
#pragma once

#include "grpc/grpc_server.h"
#include "net/server.h"

namespace hone::server {

grpc_bytes::GrpcResponse handle_grpc(net::Handler& otlp, const grpc_bytes::GrpcCall& call, const Clock& clock);

} // namespace hone::server
