// Calls of a server and replies of a pod on the first stream of a link: the grammar of the shim (sandbox/shim/
// protocol.h), numbered, because a reply may be late. A message is the length of its JSON and of its bytes (4 bytes
// each, little-endian), then both. Both ends use it. Pure; one thread at a time per reader.
#pragma once

#include "base/result.h"
#include "sandbox/shim/protocol.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::kubernetes {

struct PodCall {
    int64_t id = 0;
    std::optional<sandbox::ShimRequest> request;
    std::optional<std::vector<std::string>> probe;
    static constexpr Pack fields{
        Field{"id", &PodCall::id, "Number of the call."},
        Field{"request", &PodCall::request, "As to a shim."},
        Field{"probe", &PodCall::probe, "Instead of a request: addresses with ports that must not be reachable."},
    };
};

struct PodReply {
    int64_t id = 0;
    sandbox::ShimReply reply;
    static constexpr Pack fields{
        Field{"id", &PodReply::id, "Number of the call."},
        Field{"reply", &PodReply::reply, "As from a shim."},
    };
};

constexpr size_t most_call_text = 8 << 20;
constexpr size_t most_call_bytes = 1 << 20; // of output or input in one message

struct CallMessage {
    std::string text;
    std::string bytes;
};
void append_call(std::string& out, std::string_view text, std::string_view bytes);

// Cuts the stream into messages, however it arrives. Errors: `corrupt`.
class CallReader {
public:
    void feed(std::string_view bytes) { m_buffer += bytes; }
    // None: more bytes are needed.
    Result<std::optional<CallMessage>> next();
    void clear() { m_buffer.clear(); }

private:
    std::string m_buffer;
};

} // namespace hone::kubernetes
