#include "sandbox/wall/access_rules.h"

#include "base/file.h"
#include "sandbox/wall/kernel.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <utility>

namespace hone::sandbox {

namespace {

constexpr uint64_t reading = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t devices = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK;

constexpr uint64_t of_files = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
                              LANDLOCK_ACCESS_FS_WRITE_FILE | kernel::landlock_fs_truncate |
                              kernel::landlock_fs_ioctl_device;

uint64_t known_rights(int version) {
    uint64_t rights = (1ull << 13) - 1; // version 1
    if (version >= 2) rights |= kernel::landlock_fs_refer;
    if (version >= 3) rights |= kernel::landlock_fs_truncate;
    if (version >= 5) rights |= kernel::landlock_fs_ioctl_device;
    return rights;
}

int add_rule(int ruleset, const char* path, uint64_t rights, int links = O_NOFOLLOW) {
    const Fd target(::open(path, O_PATH | O_CLOEXEC | links));
    if (!target.is_open()) return errno == ENOENT ? 0 : errno;
    struct stat status {};
    if (::fstat(target.get(), &status) != 0) return errno;
    landlock_path_beneath_attr rule{};
    rule.allowed_access = S_ISDIR(status.st_mode) ? rights : rights & of_files; // the kernel refuses the others
    rule.parent_fd = target.get();
    return ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0 ? 0 : errno;
}

} // namespace

int landlock_version() {
    return static_cast<int>(
        std::max(0l, ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION)));
}

int restrict_files(int version, std::span<const char* const> writable) {
    const uint64_t rights = known_rights(version);
    kernel::LandlockRuleset attributes;
    attributes.handled_access_fs = rights;
    if (version >= 6) attributes.scoped = kernel::landlock_scope_abstract_unix_socket | kernel::landlock_scope_signal;
    const size_t size = version >= 6 ? sizeof attributes : version >= 4 ? 16 : 8;
    const Fd ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0)));
    if (!ruleset.is_open()) return errno;
    if (const int failed = add_rule(ruleset.get(), "/", reading)) return failed;
    for (const char* path : writable)
        if (const int failed = add_rule(ruleset.get(), path, rights & ~devices)) return failed;
    return ::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) == 0 ? 0 : errno;
}

int restrict_folders(int version, const FolderRules& rules) {
    if (version < least_version_for_folders) return EOPNOTSUPP;
    const uint64_t rights = known_rights(version);
    kernel::LandlockRuleset attributes;
    attributes.handled_access_fs = rights;
    if (version >= 4) attributes.handled_access_net = kernel::landlock_net_bind_tcp | kernel::landlock_net_connect_tcp;
    if (version >= 6) attributes.scoped = kernel::landlock_scope_abstract_unix_socket | kernel::landlock_scope_signal;
    const size_t size = version >= 6 ? sizeof attributes : version >= 4 ? 16 : 8;
    const Fd ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0)));
    if (!ruleset.is_open()) return errno;
    constexpr uint64_t looking = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
    const uint64_t changing =
        rights & ~devices &
        ~(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_SOCK | kernel::landlock_fs_ioctl_device);
    for (const auto& [paths, granted] : {std::pair(&rules.readable, looking), std::pair(&rules.programs, reading),
                                         std::pair(&rules.writable, changing)})
        for (const std::string& path : *paths)
            if (const int failed = add_rule(ruleset.get(), path.c_str(), granted, 0)) return failed;
    return ::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) == 0 ? 0 : errno;
}

} // namespace hone::sandbox
