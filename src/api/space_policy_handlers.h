// Routes about what presets, sessions and automations of a space may request at most. Handlers as in handlers.h.
#pragma once

#include "api/call.h"
#include "api/requests.h"
#include "run/space_policy.h"

namespace hone::api {

Result<One<run::SpacePolicyView>> get_space_policy(const Call&);
Result<One<run::SpacePolicyView>> put_space_policy(const Call&, const run::SpacePolicy&);

} // namespace hone::api
