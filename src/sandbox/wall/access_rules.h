// Landlock: a second wall around the mounts. Reads anywhere in the sandbox's root, writes only in the listed places,
// signals and abstract sockets only among its own processes where the kernel can do that.
#pragma once

#include <span>

namespace hone::sandbox {

// The kernel's Landlock version; 0 when it has none or it is off.
int landlock_version();

// Restricts this process permanently; no_new_privs must be set. Paths that do not exist are skipped. Errno or 0.
int restrict_files(int version, std::span<const char* const> writable);

} // namespace hone::sandbox
