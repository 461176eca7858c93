// What a run with provider claude-managed sends to the provider: the endpoint of its model skill, the network of its
// environment, variables with the hosts they are bound to, repositories. Computed from settings and grant alone, when a
// preset is saved and again before a session is made; what cannot be kept there is refused, not weakened. Any thread.
#pragma once

#include "managed/launch.h"
#include "run/settings/settings.h"
#include "skill/grant.h"

namespace hone::run {

// A secret that goes into the vault of the run.
struct VaultVariable {
    std::string name;
    std::string secret_id;
    std::string secret_name;
    std::vector<std::string> hosts;
};

struct ManagedPlan {
    skill::ModelEndpoint endpoint;
    managed::EnvironmentSpec environment;
    std::vector<VaultVariable> variables;
    std::vector<managed::RepositorySpec> repositories;
    std::string repository_secret; // id; empty: they are public
    std::string repository_secret_name;
};

// Errors state the skill or setting and what to do.
Result<ManagedPlan> plan_managed(const Settings& settings, const skill::Grant& grant);
// What leaves this server with such a run, one line each; names of secrets, never values.
std::vector<std::string> what_leaves(const ManagedPlan& plan);
// The same for any run of a space: what an owner consents to.
std::vector<std::string> what_can_leave();
// What a managed session cannot keep of the promises of a sandbox, one line each.
std::vector<std::string> what_is_not_kept();

} // namespace hone::run
