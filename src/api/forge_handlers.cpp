#include "api/forge_handlers.h"

#include "api/route.h"

#include <algorithm>

namespace hone::api {

namespace {

// How long an answer waits for a fetch; longer ones go on and can be asked about.
constexpr auto patience = std::chrono::seconds(10);

Result<access::SpaceId> forge_space_of(const Call& call, const std::optional<std::string>& space) {
    return call.access().spaces.choose(call.caller, space);
}

forge::Repo with_state(const Call& call, forge::Repo repo) {
    const ForgeServices& forge = *call.services.forge;
    repo.fetching = forge.mirrors != nullptr && forge.mirrors->is_fetching(repo.id);
    return repo;
}

Result<forge::Mirrors*> mirrors_of(const Call& call) {
    forge::Mirrors* mirrors = TRY(forge_of(call))->mirrors;
    if (mirrors == nullptr) return unavailable("this machine cannot isolate git, so nothing is fetched: hone check");
    return mirrors;
}

} // namespace

Result<forge::Repo> repo_in_path(const Call& call, const std::optional<std::string>& space,
                                 access::Permission permission) {
    ForgeServices* forge = TRY(forge_of(call));
    const std::string& text = call.at("repo");
    // An id says itself where it belongs.
    if (const auto id = parse_id<forge::RepoTag>(text); id.ok() && !space)
        return forge->repos.find(call.caller, id.value(), permission);
    return forge->repos.find(call.caller, TRY(forge_space_of(call, space)), text, permission);
}

Result<ForgeServices*> forge_of(const Call& call) {
    if (call.services.forge == nullptr) return unavailable("this server has no repositories");
    return call.services.forge;
}

Result<List<forge::Repo>> list_repos(const Call& call, const ListInSpace& query) {
    auto page = TRY(
        TRY(forge_of(call))
            ->repos.list(call.caller, TRY(forge_space_of(call, query.space)), TRY(page_of(query.limit, query.cursor))));
    for (forge::Repo& repo : page.data) repo = with_state(call, std::move(repo));
    return page;
}

Result<One<forge::Repo>> create_repo(const Call& call, const InSpace& query, const CreateRepo& body) {
    ForgeServices* forge = TRY(forge_of(call));
    forge::NewRepo wanted{body.url, *body.name, *body.default_ref, body.skill, *body.path_scope, *body.allow_private};
    forge::Repo repo = TRY(forge->repos.create(call.caller, TRY(forge_space_of(call, query.space)), wanted));
    if (forge->mirrors != nullptr) forge->mirrors->begin(repo.id);
    return One<forge::Repo>{with_state(call, std::move(repo))};
}

Result<One<forge::Repo>> get_repo(const Call& call, const InSpace& query) {
    return One<forge::Repo>{with_state(call, TRY(repo_in_path(call, query.space)))};
}

Result<One<forge::Repo>> update_repo(const Call& call, const InSpace& query, const UpdateRepo& body) {
    const forge::Repo repo = TRY(repo_in_path(call, query.space, access::Permission::repo_write));
    forge::RepoChange change{body.name, body.default_ref, {}, body.path_scope, body.allow_private};
    if (body.skill) change.skill_id = body.skill->empty() ? std::optional<std::string>() : body.skill;
    return One<forge::Repo>{with_state(call, TRY(call.services.forge->repos.update(call.caller, repo.id, change)))};
}

Result<NoContent> delete_repo(const Call& call, const InSpace& query) {
    const forge::Repo repo = TRY(repo_in_path(call, query.space, access::Permission::repo_write));
    ForgeServices& forge = *call.services.forge;
    if (forge.mirrors != nullptr && forge.mirrors->is_fetching(repo.id))
        return conflict("the repository is being fetched; try again in a moment");
    TRY(forge.repos.remove(call.caller, repo.id));
    if (forge.mirrors != nullptr) TRY(forge.mirrors->remove(repo.id));
    return NoContent{};
}

Result<One<forge::Repo>> fetch_repo(const Call& call, const InSpace& query) {
    const forge::Repo repo = TRY(repo_in_path(call, query.space, access::Permission::repo_write));
    forge::Mirrors* mirrors = TRY(mirrors_of(call));
    const Duration end = call.services.clock.steady() + patience;
    const auto fetched = mirrors->fetch(repo.id, [&] { return call.services.clock.steady() > end; });
    // What went wrong stands in the repository, and one that takes longer says that it is under way.
    if (!fetched.ok() && fetched.error().code == Code::not_found) return fetched.error();
    return One<forge::Repo>{with_state(call, TRY(call.services.forge->repos.find(call.caller, repo.id)))};
}

Result<List<forge::Ref>> list_repo_refs(const Call& call, const ListRefs& query) {
    const forge::Repo repo = TRY(repo_in_path(call, query.space));
    const access::PageRequest page = TRY(page_of(query.limit, query.cursor));
    const std::string after = TRY(page.after());
    std::vector<forge::Ref> refs = TRY(TRY(mirrors_of(call))->refs(repo.id));
    std::erase_if(refs, [&](const forge::Ref& ref) {
        return ref.name <= after || (query.prefix && !ref.name.starts_with(*query.prefix));
    });
    refs.resize(std::min(refs.size(), static_cast<size_t>(page.limit) + 1));
    return access::make_page(std::move(refs), page, [](const forge::Ref& ref) { return ref.name; });
}

Result<List<forge::PushedBranch>> list_repo_branches(const Call& call, const ListInSpace& query) {
    const forge::Repo repo = TRY(repo_in_path(call, query.space));
    return call.services.forge->repos.branches(call.caller, repo.id, TRY(page_of(query.limit, query.cursor)));
}

} // namespace hone::api
