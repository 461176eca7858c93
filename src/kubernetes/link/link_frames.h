// The frames between a server and the first process of a pod, over any channel of bytes: a type (1 byte), a stream
// (4 bytes), the length of the payload (4 bytes), little-endian, then the payload. docs/adr/0024. Pure; one thread at
// a time per parser.
#pragma once

#include "base/result.h"
#include "json/json.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::kubernetes {

enum class LinkFrameKind : uint8_t {
    hello = 1,  // LinkHello; the first frame in each direction of each channel
    open = 2,   // StreamOpen
    data = 3,   // offset (8 bytes), then bytes
    window = 4, // acknowledged offset, limit offset (8 bytes each)
    end = 5,    // offset (8 bytes): the stream's length in this direction
    reset = 6,  // why, as text
    ping = 7,
    pong = 8,
};

constexpr size_t link_header_bytes = 9;
constexpr size_t most_link_payload = 64 << 10;
constexpr int64_t link_version = 1;

// Where a reliable stream is: what its receiver has, its end counted as one more, and how far its sender may send.
struct StreamPosition {
    int64_t stream = 0;
    int64_t received = 0;
    int64_t limit = 0;
    static constexpr Pack fields{
        Field{"stream", &StreamPosition::stream, "Number of the stream."},
        Field{"received", &StreamPosition::received, "Bytes received, and one for the end."},
        Field{"limit", &StreamPosition::limit, "Offset up to which may be sent."},
    };
};

struct LinkHello {
    int64_t version = link_version;
    std::string sandbox;
    int64_t epoch = 0;
    std::string session; // the server's: another one has none of the streams
    std::string boot;    // the pod's first process; from a server: the one it knows, or empty
    std::vector<StreamPosition> streams;
    static constexpr Pack fields{
        Field{"version", &LinkHello::version, "Of these frames."},
        Field{"sandbox", &LinkHello::sandbox, "Which sandbox."},
        Field{"epoch", &LinkHello::epoch, "Of the server's right to the sandbox: a lower one is rejected."},
        Field{"session", &LinkHello::session, "Of the server's end."},
        Field{"boot", &LinkHello::boot, "Of the pod's first process, as far as the sender knows it."},
        Field{"streams", &LinkHello::streams, "Reliable streams."},
    };
};

enum class StreamKind { input, output, file, connection };
constexpr auto enum_names(StreamKind) {
    return std::array{EnumName{StreamKind::input, "input"}, EnumName{StreamKind::output, "output"},
                      EnumName{StreamKind::file, "file"}, EnumName{StreamKind::connection, "connection"}};
}
// A connection ends with its channel; the others continue on the next one.
constexpr bool is_reliable(StreamKind kind) {
    return kind != StreamKind::connection;
}

struct StreamOpen {
    StreamKind kind = StreamKind::connection;
    std::optional<int64_t> port;
    std::optional<int64_t> command;
    std::optional<std::string> path;
    std::optional<int64_t> offset;
    static constexpr Pack fields{
        Field{"kind", &StreamOpen::kind, "What for."},
        Field{"port", &StreamOpen::port, "Of a connection: 3128 or 3129."},
        Field{"command", &StreamOpen::command, "Of input and output."},
        Field{"path", &StreamOpen::path, "Of a file."},
        Field{"offset", &StreamOpen::offset, "Of output and files: where to begin."},
    };
};

struct LinkFrame {
    LinkFrameKind kind = LinkFrameKind::ping;
    uint32_t stream = 0;
    std::string_view payload; // valid during the call
};

void append_link_frame(std::string& out, LinkFrameKind kind, uint32_t stream, std::string_view payload);
void append_u64(std::string& out, uint64_t number);
uint64_t read_u64(std::string_view bytes); // the first eight

// Cuts a channel into frames, however its bytes arrive. Errors: `corrupt`, and those of the callback.
class LinkFrameParser {
public:
    Result<> feed(std::string_view bytes, const std::function<Result<>(const LinkFrame&)>& on_frame);
    void clear() { m_buffer.clear(); }

private:
    std::string m_buffer;
};

} // namespace hone::kubernetes
