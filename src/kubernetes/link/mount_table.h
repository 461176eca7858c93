// Where a pod keeps the files of a spec's mounts: each has a place in one volume, which the pod mounts read-only at the
// target. The list is in the command line of the pod: "d:/hone", "f:/etc/ssl/certs/ca-certificates.crt". Pure.
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace hone::kubernetes {

constexpr const char* files_volume = "/hone-files";
// Of a thread, in the init container only; the worker has parts of it: /workspace and the home.
constexpr const char* thread_volume = "/hone-volume";

struct TargetMount {
    bool is_folder = true;
    std::string target;
};
Result<std::vector<TargetMount>> parse_targets(const std::vector<std::string>& words);
// "m0", "m1", …: its name in the volume.
std::string place_name(size_t index);
// Where a path below one of the targets is written. Errors: it is below none.
Result<std::string> place_of(const std::vector<TargetMount>& mounts, const std::string& path);

} // namespace hone::kubernetes
