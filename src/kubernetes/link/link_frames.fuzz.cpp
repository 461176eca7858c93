// The link's frames: the same frames however the bytes are cut; and both ends of a link survive any bytes, with bounded
// memory and without a stream that was never opened.
#include "kubernetes/link/link.h"

#include <cstdlib>

using namespace hone;
using namespace hone::kubernetes;

namespace {

std::string read_frames(std::string_view bytes, size_t step) {
    LinkFrameParser parser;
    std::string seen;
    for (size_t at = 0; at < bytes.size(); at += step) {
        const auto fed = parser.feed(bytes.substr(at, step), [&](const LinkFrame& frame) -> Result<> {
            append_link_frame(seen, frame.kind, frame.stream, frame.payload);
            return {};
        });
        if (!fed.ok()) return seen + "failed";
    }
    return seen;
}

// The bytes after a proper hello, to a link with streams of its own; its streams are read now and then.
void attack(LinkSide side, std::string_view bytes, size_t step) {
    Link link({side, "sbx_1", 1, side == LinkSide::server ? "s" : "", side == LinkSide::pod ? "b" : ""});
    link.connected();
    LinkHello hello;
    hello.sandbox = "sbx_1";
    hello.epoch = 1;
    hello.session = "s";
    hello.boot = side == LinkSide::server ? "b" : "";
    std::string first;
    append_link_frame(first, LinkFrameKind::hello, 0, json::write(hello));
    if (!link.feed(first).ok()) std::abort();
    StreamOpen open;
    open.kind = StreamKind::input;
    const uint32_t own = link.open(open).value();
    link.write(own, "some bytes");
    link.end(own);
    size_t sent = 0;
    for (size_t at = 0; at < bytes.size(); at += step) {
        if (!link.feed(bytes.substr(at, step)).ok()) {
            link.connected(); // the next channel
            if (!link.feed(first).ok()) return;
        }
        for (const LinkEvent& event : link.take_events())
            if (event.kind == LinkEvent::Kind::readable &&
                link.read(event.stream, 1 << 20).size() > stream_window_bytes)
                std::abort();
        sent += link.take_output(1 << 20).size();
        if (link.streams() > 2 * most_streams) std::abort();
    }
    if (sent > 100 * bytes.size() + (1 << 20)) std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 1) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
    const size_t step = 1 + data[0] % 64;
    if (read_frames(bytes, step) != read_frames(bytes, bytes.size() + 1)) std::abort();
    attack(LinkSide::server, bytes, step);
    attack(LinkSide::pod, bytes, step);
    return 0;
}
