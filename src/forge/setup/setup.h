// Setup: what a repository needs installed, built once into a prepared layer (sandbox/image/layer.h) in a sandbox of
// its own, with the network that the preset allows for it. The layer's key is made of the files that decide (by their
// content), the script, the variables, the repository and the space: no other repository or space gets it. Thread-safe;
// blocks.
#pragma once

#include "forge/git.h"
#include "forge/setup/plan.h"
#include "sandbox/image/layer.h"

namespace hone::forge {

struct SetupWanted {
    access::SpaceId space{};
    std::string repo{}; // id
    std::string name{}; // folder in /workspace
    std::string commit{};
    std::vector<GitMount> mounts{}; // where its objects are, and the path there
    std::string directory{};
    std::string setup{}; // `auto`, or a script; empty: none
    // Empty: a commit of the repository itself. Else the branch of a worker that has changed what decides: its layer is
    // used for nothing else.
    std::string origin{};
    std::string image = "host";
    std::vector<std::string> layers{}; // below it
    std::map<std::string, std::string> env{};
    int64_t seconds = 120;
    sandbox::Limits limits{};
    sandbox::MakeBuildNetwork network{}; // empty: without network
    std::string network_description{};   // part of the key
    std::function<bool()> cancelled{};
    // Where it is built and used; null: on this machine. `start` as in sandbox::BuildOptions.
    sandbox::Provider* provider = nullptr;
    std::function<Result<std::unique_ptr<sandbox::Sandbox>>(const sandbox::SandboxSpec&)> start{};
};

struct SetupLayer {
    std::string key; // empty: nothing to install
    std::string source;
    bool built = false;
    std::string log;
    int64_t took_ms = 0;
};

class Setup {
public:
    Setup(const Git& git, sandbox::Provider& provider, const sandbox::Store& store)
        : m_git(git),
          m_provider(provider),
          m_store(store) {}

    // Reads the files at the commit, in a sandbox.
    Result<SetupPlan> plan(const SetupWanted& wanted) const;
    // Finds or builds the layer. Conflict: the script failed, with the end of its log.
    Result<SetupLayer> prepare(const SetupWanted& wanted, const SetupPlan& plan) const;

private:
    const Git& m_git;
    sandbox::Provider& m_provider;
    const sandbox::Store& m_store;
};

// Shell lines for a clone at $folder of the repository $name, before its files are checked out by force: puts there
// what setup made beside the files of the repository, and keeps it out of commits.
constexpr std::string_view use_setup_script = R"(
for made in /opt/hone-setup /home/worker/.hone-setup; do
  if [ -d "$made/$name" ]; then
    cp -a "$made/$name/." "$folder/"
    mkdir -p "$folder/.git/info"
    cat "$made/$name.exclude" >> "$folder/.git/info/exclude"
    break
  fi
done
)";

} // namespace hone::forge
