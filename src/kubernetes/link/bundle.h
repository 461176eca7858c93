// Files and folders on the way from a server into a pod, as one stream: for each its kind (1 byte), mode (4 bytes), the
// length of its path (4 bytes) and of its content (8 bytes), little-endian, then both. The server writes, the pod
// reads. Blocks; any thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace hone::kubernetes {

enum class BundleKind : char { folder = 'd', file = 'f', link = 'l', end = '.' };

using BundleSink = std::function<Result<>(std::string_view)>;
// A file, or a folder with everything below it, under the name `target`. Links are sent as links; sockets and devices
// are left out.
Result<> write_bundle(const std::string& source, const std::string& target, const BundleSink& sink);
Result<> end_bundle(const BundleSink& sink);

// Reads a bundle from a descriptor and makes its files. `place` returns where a target is to be written.
Result<> read_bundle(int from, const std::function<Result<std::string>(const std::string&)>& place);

} // namespace hone::kubernetes
