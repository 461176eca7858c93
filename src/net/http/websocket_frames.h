// The frames of a WebSocket (RFC 6455), without extensions: writing one, and an incremental, bounded, strict parser
// that joins fragments. Pure; any thread, one at a time per parser.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hone::net {

enum class WebSocketOpcode : uint8_t { continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };

// Appends one whole frame. Clients mask what they send, with four random bytes; servers do not.
void append_websocket_frame(std::string& out, WebSocketOpcode opcode, std::string_view payload,
                            std::optional<uint32_t> mask, bool is_last = true);

// A whole message: `text`, `binary`, `close`, `ping` or `pong`. A close without a code has 1005, as the RFC has it.
struct WebSocketMessage {
    WebSocketOpcode opcode = WebSocketOpcode::binary;
    std::string payload; // of a close: its reason
    uint16_t close_code = 0;
};

class WebSocketParser {
public:
    // Which side sent the frames: those of a client must be masked, those of a server must not be.
    enum class Sender { server, client };
    WebSocketParser(Sender sender, size_t most_message_bytes) : m_sender(sender), m_limit(most_message_bytes) {}

    // Calls back for each message that these bytes complete. Errors: `invalid` (not a WebSocket), `too_large`, and
    // those of the callback. After an error the parser stays failed; after a close it takes nothing more.
    Result<> feed(std::string_view bytes, const std::function<Result<>(WebSocketMessage&&)>& callback);

private:
    Result<> start_frame();
    Result<> finish_frame(const std::function<Result<>(WebSocketMessage&&)>& callback);
    Result<> finish_control(const std::function<Result<>(WebSocketMessage&&)>& callback);
    size_t header_size() const;
    Error fail(std::string why);

    const Sender m_sender;
    const size_t m_limit;
    std::string m_header;
    std::string m_control;    // payload of a control frame, which may come between fragments
    std::string m_message;    // payload of the message so far
    uint64_t m_remaining = 0; // of the frame's payload
    uint32_t m_mask = 0;
    unsigned m_mask_position = 0;
    bool m_in_payload = false;
    std::optional<WebSocketOpcode> m_fragmented; // of the message whose fragments are being joined
    WebSocketOpcode m_opcode = WebSocketOpcode::binary;
    bool m_is_last = true;
    bool m_failed = false;
    bool m_closed = false;
};

} // namespace hone::net
