#include "forge/catalog.h"

#include <algorithm>

namespace hone::forge {

namespace {

// How long a request waits for its fetch.
constexpr auto fetch_wait = std::chrono::seconds(10);

} // namespace

Repo Catalog::with_state(Repo repo) const {
    repo.fetching = m_mirrors != nullptr && m_mirrors->is_fetching(repo.id);
    return repo;
}

Result<Mirrors*> Catalog::mirrors() const {
    if (m_mirrors == nullptr)
        return unavailable(
            "this machine cannot isolate git, so no repository is fetched; run `hone check` for the reason");
    return m_mirrors;
}

Result<access::Page<Repo>> Catalog::list(const access::Caller& caller, const access::SpaceId& space,
                                         const access::PageRequest& page) const {
    auto repos = TRY(m_repos.list(caller, space, page));
    for (Repo& repo : repos.data) repo = with_state(std::move(repo));
    return repos;
}

Result<Repo> Catalog::find(const access::Caller& caller, const std::optional<access::SpaceId>& space,
                           std::string_view id_or_name, access::Permission permission) const {
    if (space) return with_state(TRY(m_repos.find(caller, *space, id_or_name, permission)));
    const auto id = parse_id<RepoTag>(id_or_name);
    if (!id.ok()) return not_found("repository " + std::string(truncate_utf8(id_or_name, 60)));
    return with_state(TRY(m_repos.find(caller, id.value(), permission)));
}

Result<Repo> Catalog::create(const access::Caller& caller, const access::SpaceId& space, const NewRepo& wanted) {
    Repo repo = TRY(m_repos.create(caller, space, wanted));
    if (m_mirrors != nullptr) m_mirrors->begin(repo.id);
    return with_state(std::move(repo));
}

Result<Repo> Catalog::update(const access::Caller& caller, const RepoId& id, const RepoChange& change) {
    return with_state(TRY(m_repos.update(caller, id, change)));
}

Result<> Catalog::remove(const access::Caller& caller, const RepoId& id) {
    const Repo repo = TRY(m_repos.find(caller, id, access::Permission::repo_write));
    if (with_state(repo).fetching) return conflict("the repository is being fetched; try again when the fetch is over");
    TRY(m_repos.remove(caller, id));
    if (m_mirrors != nullptr) TRY(m_mirrors->remove(id));
    return {};
}

Result<Repo> Catalog::fetch(const access::Caller& caller, const RepoId& id) {
    TRY(m_repos.find(caller, id, access::Permission::repo_write));
    Mirrors* const mirrors = TRY(this->mirrors());
    const Duration end = m_clock.steady() + fetch_wait;
    (void)mirrors->fetch(id, [&] { return m_clock.steady() > end; }).ok(); // the repository has the reason
    return with_state(TRY(m_repos.find(caller, id)));
}

Result<access::Page<Ref>> Catalog::refs(const RepoId& id, const std::optional<std::string>& prefix,
                                        const access::PageRequest& page) const {
    const std::string after = TRY(page.after());
    const Mirrors* const mirrors = TRY(this->mirrors());
    std::vector<Ref> refs = TRY(mirrors->refs(id));
    std::erase_if(refs,
                  [&](const Ref& ref) { return ref.name <= after || (prefix && !ref.name.starts_with(*prefix)); });
    refs.resize(std::min(refs.size(), static_cast<size_t>(page.limit) + 1));
    return access::make_page(std::move(refs), page, [](const Ref& ref) { return ref.name; });
}

} // namespace hone::forge
