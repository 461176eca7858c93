// Where segments of the span log wait for which the disk has no room, while spans cannot be stored: the object store,
// which the server provides. Any thread; blocks.
#pragma once

#include "base/result.h"

#include <functional>
#include <string>

namespace hone::telemetry {

class SegmentArchive {
public:
    using IsStopped = std::function<bool()>; // called for each piece: true ends the call

    virtual ~SegmentArchive() = default;
    // The content of the file under this name, durable when it returns. Returns its SHA-256, in hexadecimal digits.
    virtual Result<std::string> put(const std::string& name, const std::string& path, const IsStopped& is_stopped) = 0;
    // Into a new file, durable when it returns. not_found, or corrupt when the content has another SHA-256.
    virtual Result<> get(const std::string& name, const std::string& sha256, const std::string& path,
                         const IsStopped& is_stopped) = 0;
    // One that is not there is fine.
    virtual Result<> remove(const std::string& name) = 0;
};

} // namespace hone::telemetry
