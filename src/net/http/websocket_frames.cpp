#include "net/http/websocket_frames.h"

#include "base/text.h"

#include <algorithm>

namespace hone::net {

namespace {

constexpr size_t most_control_bytes = 125;
constexpr uint16_t no_close_code = 1005;

bool is_control(WebSocketOpcode opcode) {
    return static_cast<uint8_t>(opcode) >= 8;
}

bool is_known(uint8_t opcode) {
    return opcode <= 2 || (opcode >= 8 && opcode <= 10);
}

// Codes that may be sent: those below 1000 and some others have no meaning on the wire.
bool is_close_code(uint16_t code) {
    return (code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006) ||
           (code >= 3000 && code <= 4999);
}

uint64_t big_endian(std::string_view bytes) {
    uint64_t number = 0;
    for (const char byte : bytes) number = number << 8 | static_cast<uint8_t>(byte);
    return number;
}

void append_big_endian(std::string& out, uint64_t number, int bytes) {
    for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift & 0xff);
}

char mask_byte(uint32_t mask, unsigned position) {
    return static_cast<char>(mask >> (24 - 8 * (position % 4)) & 0xff);
}

} // namespace

void append_websocket_frame(std::string& out, WebSocketOpcode opcode, std::string_view payload,
                            std::optional<uint32_t> mask, bool is_last) {
    out += static_cast<char>((is_last ? 0x80 : 0) | static_cast<uint8_t>(opcode));
    const char masked = mask ? static_cast<char>(0x80) : 0;
    if (payload.size() < 126) {
        out += static_cast<char>(masked | static_cast<char>(payload.size()));
    } else {
        const bool is_long = payload.size() > 0xffff;
        out += static_cast<char>(masked | (is_long ? 127 : 126));
        append_big_endian(out, payload.size(), is_long ? 8 : 2);
    }
    if (!mask) {
        out += payload;
        return;
    }
    append_big_endian(out, *mask, 4);
    const size_t start = out.size();
    out += payload;
    for (size_t i = start; i < out.size(); ++i)
        out[i] = static_cast<char>(out[i] ^ mask_byte(*mask, static_cast<unsigned>((i - start) % 4)));
}

Error WebSocketParser::fail(std::string why) {
    m_failed = true;
    return invalid("malformed WebSocket: " + std::move(why));
}

// Of the header whose first bytes are in m_header.
size_t WebSocketParser::header_size() const {
    if (m_header.size() < 2) return 2;
    const auto second = static_cast<uint8_t>(m_header[1]);
    const size_t length = (second & 0x7f) == 126 ? 2 : (second & 0x7f) == 127 ? 8 : 0;
    return 2 + length + ((second & 0x80) != 0 ? 4 : 0);
}

Result<> WebSocketParser::start_frame() {
    const auto first = static_cast<uint8_t>(m_header[0]);
    const auto second = static_cast<uint8_t>(m_header[1]);
    if ((first & 0x70) != 0) return fail("an extension that was not agreed on");
    if (!is_known(first & 0x0f)) return fail("an unknown kind of frame");
    m_opcode = static_cast<WebSocketOpcode>(first & 0x0f);
    m_is_last = (first & 0x80) != 0;
    const bool is_masked = (second & 0x80) != 0;
    if (is_masked != (m_sender == Sender::client)) return fail(is_masked ? "a masked frame" : "a frame without a mask");
    const size_t extended = m_header.size() - 2 - (is_masked ? 4 : 0);
    m_remaining = extended == 0 ? second & 0x7f : big_endian(std::string_view(m_header).substr(2, extended));
    if ((extended == 2 && m_remaining < 126) || (extended == 8 && m_remaining <= 0xffff))
        return fail("a length in more bytes than it needs");
    m_mask = is_masked ? static_cast<uint32_t>(big_endian(std::string_view(m_header).substr(2 + extended))) : 0;
    m_mask_position = 0;
    if (is_control(m_opcode)) {
        if (!m_is_last) return fail("a control frame in fragments");
        if (m_remaining > most_control_bytes) return fail("a control frame over 125 bytes");
        m_control.clear();
        return {};
    }
    if ((m_opcode == WebSocketOpcode::continuation) != m_fragmented.has_value())
        return fail(m_fragmented ? "a new message inside another" : "a continuation of nothing");
    if (m_remaining > m_limit - m_message.size()) {
        m_failed = true;
        return too_large("a WebSocket message is larger than " + std::to_string(m_limit) + " bytes");
    }
    return {};
}

Result<> WebSocketParser::finish_control(const std::function<Result<>(WebSocketMessage&&)>& callback) {
    WebSocketMessage message{m_opcode, std::move(m_control), 0};
    m_control = {};
    if (m_opcode == WebSocketOpcode::close) {
        m_closed = true;
        message.close_code = no_close_code;
        if (message.payload.size() == 1) return fail("a close with half a code");
        if (!message.payload.empty()) {
            message.close_code = static_cast<uint16_t>(big_endian(std::string_view(message.payload).substr(0, 2)));
            message.payload.erase(0, 2);
            if (!is_close_code(message.close_code)) return fail("a close with a code that is not allowed");
            if (!is_valid_utf8(message.payload)) return fail("a reason that is not UTF-8");
        }
    }
    return callback(std::move(message));
}

Result<> WebSocketParser::finish_frame(const std::function<Result<>(WebSocketMessage&&)>& callback) {
    m_in_payload = false;
    m_header.clear();
    if (is_control(m_opcode)) return finish_control(callback);
    if (!m_is_last) {
        if (m_opcode != WebSocketOpcode::continuation) m_fragmented = m_opcode;
        return {};
    }
    WebSocketMessage message{m_fragmented.value_or(m_opcode), std::move(m_message), 0};
    m_message = {};
    m_fragmented.reset();
    if (message.opcode == WebSocketOpcode::text && !is_valid_utf8(message.payload))
        return fail("text that is not UTF-8");
    return callback(std::move(message));
}

Result<> WebSocketParser::feed(std::string_view bytes, const std::function<Result<>(WebSocketMessage&&)>& callback) {
    if (m_failed) return invalid("the WebSocket has failed before");
    while (!m_closed) {
        if (!m_in_payload) {
            const size_t needed = header_size() - m_header.size();
            const size_t taken = std::min(needed, bytes.size());
            m_header += bytes.substr(0, taken);
            bytes.remove_prefix(taken);
            if (m_header.size() < header_size()) {
                if (bytes.empty()) return {};
                continue;
            }
            TRY(start_frame());
            m_in_payload = true;
        }
        const auto taken = static_cast<size_t>(std::min<uint64_t>(m_remaining, bytes.size()));
        std::string& into = is_control(m_opcode) ? m_control : m_message;
        const size_t start = into.size();
        into += bytes.substr(0, taken);
        if (m_sender == Sender::client)
            for (size_t i = start; i < into.size(); ++i)
                into[i] = static_cast<char>(into[i] ^ mask_byte(m_mask, m_mask_position++));
        bytes.remove_prefix(taken);
        m_remaining -= taken;
        if (m_remaining > 0) return {};
        if (auto finished = finish_frame(callback); !finished.ok()) {
            m_failed = true;
            return finished;
        }
    }
    return {};
}

} // namespace hone::net
