// A stream of bytes made plain: gzip, zstd or neither, distinguished by its first bytes. Memory is bounded whatever the
// stream claims. One thread per stream.
#pragma once

#include "base/result.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace hone::sandbox {

class Decompressor {
public:
    using Taker = std::function<Result<>(std::string_view)>;
    explicit Decompressor(Taker take);
    ~Decompressor();
    Decompressor(const Decompressor&) = delete;
    Decompressor& operator=(const Decompressor&) = delete;

    Result<> feed(std::string_view bytes);
    // After the last byte: Code::corrupt when the stream was cut off.
    Result<> finish();

private:
    Result<> choose();

    struct Stream;
    struct Plain;
    struct Gzip;
    struct Zstd;
    const Taker m_take;
    std::string m_head; // until the kind is known
    std::unique_ptr<Stream> m_stream;
};

} // namespace hone::sandbox
