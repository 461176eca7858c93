#include "server/adapters/worker_skills.h"

#include "base/log.h"
#include "crypto/seal.h"
#include "run/settings/secret_env.h"
#include "skill/instructions.h"

#include <algorithm>

namespace hone::server {

namespace {

// Opens secrets for one run.
class RunSecrets final : public broker::SecretOpener {
public:
    RunSecrets(secret::Vault& vault, access::SpaceId space, run::RunId run)
        : m_vault(vault),
          m_space(std::move(space)),
          m_run(std::move(run)) {}
    Result<crypto::SecretBytes> open(const std::string& secret_id) override {
        return m_vault.open(m_space, secret_id, m_run.text());
    }

private:
    secret::Vault& m_vault;
    const access::SpaceId m_space;
    const run::RunId m_run;
};

} // namespace

Result<skill::Grant> VaultWorkerSkills::grant(const access::SpaceId& space, const std::vector<std::string>& skills,
                                              const std::vector<std::string>& repositories) {
    return m_skills.resolve(access::Caller::system(), space, skills, {skill::Audience::worker, repositories});
}

Result<std::vector<broker::ForgeHost>> VaultWorkerSkills::forges(const access::SpaceId& space,
                                                                 const std::vector<std::string>& repositories) {
    std::vector<std::string> urls;
    if (m_repos != nullptr)
        for (auto& url : TRY(m_repos->guarded_urls(space))) urls.push_back(std::move(url));
    return broker::forge_hosts(urls, repositories);
}

Result<std::vector<run::SkillFolder>> VaultWorkerSkills::folders(const access::SpaceId& space,
                                                                 const std::vector<std::string>& skills) {
    std::vector<run::SkillFolder> folders;
    std::vector<skill::Instructions> built_in{skill::trace_instructions()};
    for (const std::string& id : skills) {
        const skill::Skill found = TRY(m_skills.find(access::Caller::system(), space, id));
        if (const auto taught = skill::built_in_instructions(found.type)) built_in.push_back(*taught);
        if (!found.folder) continue;
        run::SkillFolder folder;
        folder.name = found.folder->name;
        for (const skill::FolderFile& file : TRY(m_skills.folder_files(found.folder->hash)))
            folder.files.push_back({file.path, file.content, file.executable});
        folders.push_back(std::move(folder));
    }
    // A team's own folder of that name wins.
    for (const skill::Instructions& taught : built_in) {
        const auto has_name = [&](const run::SkillFolder& folder) { return folder.name == taught.name; };
        if (std::none_of(folders.begin(), folders.end(), has_name))
            folders.push_back({std::string(taught.name), {{"SKILL.md", std::string(taught.text), false}}});
    }
    return folders;
}

std::shared_ptr<broker::SecretOpener> VaultWorkerSkills::opener(const access::SpaceId& space, const run::RunId& run) {
    return std::make_shared<RunSecrets>(m_vault, space, run);
}

Result<std::shared_ptr<const crypto::SecretBytes>> VaultWorkerSkills::seed(const access::SpaceId& space,
                                                                           const run::RunId& run) {
    const secret::Scope scope{space};
    auto kept = m_vault.reveal(scope, run.text(), "seed", "the run's certificates");
    if (kept.ok()) return std::make_shared<const crypto::SecretBytes>(std::move(kept).value());
    if (kept.error().code != Code::not_found) return kept.error();
    auto made = std::make_shared<const crypto::SecretBytes>(crypto::random_secret(32));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        return m_vault.keep(transaction, scope, run.text(), "seed", *made);
    }));
    return made;
}

Result<crypto::SecretBytes> VaultWorkerSkills::secret_variable(const access::SpaceId& space, const run::RunId& run,
                                                               const std::string& owner, const std::string& name) {
    return run::reveal_secret(m_vault, space, owner, name, run.text());
}

void VaultWorkerSkills::delete_seed(const run::RunId& run) {
    const auto forgotten = m_database.write(
        [&](sql::Transaction& transaction) -> Result<> { return m_vault.forget(transaction, run.text(), "seed"); });
    if (!forgotten.ok())
        log(Level::warning, "seed of a run not removed", {{"run", run.text()}, {"why", forgotten.error().message}});
}

} // namespace hone::server
