// The output of one command on disk: frames of stdout and stderr in the order they came, appended by the shim, read by
// readers that follow it, also after a restart of the server. Format: docs/sandbox.md. One writer, any number of
// readers.
#pragma once

#include "base/file.h"
#include "base/result.h"
#include "base/time.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone::sandbox {

enum class Stream : uint8_t { out = 1, err = 2 };

struct Frame {
    Stream stream = Stream::out;
    Time time{};
    std::string_view bytes; // into the text that was decoded
};

constexpr size_t frame_header_bytes = 16;
constexpr size_t max_frame_bytes = 64 << 10;

// Appends one frame; returns the bytes the file grew by.
Result<int64_t> append_frame(int spool, Stream stream, Time time, std::string_view bytes);

struct Decoded {
    std::vector<Frame> frames;
    size_t used = 0; // bytes of whole frames; continue from there
};
// Decodes whole frames; an incomplete last one is left for later. Code::corrupt when the text is no spool.
Result<Decoded> decode_frames(std::string_view text);

} // namespace hone::sandbox
