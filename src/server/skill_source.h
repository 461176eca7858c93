// Brings the folders of custom skills out of git repositories. Stands between skill/ and forge/, which do not know each
// other: the repository is one of the space (registered when it is new), fetched into its mirror by git in a sandbox,
// and the folder is packed up by git in another one without network. Thread-safe.
#pragma once

#include "server/repositories.h"
#include "skill/skills.h"

namespace hone::server {

class SkillSource final : public skill::FolderSource {
public:
    SkillSource(Repositories& repositories, std::string data_directory)
        : m_repositories(repositories),
          m_directory(std::move(data_directory) + "/git") {}

    Result<skill::FetchedFolder> fetch(const access::Caller& caller, const access::SpaceId& space,
                                       const skill::GitSource& source, const std::string& skill_id) override;

private:
    Result<skill::FetchedFolder> unpack(const forge::Repo& repo, const skill::GitSource& source);

    Repositories& m_repositories;
    const std::string m_directory;
};

} // namespace hone::server
