// Repositories with their mirrors, as the API shows and changes them. Where the machine cannot isolate git there are no
// mirrors: repositories can be registered, and what would fetch or read them is unavailable. Thread-safe.
#pragma once

#include "forge/mirrors.h"
#include "forge/repos.h"

namespace hone::forge {

class Catalog {
public:
    Catalog(Repos& repos, const Clock& clock) : m_repos(repos), m_clock(clock) {}
    // Once, before requests come, where the machine can isolate git.
    void set_mirrors(Mirrors& mirrors) { m_mirrors = &mirrors; }

    Result<access::Page<Repo>> list(const access::Caller& caller, const access::SpaceId& space,
                                    const access::PageRequest& page) const;
    // By id, or by name in `space`.
    Result<Repo> find(const access::Caller& caller, const std::optional<access::SpaceId>& space,
                      std::string_view id_or_name, access::Permission permission = access::Permission::repo_read) const;
    // Starts the first fetch.
    Result<Repo> create(const access::Caller& caller, const access::SpaceId& space, const NewRepo& wanted);
    Result<Repo> update(const access::Caller& caller, const RepoId& id, const RepoChange& change);
    // The rows and the mirror; conflict while it is being fetched.
    Result<> remove(const access::Caller& caller, const RepoId& id);
    // Returns when the fetch is over, or after ten seconds while it continues. A fetch that failed is no error here:
    // the repository has the reason.
    Result<Repo> fetch(const access::Caller& caller, const RepoId& id);
    // Branches and tags of the mirror by name.
    Result<access::Page<Ref>> refs(const RepoId& id, const std::optional<std::string>& prefix,
                                   const access::PageRequest& page) const;
    Result<access::Page<PushedBranch>> branches(const access::Caller& caller, const RepoId& id,
                                                const access::PageRequest& page) const {
        return m_repos.branches(caller, id, page);
    }

    // Repos::guarded_urls.
    Result<std::vector<std::string>> guarded_urls(const access::SpaceId& space) const {
        return m_repos.guarded_urls(space);
    }

private:
    Repo with_state(Repo repo) const;
    Result<Mirrors*> mirrors() const;

    Repos& m_repos;
    const Clock& m_clock;
    Mirrors* m_mirrors = nullptr; // null: the machine cannot isolate git
};

} // namespace hone::forge
