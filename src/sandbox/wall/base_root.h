// The roots that need no image: `host` shows the machine's /usr read-only below an /etc of our own without any secret;
// `frame` holds only the mount points that every root needs and lies over images. Made once per data directory.
#pragma once

#include "base/result.h"
#include "sandbox/wall/tree_mount.h"

#include <string>
#include <vector>

namespace hone::sandbox {

// Creates or completes the two folders in `directory`. `owner` is the uid the files get, -1 the caller's.
Result<> make_base_roots(const std::string& directory, int owner);

// What of the host appears in the `host` root: /usr and the few public parts of /etc.
std::vector<TreeMount> host_mounts();
// The device nodes every sandbox gets.
std::vector<TreeMount> device_mounts();

} // namespace hone::sandbox
