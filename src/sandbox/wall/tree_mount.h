// Mounts that are made as descriptors first and attached later, so that nothing ever appears in the host's mount table
// and nothing has to be unmounted after a crash. Root makes them outside, with ids mapped; an ordinary user makes them
// inside the sandbox's own namespaces. Single-threaded callers.
#pragma once

#include "base/fields.h"
#include "base/file.h"
#include "base/result.h"

#include <string>

namespace hone::sandbox {

// A directory or file of the host that will appear in the sandbox.
struct TreeMount {
    std::string source;
    std::string target; // below the sandbox's root, no leading slash
    bool read_only = true;
    bool idmapped = false; // on disk the files belong to uid 1000; inside too, whatever the host uid is
    bool device = false;   // may be used as a device
    static constexpr Pack fields{
        Field{"source", &TreeMount::source, "Path on the host."},
        Field{"target", &TreeMount::target, "Path below the sandbox's root."},
        Field{"read_only", &TreeMount::read_only, "Whether it cannot be written."},
        Field{"idmapped", &TreeMount::idmapped, "Whether ids are mapped."},
        Field{"device", &TreeMount::device, "Whether it is a device node."},
    };
};

// `user_namespace` maps ids when the mount requires it; -1 leaves them.
Result<Fd> open_tree_mount(const TreeMount& mount, int user_namespace);

// Opens `path` below `root` as a place to mount on, creating directories (or, for `file`, an empty file) as needed.
// Refuses symbolic links on the way.
Result<Fd> open_mount_point(int root, const std::string& path, bool file);

// Attaches a detached mount at a place opened by `open_mount_point`.
Result<> attach_mount(int mount, int place, const std::string& name);

} // namespace hone::sandbox
