// gRPC as bytes: unary calls of any method with their undecoded message, without generated code. Used for OTLP/gRPC.
// Calls run on a bounded pool of ordinary threads, where the handler may block; a call that finds the queue full gets
// RESOURCE_EXHAUSTED. The only folder that includes grpc++.
#pragma once

#include "base/status.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hone::grpc_bytes {

struct GrpcCall {
    std::string method; // "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
    std::vector<std::pair<std::string, std::string>> metadata; // names in lower case
    std::string peer;                                          // "127.0.0.1", "::1"
    std::string message;

    // The first value under this name; empty when absent.
    std::string_view header(std::string_view name) const;
};

struct GrpcResponse {
    GrpcCode code = GrpcCode::ok;
    std::string text;            // what went wrong
    std::string message;         // the reply, when ok
    int retry_after_seconds = 0; // sent as RetryInfo, for the two codes that a client may retry
};

using GrpcHandler = std::function<GrpcResponse(const GrpcCall&)>;

struct GrpcOptions {
    std::string address; // "127.0.0.1:4317", "[::1]:0"; port 0 picks a free one
    std::string certificate_file{};
    std::string key_file{};
    unsigned threads = 4;
    size_t queue = 256;
    int largest_message = 64 << 20;
};

class GrpcServer {
public:
    static Result<std::unique_ptr<GrpcServer>> start(const GrpcOptions& options, GrpcHandler handler);
    virtual ~GrpcServer() = default;
    // What was bound: "127.0.0.1:43121".
    virtual const std::string& address() const = 0;
    // Takes no new calls; waits for running ones, but no longer than this.
    virtual void drain(std::chrono::nanoseconds patience) = 0;
};

} // namespace hone::grpc_bytes
