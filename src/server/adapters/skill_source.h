// skill::FolderSource over forge/: reads the folders of custom skills from git repositories. The repository is one of
// the space (registered when it is new), fetched into its mirror by git in a sandbox, and the folder is packed up by
// git in another one without network. Thread-safe.
#pragma once

#include "forge/mirrors.h"
#include "skill/skills.h"

namespace hone::server {

class GitSkillSource final : public skill::FolderSource {
public:
    // `mirrors`, `git`: null where nothing can be isolated.
    GitSkillSource(forge::Repos& repos, forge::Mirrors* mirrors, const forge::Git* git,
                   const std::string& data_directory)
        : m_repos(repos),
          m_mirrors(mirrors),
          m_git(git),
          m_directory(data_directory + "/git") {}

    Result<skill::FetchedFolder> fetch(const access::Caller& caller, const access::SpaceId& space,
                                       const skill::GitSource& source, const std::string& skill_id) override;

private:
    Result<skill::FetchedFolder> unpack(const forge::Repo& repo, const skill::GitSource& source);

    forge::Repos& m_repos;
    forge::Mirrors* const m_mirrors;
    const forge::Git* const m_git;
    const std::string m_directory;
};

} // namespace hone::server
