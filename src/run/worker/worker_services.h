// What workers use, all of it built by server/ and alive for as long as any worker. Values and interfaces only.
#pragma once

#include "broker/gateway/gateway.h"
#include "run/egress.h"
#include "run/harnesses/harness_store.h"
#include "run/run_spans.h"
#include "run/run_store.h"
#include "run/settings/space_policy.h"
#include "sandbox/image/store.h"
#include "sandbox/provider/provider.h"

namespace hone::forge {
class Setup;
class Supply;
} // namespace hone::forge

namespace hone::run {

class BuildNetworks;
class Uploads;

// The folder of a custom skill, as the worker sees it.
struct SkillFolder {
    struct File {
        std::string path;
        std::string content;
        bool executable = false;
    };
    std::string name;
    std::vector<File> files;
};

// What a run gets from its skills. The server implements it over skill/ and secret/.
class WorkerSkills {
public:
    virtual ~WorkerSkills() = default;
    // `repositories`: addresses of the run's own; what skills grant on a forge is narrowed to them.
    virtual Result<skill::Grant> grant(const access::SpaceId& space, const std::vector<std::string>& skills,
                                       const std::vector<std::string>& repositories) = 0;
    // The forges that the run must not write to: those with a registered repository, and those of its own ones.
    virtual Result<std::vector<broker::ForgeHost>> forges(const access::SpaceId& space,
                                                          const std::vector<std::string>& repositories) = 0;
    virtual Result<std::vector<SkillFolder>> folders(const access::SpaceId& space,
                                                     const std::vector<std::string>& skills) = 0;
    virtual std::shared_ptr<broker::SecretOpener> opener(const access::SpaceId& space, const RunId& run) = 0;
    // The seed of the run's authority and placeholders: the same value, also after a restart, until it is deleted.
    virtual Result<std::shared_ptr<const crypto::SecretBytes>> seed(const access::SpaceId& space, const RunId& run) = 0;
    virtual void delete_seed(const RunId& run) = 0;
    // The value of a variable of sandbox.secret_env, of the preset or run `owner`.
    virtual Result<crypto::SecretBytes> secret_variable(const access::SpaceId& space, const RunId& run,
                                                        const std::string& owner, const std::string& name) = 0;
};

struct WorkerServices {
    const Clock& clock;
    access::Access& access;
    RunStore& store;
    sandbox::Provider& provider;         // of this machine
    sandbox::Provider* pods;             // of a cluster; null: none is connected
    const sandbox::Store& sandbox_store; // of this machine: layers, threads
    broker::Broker& broker;
    broker::Gateway& gateway;
    broker::UsageLedger& ledger;
    WorkerSkills& skills;
    Egress& egress;
    SpanSink& spans;
    const HarnessStore& harnesses;
    std::string data_directory;
    std::string tool_program;                // the `hone` command for sandboxes; empty: not found
    std::string playbooks;                   // folder of playbooks; empty: not found
    forge::Supply* supply = nullptr;         // null: no repositories
    const SpacePolicies* policies = nullptr; // null: none are checked
    const forge::Setup* setup = nullptr;     // null: nothing is installed for repositories
    const BuildNetworks* networks = nullptr; // null: init scripts and setup have no network
    const Uploads* uploads = nullptr;        // null: runs get no files
};

} // namespace hone::run
