// Landlock: a second wall around the mounts. Reads anywhere in the sandbox's root, writes only in the listed places,
// signals and abstract sockets only among its own processes where the kernel can do that.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace hone::sandbox {

// The kernel's Landlock version; 0 when it has none or it is off.
int landlock_version();

// Restricts this process permanently; no_new_privs must be set. Paths that do not exist are skipped. Errno or 0.
int restrict_files(int version, std::span<const char* const> writable);

// For a process whose root is the machine's own: what is not named here can neither be opened nor changed nor executed,
// and no TCP port can be bound or connected to where the kernel can do that (version 4). Links in these paths are
// followed, so no one but the server may write to them.
struct FolderRules {
    std::vector<std::string> readable; // files and folders, with all that is below
    std::vector<std::string> programs; // may also be executed
    std::vector<std::string> writable; // never executed
};
// Truncation is covered since version 3 (Linux 6.2): earlier ones are refused with EOPNOTSUPP.
constexpr int least_version_for_folders = 3;
int restrict_folders(int version, const FolderRules& rules);

} // namespace hone::sandbox
