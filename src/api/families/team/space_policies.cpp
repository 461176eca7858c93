// What presets, sessions and automations of a space may request at most.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "run/run_services.h"

namespace hone::api {

Result<One<run::SpacePolicyView>> get_space_policy(const Call& call) {
    const auto space = TRY(space_of(call, call.at("space")));
    return One<run::SpacePolicyView>{TRY(call.services.run.policies.find(call.caller, space))};
}

Result<One<run::SpacePolicyView>> put_space_policy(const Call& call, const run::SpacePolicy& body) {
    const auto space = TRY(space_of(call, call.at("space")));
    return One<run::SpacePolicyView>{TRY(call.services.run.policies.set(call.caller, space, body))};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route space_policies_table[] = {
    route<get_space_policy>("GET", "/v1/spaces/{space}/policy", need(space_read),
                            "Limits of presets, sessions and automations of a space."),
    route<put_space_policy>("PUT", "/v1/spaces/{space}/policy", need(space_update),
                            "Replace the policy of a space; it applies to every run that starts later."),
};

} // namespace

std::span<const Route> space_policies_routes() {
    return space_policies_table;
}

} // namespace hone::api
