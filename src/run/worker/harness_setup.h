// What a run gives its harness, from its settings and its skills. Called before each process of a harness. Pure, apart
// from a check that a playbook exists.
#pragma once

#include "run/worker/live_run.h"

namespace hone::run {

// The home of every process of a run; kept with its thread. A thread's volume holds it (sandbox/provider/spec.h,
// keep_home), and in tier gvisor, which has no layers, it is the folder there.
inline std::string_view home_inside(const Settings& settings) {
    return *settings.sandbox.value.minimum_tier == sandbox::Tier::ns ? sandbox::worker_home : "/workspace/.hone/home";
}
constexpr std::string_view trigger_file = "/hone/trigger.json";

// Sets `run.harness`, too. Skill folders are added by the preparation, which writes them.
Result<harness::Setup> make_harness_setup(LiveRun& run);

} // namespace hone::run
