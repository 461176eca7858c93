#include "sandbox/shim/slot.h"

#include "base/log.h"
#include "sandbox/shim/protocol.h"
#include "sandbox/wall/base_root.h"

#include <cerrno>
#include <poll.h>

namespace hone::sandbox {

namespace {

constexpr int longest_wait_ms = 3'600'000;

// True when the creator has something to say before anything else happens.
bool await_creator(const ShimStart& start_info, const Launched& launched) {
    pollfd waits[3] = {{start_info.creator.descriptor(), POLLIN, 0},
                       {start_info.lifeline.get(), POLLIN, 0},
                       {launched.process.get(), POLLIN, 0}};
    int ready;
    do ready = ::poll(waits, 3, longest_wait_ms);
    while (ready < 0 && errno == EINTR);
    return ready > 0 && waits[0].revents != 0 && waits[1].revents == 0 && waits[2].revents == 0;
}

Result<SandboxSpec> read_claim(ShimStart& start_info) {
    const Message message = TRY(start_info.creator.receive());
    const ShimRequest request = TRY(json::read<ShimRequest>(message.text));
    if (request.verb != ShimVerb::claim || !request.spec) return conflict("the sandbox was not claimed yet");
    TRY(check_policy(*start_info.machine, *request.spec));
    if (*request.spec->minimum_tier != start_info.tier) return conflict("a prepared sandbox is of tier ns");
    return *request.spec;
}

Result<SandboxSpec> prepare_and_wait(ShimStart& start_info, Slot& slot) {
    slot.cgroup = TRY(Cgroup::create(start_info.machine->cgroups, start_info.journal.cgroups));
    slot.launched =
        TRY(launch(ground_plan(*start_info.machine, *start_info.store, start_info.host_uid, true), slot.cgroup));
    TRY(await_waiting(slot.launched));
    // Without one, the thread's volume is made when it is wanted.
    auto volume = Volumes(*start_info.store, start_info.machine->as_root)
                      .make_spare(start_info.store->live(start_info.journal.id) + "/workspace.ext4", Limits());
    if (volume.ok()) slot.volume = std::move(volume).value();
    TRY(start_info.creator.send(json::write(ShimReply())));
    if (!await_creator(start_info, slot.launched)) return unavailable("not claimed");
    return read_claim(start_info);
}

} // namespace

LaunchPlan ground_plan(const Machine& machine, const Store& store, unsigned host_uid, bool plain_root) {
    LaunchPlan plan;
    plan.host_uid = host_uid;
    Ground& ground = plan.ground;
    ground.maker = machine.as_root ? MountMaker::shim : MountMaker::child;
    ground.masks = machine.masks;
    ground.limits_by = machine.cgroups.keeper();
    ground.landlock_version = machine.landlock_version;
    if (machine.filter) ground.filter = &*machine.filter;
    ground.init_program = machine.init_program.get();
    if (!plain_root) return plan;
    ground.lowers.push_back({store.base() + "/host", "", true, machine.as_root, false});
    ground.others = device_mounts();
    for (TreeMount& mount : host_mounts()) ground.others.push_back(std::move(mount));
    return plan;
}

std::optional<Slot> wait_for_claim(ShimStart& start_info) {
    Slot slot;
    auto claimed = prepare_and_wait(start_info, slot);
    if (claimed.ok()) {
        start_info.spec = std::move(claimed).value();
        start_info.journal.created = SystemClock().now();
        return slot;
    }
    abandon(slot.launched);
    if (auto removed = Cgroup::adopt(start_info.journal.cgroups).remove(); !removed.ok())
        log(Level::error, "cgroup not removed", {{"error", removed.error().message}});
    (void)start_info.store->forget(start_info.journal.id).ok();
    (void)start_info.creator.send(json::write(refusal<ShimReply>(claimed.error()))).ok();
    return std::nullopt;
}

} // namespace hone::sandbox
