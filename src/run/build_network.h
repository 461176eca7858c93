// The network of what prepares and verifies a run: init script, setup, verification. An allow list of their own (the
// mirrors of sandbox.packages and sandbox.setup_hosts), no secret, no gateway; each request is a row of the run's
// egress log. Thread-safe.
#pragma once

#include "broker/egress/packages.h"
#include "run/egress.h"
#include "run/settings/settings.h"
#include "run/worker/worker_services.h"
#include "sandbox/provider/build_network.h"

namespace hone::run {

class BuildNetworks {
public:
    // All references must outlive it and what it makes.
    BuildNetworks(broker::Broker& broker, Egress& egress, WorkerSkills& skills, const broker::PackageMirrors& mirrors,
                  const Clock& clock, std::string data_directory)
        : m_broker(broker),
          m_egress(egress),
          m_skills(skills),
          m_mirrors(mirrors),
          m_clock(clock),
          m_directory(std::move(data_directory) + "/runs") {}

    // Empty: the settings name neither packages nor hosts.
    sandbox::MakeBuildNetwork of(const access::SpaceId& space, const RunId& run, const Settings& settings) const;
    // What a layer that is built with it depends on.
    std::string description(const Settings& settings) const;
    const broker::PackageMirrors& mirrors() const { return m_mirrors; }
    // Files of builds that a killed server left; at the start, when there is no build.
    void remove_leftovers() const;

private:
    friend class BrokeredBuild;

    broker::Broker& m_broker;
    Egress& m_egress;
    WorkerSkills& m_skills;
    const broker::PackageMirrors& m_mirrors;
    const Clock& m_clock;
    const std::string m_directory;
};

// The rules of sandbox.packages and sandbox.setup_hosts.
Result<std::vector<broker::PolicyRule>> build_rules(const broker::PackageMirrors& mirrors,
                                                    const SandboxSettings& wanted);
// Writes the files of the clients of packages to the folder that a sandbox sees as /hone.
Result<> write_package_files(const broker::PackageMirrors& mirrors, const std::vector<broker::PackageKind>& kinds,
                             const std::string& folder);

} // namespace hone::run
