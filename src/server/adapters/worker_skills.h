// run::WorkerSkills over skills and secrets: what a run gets from its skills, with secrets that are opened outside the
// sandbox only. Thread-safe.
#pragma once

#include "forge/repos.h"
#include "run/worker/worker_services.h"
#include "secret/vault.h"
#include "skill/skills.h"

namespace hone::server {

class VaultWorkerSkills final : public run::WorkerSkills {
public:
    // `repos` may be null: no repositories are registered.
    VaultWorkerSkills(sql::Database& database, const skill::Skills& skills, secret::Vault& vault,
                      const forge::Repos* repos)
        : m_database(database),
          m_skills(skills),
          m_vault(vault),
          m_repos(repos) {}

    Result<skill::Grant> grant(const access::SpaceId& space, const std::vector<std::string>& skills,
                               const std::vector<std::string>& repositories) override;
    Result<std::vector<broker::ForgeHost>> forges(const access::SpaceId& space,
                                                  const std::vector<std::string>& repositories) override;
    Result<std::vector<run::SkillFolder>> folders(const access::SpaceId& space,
                                                  const std::vector<std::string>& skills) override;
    std::shared_ptr<broker::SecretOpener> opener(const access::SpaceId& space, const run::RunId& run) override;
    Result<std::shared_ptr<const crypto::SecretBytes>> seed(const access::SpaceId& space,
                                                            const run::RunId& run) override;
    void delete_seed(const run::RunId& run) override;
    Result<crypto::SecretBytes> secret_variable(const access::SpaceId& space, const run::RunId& run,
                                                const std::string& owner, const std::string& name) override;

private:
    sql::Database& m_database;
    const skill::Skills& m_skills;
    secret::Vault& m_vault;
    const forge::Repos* const m_repos;
};

} // namespace hone::server
