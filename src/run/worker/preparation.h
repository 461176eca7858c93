// From a claimed run to a sandbox in which its harness can start: skills, layers, the sandbox, the network,
// repositories. After a restart of the server: to the same place with the sandbox that is there. On the worker's
// thread.
//   prepare | resume
#pragma once

#include "forge/supply.h"
#include "run/worker/live_run.h"
#include "run/worker/network.h"
#include "sandbox/image/layer.h"

namespace hone::run {

class Preparation {
public:
    explicit Preparation(LiveRun& run) : m_run(run) {}

    // None: the harness can start.
    std::optional<RunEnd> prepare();
    // Attaches to the sandbox of an earlier server process.
    Result<> resume();
    // After `resume`: the shim ended the sandbox while there was no server, because its time was over.
    bool has_timed_out() const { return m_has_timed_out; }

private:
    Result<> check_connected() const;
    Result<> grant_skills();
    // Starts the sandbox with everything mounted that its harness needs.
    Result<> provision();
    Result<> connect();
    Result<> make_folder() const;
    Result<> fork_volume() const;
    sandbox::SandboxSpec make_spec() const;
    Result<> mount_programs(sandbox::SandboxSpec& spec) const;
    Result<> mount_harness(sandbox::SandboxSpec& spec);
    Result<std::vector<harness::Setup::SkillFolder>> write_skills() const;
    Result<> mount_files(sandbox::SandboxSpec& spec) const;
    // With what the init script and the repositories need.
    Result<> prepare_layers(sandbox::SandboxSpec& spec);
    Result<> prepare_layer(sandbox::SandboxSpec& spec);
    // What the repositories need installed, each in a layer of its own over the others.
    Result<> prepare_setup(sandbox::SandboxSpec& spec);
    Result<> prepare_setup_of(const forge::Supplied& repo, sandbox::SandboxSpec& spec);
    bool is_in_pod() const;
    sandbox::BuildOptions build_options();
    Error explain_failure(Error failed) const;
    bool is_cancelled();
    Result<std::unique_ptr<sandbox::Sandbox>> start_sandbox(const sandbox::SandboxSpec& spec);
    Result<> remove_earlier_sandboxes() const;
    Result<> note_sandbox();

    LiveRun& m_run;
    std::optional<RunIdentity> m_identity; // until the broker has it
    std::vector<forge::Supplied> m_repos;  // of the settings, in their order
    bool m_has_timed_out = false;
};

} // namespace hone::run
