#include "api/space_policy_handlers.h"

#include "api/run_handlers.h"

namespace hone::api {

Result<One<run::SpacePolicyView>> get_space_policy(const Call& call) {
    const auto space = TRY(call.access().spaces.choose(call.caller, call.at("space")));
    TRY(call.caller.require(access::Permission::space_read, space));
    const RunServices& services = *TRY(runs_of(call));
    return One<run::SpacePolicyView>{TRY(services.policies.find(call.caller, space))};
}

Result<One<run::SpacePolicyView>> put_space_policy(const Call& call, const run::SpacePolicy& body) {
    const auto space = TRY(call.access().spaces.choose(call.caller, call.at("space")));
    TRY(call.caller.require(access::Permission::space_update, space));
    RunServices& services = *TRY(runs_of(call));
    return One<run::SpacePolicyView>{TRY(services.policies.set(call.caller, space, body))};
}

} // namespace hone::api
