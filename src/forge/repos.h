// Repositories of spaces: where they come from, whose credential fetches them, and what their mirror holds. Fetching is
// the business of Mirrors. Thread-safe; state is in the database.
#pragma once

#include "access/access.h"
#include "base/fields.h"
#include "skill/skills.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hone::forge {

struct RepoTag {
    static constexpr std::string_view kind = "repo";
};
using RepoId = Id<RepoTag>;
struct BranchTag {
    static constexpr std::string_view kind = "branch";
};
using BranchId = Id<BranchTag>;

// `created`: nothing was fetched yet. `failed`: the last fetch; what came before it stays usable.
enum class MirrorState { created, ready, failed };
constexpr auto enum_names(MirrorState) {
    return std::array{EnumName{MirrorState::created, "new"}, EnumName{MirrorState::ready, "ready"},
                      EnumName{MirrorState::failed, "failed"}};
}

struct Repo {
    RepoId id;
    access::SpaceId space_id;
    std::string name;
    std::string url;
    std::string default_ref;
    std::optional<std::string> skill_id;
    std::string path_scope;
    bool allow_private = false;
    MirrorState state = MirrorState::created;
    bool fetching = false; // right now; filled in by the code that has the mirrors
    std::string head_ref;
    int64_t refs = 0;
    int64_t bytes = 0;
    std::optional<Time> fetched_at;
    std::string error;
    std::vector<std::string> notes;
    std::string created_by;
    Time created_at{};
    static constexpr Pack fields{
        Field{"id", &Repo::id, "Id."},
        Field{"space_id", &Repo::space_id, "Id of the space."},
        Field{"name", &Repo::name, "Unique in the space; the folder it is cloned into."},
        Field{"url", &Repo::url, "Address that it is cloned from."},
        Field{"default_ref", &Repo::default_ref,
              "Branch, tag or commit that workers get; empty: the forge's default branch."},
        Field{"skill_id", &Repo::skill_id, "Skill whose credential fetches it; null: none is needed."},
        Field{"path_scope", &Repo::path_scope, "Folder that workers get of a large repository; empty: all of it."},
        Field{"allow_private", &Repo::allow_private, "The forge may be on a private address."},
        Field{"state", &Repo::state, "Result of the last fetch."},
        Field{"fetching", &Repo::fetching, "A fetch is running."},
        Field{"head_ref", &Repo::head_ref, "The forge's default branch: refs/heads/main."},
        Field{"refs", &Repo::refs, "Number of branches and tags in the mirror."},
        Field{"bytes", &Repo::bytes, "Size of the mirror."},
        Field{"fetched_at", &Repo::fetched_at, "Last successful fetch."},
        Field{"error", &Repo::error, "Error of the last fetch."},
        Field{"notes", &Repo::notes, "Parts that a worker does not get: submodules, contents of LFS."},
        Field{"created_by", &Repo::created_by, "User, key or run that used it first."},
        Field{"created_at", &Repo::created_at, "Time of creation."},
    };
};

// A branch that a run pushed into its quarantine.
struct PushedBranch {
    BranchId id;
    std::string run_id;
    RepoId repo_id;
    std::string branch;
    std::string base_commit;
    std::string head_commit;
    int64_t pushes = 0;
    Time created_at{};
    Time pushed_at{};
    static constexpr Pack fields{
        Field{"id", &PushedBranch::id, "Id."},
        Field{"run_id", &PushedBranch::run_id, "Run that pushed it."},
        Field{"repo_id", &PushedBranch::repo_id, "Id of the repository."},
        Field{"branch", &PushedBranch::branch, "Name in the quarantine: hone/RUN/…"},
        Field{"base_commit", &PushedBranch::base_commit,
              "Commit that the branch starts from; empty: no shared history."},
        Field{"head_commit", &PushedBranch::head_commit, "Newest commit."},
        Field{"pushes", &PushedBranch::pushes, "Number of pushes."},
        Field{"created_at", &PushedBranch::created_at, "First push."},
        Field{"pushed_at", &PushedBranch::pushed_at, "Last push."},
    };
};

struct NewRepo {
    std::string url{};
    std::string name{}; // empty: from the address
    std::string default_ref{};
    std::optional<std::string> skill_id{};
    std::string path_scope{};
    bool allow_private = false;
};

struct RepoChange {
    std::optional<std::string> url{};
    std::optional<std::string> name{};
    std::optional<std::string> default_ref{};
    std::optional<std::optional<std::string>> skill_id{};
    std::optional<std::string> path_scope{};
    std::optional<bool> allow_private{};
};

// What a fetch brought.
struct Fetched {
    std::string head_ref;
    int64_t refs = 0;
    int64_t bytes = 0;
    std::vector<std::string> notes;
};

// https://HOST/PATH without user, query or fragment; or file:///… below `local`. Host in lower case, no slash or
// default port at the end. Errors explain what to write instead.
Result<std::string> checked_url(std::string_view url, const std::string& local);
// The last part of the address, without .git, as a name for a folder.
std::string name_from_url(std::string_view url);
// "" or a folder of the repository: "services/shop".
Result<std::string> checked_path_scope(std::string_view path);

class Repos {
public:
    // `local`: the folder of repositories on the server itself (DIR/repos). A space can use those in its own folder
    // only: DIR/repos/SPACE_ID.
    Repos(sql::Database& database, const Clock& clock, access::Access& access, const skill::Skills& skills,
          std::string local)
        : m_database(database),
          m_clock(clock),
          m_access(access),
          m_skills(skills),
          m_local(std::move(local)) {}

    Result<access::Page<Repo>> list(const access::Caller& caller, const access::SpaceId& space,
                                    const access::PageRequest& page) const;
    Result<Repo> find(const access::Caller& caller, const RepoId& id,
                      access::Permission permission = access::Permission::repo_read) const;
    // By id, or by name in the space.
    Result<Repo> find(const access::Caller& caller, const access::SpaceId& space, std::string_view id_or_name,
                      access::Permission permission = access::Permission::repo_read) const;
    Result<Repo> create(const access::Caller& caller, const access::SpaceId& space, const NewRepo& wanted);
    Result<Repo> update(const access::Caller& caller, const RepoId& id, const RepoChange& change);
    // The rows; the mirror is removed by Mirrors.
    Result<> remove(const access::Caller& caller, const RepoId& id);

    // The space's repository with this address, registered when it is new. For runs.
    Result<Repo> find_or_create(const access::SpaceId& space, std::string_view url, std::optional<std::string> skill_id,
                                const std::string& who);

    // Addresses of repositories whose forges workers of this space must not write to: those of the space, and those of
    // other spaces that were fetched at least once.
    Result<std::vector<std::string>> guarded_urls(const access::SpaceId& space) const;

    // Of all mirrors, by the ids of their spaces.
    Result<std::map<std::string, int64_t>> bytes_by_space() const;

    Result<> fetched(const RepoId& id, const Fetched& fetched);
    struct MirrorUse {
        Time used{};           // the last fetch, or when it was registered
        bool has_runs = false; // a run stands on it
    };
    Result<std::map<RepoId, MirrorUse>> mirror_uses() const;
    // Nothing is fetched: the next run that needs it fetches all of it. False: a run stands on it. A repository that is
    // not registered has nothing to forget.
    Result<bool> forget_mirror(const RepoId& id);
    Result<> fetch_failed(const RepoId& id, const std::string& why);

    Result<access::Page<PushedBranch>> branches(const access::Caller& caller, const RepoId& id,
                                                const access::PageRequest& page) const;

    // Of a repository on the server itself: its folder, resolved. forbidden when it does not belong to the space of the
    // repository. Called before each use, so that a row from elsewhere or a symbolic link does not open another space.
    Result<std::string> local_path(const Repo& repo) const;
    const std::string& local() const { return m_local; }

private:
    Result<std::optional<std::string>> checked_skill(const access::Caller& caller, const access::SpaceId& space,
                                                     const std::optional<std::string>& skill) const;
    Result<std::string> checked_address(const access::SpaceId& space, std::string_view url) const;
    Result<Repo> insert(const access::Caller& caller, Repo repo, bool name_is_given);

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    const skill::Skills& m_skills;
    const std::string m_local;
};

} // namespace hone::forge
