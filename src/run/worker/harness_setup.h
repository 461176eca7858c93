// What a run gives its harness, from its settings and its skills. Called before each process of a harness. Pure, apart
// from a check that a playbook exists.
#pragma once

#include "run/worker/live_run.h"

namespace hone::run {

constexpr std::string_view home_inside = "/workspace/.hone/home";
constexpr std::string_view trigger_file = "/hone/trigger.json";

// Sets `run.harness`, too. Skill folders are added by the preparation, which writes them.
Result<harness::Setup> make_harness_setup(LiveRun& run);

} // namespace hone::run
