// WebSocket frames: the same messages however the bytes are cut, and what we write is read back.
#include "net/http/websocket_frames.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace hone;
using namespace hone::net;

namespace {

std::string read(std::string_view bytes, size_t step, WebSocketParser::Sender sender) {
    WebSocketParser parser(sender, 1 << 16);
    std::string seen;
    for (size_t at = 0; at < bytes.size(); at += step) {
        const auto fed = parser.feed(bytes.substr(at, step), [&](WebSocketMessage&& message) -> Result<> {
            seen += std::to_string(static_cast<int>(message.opcode)) + ':' + std::to_string(message.close_code) + ':' +
                    std::to_string(message.payload.size()) + ':' + message.payload;
            return {};
        });
        if (!fed.ok()) return seen + "failed";
    }
    return seen;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 1) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
    for (const auto sender : {WebSocketParser::Sender::server, WebSocketParser::Sender::client})
        if (read(bytes, 1 + data[0] % 16, sender) != read(bytes, bytes.size() + 1, sender)) std::abort();
    std::string written;
    append_websocket_frame(written, WebSocketOpcode::binary, bytes.substr(0, bytes.size() / 2), 0x12345678, false);
    append_websocket_frame(written, WebSocketOpcode::ping, "p", 0x01020304);
    append_websocket_frame(written, WebSocketOpcode::continuation, bytes.substr(bytes.size() / 2), 0x87654321);
    WebSocketParser parser(WebSocketParser::Sender::client, size);
    size_t messages = 0;
    const auto fed = parser.feed(written, [&](WebSocketMessage&& message) -> Result<> {
        if (message.opcode == WebSocketOpcode::binary && message.payload != bytes) std::abort();
        ++messages;
        return {};
    });
    if (!fed.ok() || messages != 2) std::abort();
    return 0;
}
