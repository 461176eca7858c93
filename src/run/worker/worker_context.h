// What a worker reads about its reach: the skills whose instructions it can read, and the hosts that it can reach.
// Pure; any thread.
#pragma once

#include "harness/driver.h"
#include "run/settings/settings.h"
#include "skill/grant.h"

namespace hone::run {

// Sentences for the worker's context file. Names of variables and hosts only: never a value.
std::string describe_reach(const Settings& settings, const skill::Grant& grant,
                           const std::vector<harness::Setup::SkillFolder>& skills);

} // namespace hone::run
