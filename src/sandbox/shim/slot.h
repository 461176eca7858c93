// A slot: a sandbox made up to the point where one must know what it is for. It sits in its groups and namespaces with
// the plain root mounted and an empty volume at hand, so that a start costs only the rest. Used once; ends when its
// creator or the spawner goes, when it is not claimed for an hour, or when anything about it is odd. In the shim's
// process, single-threaded.
#pragma once

#include "sandbox/image/volume.h"
#include "sandbox/shim/shim.h"
#include "sandbox/wall/cgroup.h"
#include "sandbox/wall/launch.h"

#include <optional>

namespace hone::sandbox {

struct Slot {
    Cgroup cgroup;
    Launched launched;
    std::optional<SpareVolume> volume; // for a new thread of the usual size; its file goes with the sandbox's folder
};

// The part of every sandbox of tier `ns` that no spec changes. `plain_root`: with the root over the host's /usr.
LaunchPlan ground_plan(const Machine& machine, const Store& store, unsigned host_uid, bool plain_root);

// Prepares, notifies the creator, and waits. Fills start_info.spec; none when it was not claimed: then nothing is left
// of it.
std::optional<Slot> wait_for_claim(ShimStart& start_info);

} // namespace hone::sandbox
