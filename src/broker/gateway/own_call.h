// Model calls of the server itself, for experiments and the playground: the same gateway as a sandbox has, reached
// through a pair of connected sockets instead of a listener, so that no other process can use it. Blocks; thread-safe.
#pragma once

#include "broker/gateway/gateway.h"

namespace hone::broker {

struct OwnRequest {
    std::string path; // of the gateway: "/openai/v1/chat/completions"
    std::string body; // JSON
    OwnCall call{};
    Duration timeout = std::chrono::minutes(10); // until the end of the response
    size_t most_bytes = 16 << 20;                // of the response's body
    // Gets everything that has arrived of the body of a good response, after each piece; false ends the call.
    std::function<bool(std::string_view content_type, std::string_view body)> watch{};
};

struct OwnResponse {
    int status = 0;
    std::string content_type;
    std::string retry_after;
    std::string body;
};

// `cancel` ends the call. Errors: busy (timeout), conflict (cancelled, or ended by `watch`), too_large, unavailable.
Result<OwnResponse> send_own(Gateway& gateway, AttachedRun& attached, const OwnRequest& request, const Cancel& cancel);

} // namespace hone::broker
