// Verified fixes: recorded traces of an issue, run on the base and on the branch of a review.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "signal/replay/fix_replays.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ReplayOfRevision {
    static constexpr bool is_query = true;
    std::optional<int64_t> revision;
    static constexpr Pack fields{
        Field{"revision", &ReplayOfRevision::revision, "Number of the revision; the newest if not given."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

Result<One<review::BranchReplay>> get_replay(const Call& call, const ReplayOfRevision& query) {
    const auto id = TRY(id_in_path<review::ArtifactTag>(call, "artifact"));
    return One<review::BranchReplay>{TRY(call.services.fix_replays.find(call.caller, id, query.revision.value_or(0)))};
}

Result<One<review::BranchReplay>> start_replay(const Call& call, const signal::StartReplay& body) {
    const auto id = TRY(id_in_path<review::ArtifactTag>(call, "artifact"));
    return One<review::BranchReplay>{TRY(call.services.fix_replays.start(call.caller, id, body))};
}

Result<One<review::BranchReplay>> stop_replay(const Call& call) {
    const auto id = TRY(id_in_path<review::ArtifactTag>(call, "artifact"));
    return One<review::BranchReplay>{TRY(call.services.fix_replays.stop(call.caller, id))};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route replays_table[] = {
    route<get_replay>(
        "GET", "/v1/reviews/{artifact}/replay", need(run_read),
        "What the replay of a branch proves: verdicts on base and branch, outcome, what was not replayed."),
    route<start_replay>("POST", "/v1/reviews/{artifact}/replay", need(experiment_write),
                        "Run the traces of the branch's issue and a control set on the base and on the branch."),
    route<stop_replay>("POST", "/v1/reviews/{artifact}/replay/stop", need(experiment_write), "Stop a replay."),
};

} // namespace

std::span<const Route> replays_routes() {
    return replays_table;
}

} // namespace hone::api
