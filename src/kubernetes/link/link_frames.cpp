#include "kubernetes/link/link_frames.h"

namespace hone::kubernetes {

namespace {

uint64_t little_endian(std::string_view bytes) {
    uint64_t number = 0;
    for (size_t i = bytes.size(); i-- > 0;) number = number << 8 | static_cast<uint8_t>(bytes[i]);
    return number;
}

void append_little_endian(std::string& out, uint64_t number, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(number >> (8 * i) & 0xff);
}

// The least and the most bytes that a payload of this kind has; none for an unknown kind.
struct PayloadRange {
    size_t least = 0, most = 0;
};
std::optional<PayloadRange> range_of(uint8_t kind) {
    switch (static_cast<LinkFrameKind>(kind)) {
    case LinkFrameKind::hello:
    case LinkFrameKind::open:
        return PayloadRange{2, most_link_payload};
    case LinkFrameKind::data:
        return PayloadRange{9, most_link_payload};
    case LinkFrameKind::window:
        return PayloadRange{16, 16};
    case LinkFrameKind::end:
        return PayloadRange{8, 8};
    case LinkFrameKind::reset:
        return PayloadRange{0, 1024};
    case LinkFrameKind::ping:
    case LinkFrameKind::pong:
        return PayloadRange{0, 0};
    }
    return std::nullopt;
}

} // namespace

void append_u64(std::string& out, uint64_t number) {
    append_little_endian(out, number, 8);
}

uint64_t read_u64(std::string_view bytes) {
    return little_endian(bytes.substr(0, 8));
}

void append_link_frame(std::string& out, LinkFrameKind kind, uint32_t stream, std::string_view payload) {
    CHECK_OR_ABORT(payload.size() <= most_link_payload);
    out += static_cast<char>(kind);
    append_little_endian(out, stream, 4);
    append_little_endian(out, payload.size(), 4);
    out += payload;
}

Result<> LinkFrameParser::feed(std::string_view bytes, const std::function<Result<>(const LinkFrame&)>& on_frame) {
    m_buffer += bytes;
    size_t used = 0;
    Result<> outcome;
    while (outcome.ok() && m_buffer.size() - used >= link_header_bytes) {
        const std::string_view rest = std::string_view(m_buffer).substr(used);
        const auto kind = static_cast<uint8_t>(rest[0]);
        const auto length = static_cast<size_t>(little_endian(rest.substr(5, 4)));
        const auto range = range_of(kind);
        if (!range || length < range->least || length > range->most) {
            outcome = corrupt("a frame of kind " + std::to_string(kind) + " with " + std::to_string(length) + " bytes");
            break;
        }
        if (rest.size() - link_header_bytes < length) break;
        used += link_header_bytes + length;
        outcome = on_frame({static_cast<LinkFrameKind>(kind), static_cast<uint32_t>(little_endian(rest.substr(1, 4))),
                            rest.substr(link_header_bytes, length)});
    }
    m_buffer.erase(0, used);
    return outcome;
}

} // namespace hone::kubernetes
