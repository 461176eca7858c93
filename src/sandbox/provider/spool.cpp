#include "sandbox/provider/spool.h"

#include <cerrno>
#include <cstring>
#include <sys/uio.h>

namespace hone::sandbox {

namespace {

// 'h', stream, two zero bytes, length, nanoseconds since 1970; little-endian.
struct Header {
    char mark;
    uint8_t stream;
    uint16_t zero;
    uint32_t length;
    int64_t time_ns;
};
static_assert(sizeof(Header) == frame_header_bytes);

} // namespace

Result<int64_t> append_frame(int spool, Stream stream, Time time, std::string_view bytes) {
    Header header{'h', static_cast<uint8_t>(stream), 0, static_cast<uint32_t>(bytes.size()), to_ns(time)};
    const iovec parts[] = {{&header, sizeof header}, {const_cast<char*>(bytes.data()), bytes.size()}};
    const auto whole = static_cast<ssize_t>(sizeof header + bytes.size());
    const ssize_t count = ::writev(spool, parts, 2);
    if (count < 0) return system_error("write the spool", errno);
    if (count != whole) return unavailable("the disk of the spool is full");
    return whole;
}

Result<Decoded> decode_frames(std::string_view text) {
    Decoded decoded;
    while (text.size() - decoded.used >= frame_header_bytes) {
        Header header;
        std::memcpy(&header, text.data() + decoded.used, sizeof header);
        if (header.mark != 'h' || header.zero != 0 || header.length > max_frame_bytes ||
            (header.stream != 1 && header.stream != 2))
            return corrupt("not a spool frame");
        if (text.size() - decoded.used - frame_header_bytes < header.length) break;
        decoded.frames.push_back({static_cast<Stream>(header.stream), from_ns(header.time_ns),
                                  text.substr(decoded.used + frame_header_bytes, header.length)});
        decoded.used += frame_header_bytes + header.length;
    }
    return decoded;
}

} // namespace hone::sandbox
