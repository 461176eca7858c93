// Skills of spaces and of the installation: create, change, share, delete, their folders, versions and secrets, and
// what they add up to for a run (`resolve`). A member who can edit a skill can never read a secret back: a change that
// lets a stored secret go to a new place needs the secret again. Thread-safe; state is in the database.
#pragma once

#include "access/access.h"
#include "skill/dotenv.h"
#include "skill/folder.h"
#include "skill/grant.h"
#include "skill/views.h"

namespace hone::skill {

// Something that refers to skills, such as presets. Registered once at start, before requests come.
class SkillUse {
public:
    virtual ~SkillUse() = default;
    virtual Result<std::vector<Use>> uses_of(const std::string& skill_id) const = 0;
};

// Brings the folder that a git source names. Implemented above, where the mirrors of repositories are. Thread-safe.
struct FetchedFolder {
    std::string commit;
    std::vector<FolderFile> files;
};
class FolderSource {
public:
    virtual ~FolderSource() = default;
    // May take up to a minute. `skill_id` is for the audit log.
    virtual Result<FetchedFolder> fetch(const access::Caller& caller, const access::SpaceId& space,
                                        const GitSource& source, const std::string& skill_id) = 0;
};

struct Hygiene {
    Duration old_after = std::chrono::hours(24 * 90);
    Duration unused_after = std::chrono::hours(24 * 30);
};

using Secrets = std::map<std::string, crypto::SecretBytes>;

struct NewSkill {
    std::string name{};
    SkillType type = SkillType::custom;
    std::string description{};
    Setup setup{};
};

struct SkillChange {
    std::optional<std::string> name{};
    std::optional<std::string> description{};
    std::map<std::string, std::optional<std::string>> variables{}; // null takes a value away
    std::map<std::string, Exposure> exposure{};
    std::optional<std::vector<Declared>> declared{};
    std::optional<std::vector<Host>> allow{};
    std::optional<std::optional<GitSource>> git{};
};

struct HygieneCounts {
    int64_t secrets = 0, old = 0, unused = 0, env = 0;
};

class Skills final : secret::SkillShares {
public:
    Skills(sql::Database& database, const Clock& clock, access::Access& access, secret::Vault& vault,
           Hygiene hygiene = {})
        : m_database(database),
          m_clock(clock),
          m_access(access),
          m_vault(vault),
          m_hygiene(hygiene) {
        m_vault.set_shares(*this);
    }
    ~Skills() override { m_vault.remove_shares(*this); }
    Skills(const Skills&) = delete;
    Skills& operator=(const Skills&) = delete;

    // Model skills of all spaces. Static: `hone check` counts them without a server.
    static Result<int64_t> count_models(sql::Database& database);

    void add_use(SkillUse& use) { m_uses.push_back(&use); }
    // Before requests come; without one nothing is fetched from git.
    void set_source(FolderSource& source) { m_source = &source; }

    // A space's own skills and those shared with it; without a space those of the installation, for its owners.
    Result<access::Page<Skill>> list(const access::Caller& caller, const std::optional<access::SpaceId>& space,
                                     std::optional<SkillType> type, const access::PageRequest& page) const;
    // By id, or by name as `space` sees it.
    Result<Skill> find(const access::Caller& caller, const access::SpaceId& space, std::string_view id_or_name) const;
    Result<Skill> find(const access::Caller& caller, const SkillId& id) const;

    // Without a space: of the installation. `secrets` needs secret_write too.
    Result<Skill> create(const access::Caller& caller, const std::optional<access::SpaceId>& space,
                         const NewSkill& wanted, const Secrets& secrets);
    Result<Skill> update(const access::Caller& caller, const SkillId& id, const SkillChange& change,
                         const Secrets& secrets);
    Result<Skill> set_secret(const access::Caller& caller, const SkillId& id, const std::string& name,
                             const crypto::SecretBytes& value, std::optional<Exposure> exposure);
    Result<Skill> remove_secret(const access::Caller& caller, const SkillId& id, const std::string& name);
    // `confirm` repeats the name. conflict while something uses it.
    Result<> remove(const access::Caller& caller, const SkillId& id, const std::string& confirm);

    Result<Skill> put_folder(const access::Caller& caller, const SkillId& id, std::vector<FolderFile> files);
    // Takes the folder from the skill's git repository as it is now, and notes the commit. Workers get what was fetched
    // last, whatever happens in the repository. A commit that is known already changes nothing. Repositories and their
    // credentials belong to spaces: a skill of the installation is fetched `through` one in which the caller may do so.
    Result<Skill> fetch_folder(const access::Caller& caller, const SkillId& id,
                               const std::optional<access::SpaceId>& through = {});
    Result<std::vector<FileView>> files(const access::Caller& caller, const SkillId& id) const;
    Result<std::vector<SkillVersion>> versions(const access::Caller& caller, const SkillId& id) const;

    Result<Skill> share(const access::Caller& caller, const SkillId& id, const access::SpaceId& space);
    Result<Skill> unshare(const access::Caller& caller, const SkillId& id, const access::SpaceId& space);

    // What a .env text would set; stores nothing. Of a skill that exists, or of a type.
    Result<EnvPreview> preview_env(const access::Caller& caller, const std::optional<SkillId>& id, SkillType type,
                                   std::string_view text) const;
    // Sorts the text into plain values and secrets; unknown names are left out.
    Result<EnvPreview> take_env(const access::Caller& caller, const SkillId& id, std::string_view text,
                                std::map<std::string, std::string>& plain, Secrets& secrets) const;
    static Result<EnvPreview> take_env(SkillType type, const Setup& setup, std::string_view text,
                                       std::map<std::string, std::string>& plain, Secrets& secrets);

    // The endpoint of a model skill with these variables that is not stored. Needs skill_write and secret_write.
    static Result<ModelEndpoint> preview_model(const access::Caller& caller, const access::SpaceId& space,
                                               const std::map<std::string, std::string>& variables);

    // The secrets that a space uses, its own and shared ones, with reminders.
    Result<std::vector<SecretRow>> secrets(const access::Caller& caller, const access::SpaceId& space) const;
    Result<std::vector<Reach>> reach(const access::Caller& caller, const access::SpaceId& space,
                                     std::span<const std::string> skill_ids) const;
    // For metrics.
    Result<HygieneCounts> hygiene() const;

    // What a run in `space` gets from these skills. Errors when one is incomplete or two set the same variable.
    // `use` is the run or repository: without it, a worker whose run names no repository.
    Result<Grant> resolve(const access::Caller& caller, const access::SpaceId& space,
                          std::span<const std::string> skill_ids, const GrantUse& use = {}) const;
    // The same in the one space that the skills belong to; else in the caller's only space.
    Result<Grant> resolve(const access::Caller& caller, std::span<const std::string> skill_ids) const;
    // The files of the skills' folders, for the sandbox. Only versions that resolve named.
    Result<std::vector<FolderFile>> folder_files(const std::string& folder_hash) const;

private:
    struct Stored {
        SkillId id;
        secret::Scope scope;
        std::string name;
        SkillType type = SkillType::custom;
        std::string description;
        int64_t version = 0;
        Setup setup;
        std::string created_by;
        Time created_at{};
        Time updated_at{};
    };
    struct Columns; // of the table, as `stored_of` reads them
    using SecretInfos = std::map<std::string, secret::SecretInfo>;

    static Result<Stored> stored_of(const sql::Row& row);
    Result<Stored> load(const SkillId& id) const;
    static Result<Stored> load(sql::Transaction& transaction, const SkillId& id);
    // The skill, if the caller has this permission where it belongs; reading is also for those it is shared with.
    Result<Stored> permitted(const access::Caller& caller, const SkillId& id, access::Permission permission) const;
    // secret::SkillShares
    Result<bool> is_shared(sql::Transaction& transaction, const std::string& skill_id,
                           const access::SpaceId& space) const override;
    Result<bool> is_shared_with(const SkillId& id, const access::SpaceId& space) const;
    Result<bool> sees_shared(const access::Caller& caller, const SkillId& id) const;
    static Result<> require_private_allowed(const access::Caller& caller, SkillType type, const Setup& before,
                                            const Setup& after);

    Result<Skill> view_of(const access::Caller& caller, const Stored& stored) const;
    Result<SecretInfos> secret_infos(const SkillId& id) const;
    Result<std::vector<Share>> shares_of(const SkillId& id) const;
    Result<std::vector<Use>> uses_of(const SkillId& id) const;
    std::vector<Reminder> reminders_of(const secret::SecretInfo& info) const;

    Result<> write_version(sql::Transaction& transaction, const access::Caller& caller, Stored& stored,
                           const std::string& summary) const;
    Result<Skill> save(const access::Caller& caller, const Stored& before, Stored after, const Secrets& secrets,
                       std::string summary);
    Result<std::string> store_secrets(sql::Transaction& transaction, const access::Caller& caller, const Stored& stored,
                                      const Secrets& secrets) const;
    Result<> store_files(const std::string& folder_hash, const std::vector<FolderFile>& files);
    Result<> resolve_one(const Stored& stored, const GrantUse& use, std::map<std::string, std::string>& owners,
                         Grant& grant) const;
    Result<std::vector<Stored>> usable(const access::Caller& caller, const access::SpaceId& space,
                                       std::span<const std::string> skill_ids) const;

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    secret::Vault& m_vault;
    const Hygiene m_hygiene;
    std::vector<SkillUse*> m_uses;
    FolderSource* m_source = nullptr;
};

} // namespace hone::skill
