// The home of a pod as one stream of bytes: what an init script left there, read out of the pod in which it ran and
// made again in others. Plain files, directories and links; no owners, set-id bits, attributes or devices. Who made the
// stream is not trusted by anyone who reads it: the server checks it before it is kept, and a pod makes its files as
// the worker's own user, behind the walls of the worker. One thread.
#pragma once

#include "base/result.h"
#include "sandbox/archive/layer_archive.h"

namespace hone::sandbox {

// Of the homes that are kept: each later run receives it before its first command.
constexpr LayerLimits home_limits{400'000, int64_t{2} << 30, 100};
// The longest stream with these contents: each entry has its name, its numbers and perhaps a target.
constexpr int64_t most_archive_bytes(const LayerLimits& limits) {
    return limits.most_bytes + limits.most_entries * 400;
}
// A name at the top that is in no archive: in a home that is kept it states whether a layer is made there, or was.
constexpr const char* home_mark = ".hone-layer";

Result<> pack_home(int home, const LayerLimits& limits, const std::function<Result<>(std::string_view)>& take);

// Reads it to its end and makes nothing. corrupt: it is not what `pack_home` makes of a home within the limits.
Result<> check_home(const LayerLimits& limits, const std::function<Result<std::string>()>& next);

enum class Existing {
    stays,    // files that are there hide what the archive has
    replaced, // they are of an attempt that was cut
};
// Makes its files below `home`. Mounts there, and folders of other users, hide what the archive has.
Result<> unpack_home(int home, Existing existing, const LayerLimits& limits,
                     const std::function<Result<std::string>()>& next);

} // namespace hone::sandbox
