// Branches of managed sessions. Their agents cannot push: they call the tool `save_branch` with a patch, or write a
// git bundle or patch among their files. Both are taken as a push of the run (forge/supply.h): the same checks, review
// and secret scan as for workers with a sandbox. One thread at a time.
#pragma once

#include "forge/supply.h"
#include "run/managed/session_tools.h"
#include "run/settings/settings.h"

namespace hone::run {

// The tool `save_branch` beside those of another caller.
class BranchTools final : public ToolCaller {
public:
    struct Parts {
        forge::Supply& supply;
        access::SpaceId space;
        RunId run;
        std::vector<RepoSettings> repos;
        std::vector<std::string> skills;
    };
    // `stopped`: true when nothing waits for its calls any more.
    BranchTools(Parts parts, std::unique_ptr<ToolCaller> others, std::function<bool()> stopped)
        : m_parts(std::move(parts)),
          m_others(std::move(others)),
          m_stopped(std::move(stopped)) {}

    Result<json::Array> list() override;
    Result<managed::ToolReply> call(const std::string& name, const std::string& input) override;

private:
    Result<std::string> save(const std::string& input) const;

    const Parts m_parts;
    const std::unique_ptr<ToolCaller> m_others;
    const std::function<bool()> m_stopped;
};

// The name of a repository for agents: "shop" of https://github.com/team/shop.
std::string repository_name(const std::string& url);
Result<RepoSettings> choose_repository(const std::vector<RepoSettings>& repos, std::string_view name);

// A file of the session as a call of save_branch: NAME.bundle, NAME.patch, or NAME.BRANCH.patch of the repository NAME;
// the name can be left out where there is one repository. None: it is a file like others.
std::optional<std::string> branch_of_file(const std::vector<RepoSettings>& repos, const std::string& name,
                                          std::string_view content);
bool is_bundle(std::string_view name);

} // namespace hone::run
