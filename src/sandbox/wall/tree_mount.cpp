#include "sandbox/wall/tree_mount.h"

#include "base/text.h"
#include "sandbox/wall/kernel.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>

namespace hone::sandbox {

Result<Fd> open_tree_mount(const TreeMount& mount, int user_namespace) {
    Fd tree(::open_tree(AT_FDCWD, mount.source.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE));
    if (!tree.is_open()) return system_error("mount " + mount.source, errno);
    uint64_t attributes = MOUNT_ATTR_NOSUID;
    if (mount.read_only) attributes |= MOUNT_ATTR_RDONLY;
    if (!mount.device) attributes |= MOUNT_ATTR_NODEV;
    const int map = mount.idmapped ? user_namespace : -1;
    if (kernel::set_mount_attributes(tree.get(), attributes, map, true) != 0) {
        if (errno == EINVAL && map >= 0)
            return unavailable("the file system of " + mount.source +
                               " cannot map ids (tmpfs can from Linux 6.3 on; ext4, xfs and btrfs can before)");
        return system_error("restrict the mount of " + mount.source, errno);
    }
    return tree;
}

Result<Fd> open_mount_point(int root, const std::string& path, bool file) {
    Fd place = kernel::open_beneath(root, path.c_str(), O_PATH);
    if (place.is_open()) return place;
    if (errno != ENOENT) return system_error("open mount point /" + path, errno);
    std::string prefix;
    const auto parts = split(path, '/');
    for (size_t i = 0; i < parts.size(); ++i) {
        const std::string name(parts[i]);
        const Fd parent = kernel::open_beneath(root, prefix.empty() ? "." : prefix.c_str(), O_PATH | O_DIRECTORY);
        if (!parent.is_open()) return system_error("open mount point /" + prefix, errno);
        const bool make_file = file && i + 1 == parts.size();
        const int made = make_file ? ::mknodat(parent.get(), name.c_str(), S_IFREG | 0644, 0)
                                   : ::mkdirat(parent.get(), name.c_str(), 0755);
        if (made != 0 && errno != EEXIST) return system_error("create mount point /" + path, errno);
        prefix += (prefix.empty() ? "" : "/") + name;
    }
    place = kernel::open_beneath(root, path.c_str(), O_PATH);
    if (!place.is_open()) return system_error("open mount point /" + path, errno);
    return place;
}

Result<> attach_mount(int mount, int place, const std::string& name) {
    if (::move_mount(mount, "", place, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0)
        return system_error("attach the mount of /" + name, errno);
    return {};
}

} // namespace hone::sandbox
