#include "kubernetes/link/calls.h"

namespace hone::kubernetes {

namespace {

constexpr size_t call_header_bytes = 8;

void append_u32(std::string& out, size_t number) {
    for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(number >> shift & 0xff);
}

size_t read_u32(std::string_view bytes) {
    size_t number = 0;
    for (size_t i = 4; i-- > 0;) number = number << 8 | static_cast<uint8_t>(bytes[i]);
    return number;
}

} // namespace

void append_call(std::string& out, std::string_view text, std::string_view bytes) {
    append_u32(out, text.size());
    append_u32(out, bytes.size());
    out += text;
    out += bytes;
}

Result<std::optional<CallMessage>> CallReader::next() {
    if (m_buffer.size() < call_header_bytes) return std::optional<CallMessage>();
    const size_t text = read_u32(m_buffer), bytes = read_u32(std::string_view(m_buffer).substr(4));
    if (text > most_call_text || bytes > most_call_bytes) return corrupt("a message of a pod is too long");
    if (m_buffer.size() < call_header_bytes + text + bytes) return std::optional<CallMessage>();
    CallMessage message{m_buffer.substr(call_header_bytes, text), m_buffer.substr(call_header_bytes + text, bytes)};
    m_buffer.erase(0, call_header_bytes + text + bytes);
    return std::optional<CallMessage>(std::move(message));
}

} // namespace hone::kubernetes
