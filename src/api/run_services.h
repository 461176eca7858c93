// What the API needs of runs: presets, runs, their transcripts and artifacts. Built once by server/; thread-safe.
#pragma once

#include "api/run_followers.h"
#include "review/artifacts.h"
#include "run/egress.h"
#include "run/harness_store.h"
#include "run/presets.h"
#include "run/runs.h"
#include "run/space_policy.h"

namespace hone::api {

struct RunServices {
    RunServices(sql::Database& database, const Clock& clock, access::Access& access, run::SettingsCheck& check,
                const std::string& data_directory, const run::Ceilings& ceilings = {})
        : transcript(database, clock),
          policies(database, clock, access.audit, ceilings),
          presets(database, clock, access.audit, check),
          runs(database, clock, access, presets, check, transcript),
          egress(database, access.audit),
          artifacts(database, clock, access, data_directory),
          harnesses(data_directory),
          followers(transcript, clock) {}

    run::Transcript transcript;
    run::SpacePolicies policies;
    run::Presets presets;
    run::Runs runs;
    run::Egress egress;
    review::Artifacts artifacts;
    run::HarnessStore harnesses;
    RunFollowers followers;
};

} // namespace hone::api
