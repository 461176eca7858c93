// Presets, runs, their transcripts and what they left, as one object. Built once by server/; thread-safe.
#pragma once

#include "review/artifacts.h"
#include "run/build_network.h"
#include "run/egress.h"
#include "run/files/run_files.h"
#include "run/harnesses/harness_installer.h"
#include "run/managed/consents.h"
#include "run/runs.h"
#include "run/settings/presets.h"
#include "run/settings/space_policy.h"

namespace hone::run {

struct RunServices {
    RunServices(sql::Database& database, const Clock& clock, access::Access& access, SettingsCheck& check,
                SpacePolicies& space_policies, const Providers& run_providers, const std::string& data_directory)
        : transcript(database, clock),
          providers(run_providers),
          policies(space_policies),
          consents(database, clock, access.audit),
          presets(database, clock, access.audit, check),
          uploads(database, clock, data_directory),
          runs(database, clock, access, presets, check, transcript),
          egress(database, access.audit),
          artifacts(database, clock, access, data_directory),
          harnesses(data_directory),
          installer(harnesses, clock, access.audit),
          files(database, clock, runs, uploads, data_directory) {
        runs.set_uploads(uploads);
    }

    Transcript transcript;
    const Providers& providers;
    SpacePolicies& policies;
    Consents consents;
    Presets presets;
    Uploads uploads;
    Runs runs;
    Egress egress;
    review::Artifacts artifacts;
    HarnessStore harnesses;
    HarnessInstaller installer;
    const BuildNetworks* build_networks = nullptr; // null: nothing is built or verified with a network
    RunFiles files;
};

} // namespace hone::run
