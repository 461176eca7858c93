// Thread volumes: the /workspace of a thread, kept between its sandboxes and never shown to another thread. File names
// are keyed hashes of the thread's name, so that no spelling of a name reaches another's files and the disk
// does not show which threads exist. Root keeps each in an ext4 image of fixed size and inode count; an ordinary user
// keeps a folder that the shim watches. Any process: a lock file is held by its user.
#pragma once

#include "base/file.h"
#include "base/result.h"
#include "sandbox/image/store.h"
#include "sandbox/image/tree.h"
#include "sandbox/provider/spec.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hone::sandbox {

// A volume in use by one sandbox.
struct Volume {
    Fd lock;
    Fd mount;              // root: the image, mounted but attached nowhere
    std::string directory; // otherwise: where the files are
    Fd files;              // for measuring and exporting
};

// An empty volume that was made and mounted before it was needed. Root only.
struct SpareVolume {
    std::string path;
    Limits limits;
    Fd mount;
};

// The image of a volume as a mount that is attached nowhere, read-only: nothing in it is a device or a program, and no
// link in it is followed. Needs root's capabilities.
Result<Fd> mount_for_reading(int image);
// For a process that has dropped them: gets the mount from another one.
using Mounter = std::function<Result<Fd>(int image)>;

class Volumes {
public:
    Volumes(const Store& store, bool as_root) : m_store(store), m_as_root(as_root) {}

    // Creates it on first use with the limits' disk size, or makes it of the spare one, which is used up in any case.
    // Code::busy while another sandbox has it.
    Result<Volume> open(const std::string& thread, const Limits& limits,
                        std::optional<SpareVolume> spare = std::nullopt) const;
    // `path`: on the disk of the threads. Making a volume's file system and mounting it waits for the disk.
    Result<SpareVolume> make_spare(std::string path, const Limits& limits) const;
    // A copy of `from` under the name `to`, which must be new.
    Result<> fork(const std::string& from, const std::string& to) const;
    // Missing is fine.
    Result<> remove(const std::string& thread) const;
    // Removes volumes not used since `before`, but for those of the threads in `kept`; returns how many.
    Result<int64_t> expire(Time before, const std::vector<std::string>& kept = {}) const;
    // Disk that it takes; 0 when there is none.
    Result<int64_t> bytes(const std::string& thread) const;
    // An unused volume to read from, through a view that follows no link. Code::busy while a sandbox has it.
    Result<Volume> view(const std::string& thread, const Mounter& mount = mount_for_reading) const;
    // Regular files of an unused volume, through a read-only view that follows no link.
    Result<ExportReport> export_files(const std::string& thread, const std::string& destination,
                                      const ExportLimits& limits) const;

private:
    Result<std::string> path(std::string_view thread) const;
    Result<Fd> lock(const std::string& path, bool create) const;
    Result<> create(const std::string& path, const Limits& limits) const;

    const Store& m_store;
    bool m_as_root;
};

// Whether this process can mount images.
bool can_mount_images();

} // namespace hone::sandbox
