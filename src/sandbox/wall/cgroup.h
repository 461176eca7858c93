// Control groups of one sandbox, on a machine with version 2, with version 1, with both (limits in 1, kill and freeze
// in 2), or with neither. `CgroupHost` finds out once what there is; a `Cgroup` is a set of directories that share a
// name. Used by the spawner and the shims, each single-threaded.
#pragma once

#include "base/file.h"
#include "base/result.h"
#include "sandbox/provider/spec.h"
#include "sandbox/wall/event_file.h"

#include <string>
#include <sys/types.h>
#include <vector>

namespace hone::sandbox {

// Where groups can be made. Paths are directories of the cgroup file systems; empty when not usable.
struct CgroupHost {
    std::string unified;                    // version 2, below our own group
    bool unified_limits = false;            // with the memory, pids and cpu controllers
    bool unified_io = false;                // and with the io controller
    std::string memory, pids, cpu, freezer; // version 1, below our own groups
    std::string blkio;                      // version 1, with throttling
    std::string advice;                     // what is missing, for people

    LimitKeeper keeper() const;
    bool can_limit_io() const { return unified_limits ? unified_io : !blkio.empty(); }
    bool can_freeze() const { return !unified.empty() || !freezer.empty(); }
    // Reads this process's groups. `prepare` makes room for children in a delegated version 2 group: it moves the
    // processes found there into a leaf of their own, which the kernel demands before controllers can be handed down.
    static CgroupHost probe(bool prepare);
};

// Removes empty groups of sandboxes made before that, of any server: when the data of a server are deleted, no other
// step does. Safe beside other servers: a group in use is not empty for long, and the kernel keeps those that are not
// empty.
int64_t remove_empty_groups(const CgroupHost& host, Time before);

struct CgroupUse {
    int64_t peak_memory_bytes = 0;
    int64_t cpu_ns = 0;
    int64_t oom_kills = 0;
    int64_t pids_refused = 0;
};

class Cgroup {
public:
    // The directories that `create` will make: journal them first.
    static std::vector<std::string> plan(const CgroupHost& host, const SandboxId& id);
    // The set may be empty: then every call succeeds and does nothing. Without limits until `limit`.
    static Result<Cgroup> create(const CgroupHost& host, std::vector<std::string> directories);
    Result<> limit(const CgroupHost& host, const Limits& limits) const;
    // Throttles reads and writes on the disks with these numbers (`block_device`). Version 1 does not see writes that
    // wait in the page cache. Code::unavailable where the machine cannot.
    Result<> limit_io(const CgroupHost& host, const std::vector<std::string>& devices, int64_t bytes_per_second) const;
    // For cleaning up after a shim that died.
    static Cgroup adopt(std::vector<std::string> directories);

    // For CLONE_INTO_CGROUP; -1 without version 2.
    int clone_descriptor() const { return m_clone_directory.get(); }
    // The version 1 groups, which a clone cannot name: moves another process into them, for which the kernel waits for
    // a grace period of 7 ms and more.
    Result<> attach(pid_t pid) const;
    // The same groups for a process that moves itself, which waits for nothing: open files for `enter_groups`.
    Result<std::vector<Fd>> entrances() const;
    // Readable (or with an urgent event) when the group may have run out of memory; -1 without.
    int oom_descriptor() const { return oom_is_urgent_event() ? m_memory_events.descriptor() : m_oom.get(); }
    bool oom_is_urgent_event() const { return m_memory_events.descriptor() >= 0; }
    // Whether it did. Takes the event: the descriptor is quiet until the next one.
    bool take_oom() const;

    Result<> freeze(bool frozen) const;
    // Whether all processes are frozen; freezing takes the kernel a moment.
    bool is_frozen() const;
    // Kills whatever is left inside, frozen or not.
    void kill() const;
    CgroupUse use() const;
    // Kills, waits until empty, removes the directories. Missing ones are fine.
    Result<> remove();

private:
    std::string find(std::string_view file) const;
    bool is_named_by_clone(const std::string& directory) const;

    std::vector<std::string> m_directories;
    Fd m_clone_directory;
    EventFile m_memory_events; // version 2
    Fd m_oom;                  // version 1: an eventfd that the kernel writes to
    Fd m_oom_file;
};

// "major:minor" of the whole disk that holds the file system of a path or descriptor; empty when it is on no single
// disk (tmpfs, btrfs, network).
std::string block_device(dev_t device);

// Moves the calling process, which must have one thread, into the groups of `entrances`.
Result<> enter_groups(const std::vector<Fd>& entrances);

} // namespace hone::sandbox
