// A compressed stream piece by piece: what comes in may be of any length, what goes out is bounded by piece. gzip
// (several members too) and zstd. One thread.
#pragma once

#include "base/result.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace hone::telemetry {

class UnpackStream {
public:
    virtual ~UnpackStream() = default;
    // Hands the unpacked bytes on in pieces of at most 256 KB.
    virtual Result<> add(std::string_view bytes, const std::function<Result<>(std::string_view)>& take) = 0;
    // An error when the stream is not complete.
    virtual Result<> finish() = 0;

    // "", "identity", "gzip", "zstd"
    static Result<std::unique_ptr<UnpackStream>> make(std::string_view encoding);
};

} // namespace hone::telemetry
