// Repositories, their webhooks and issues on their forge.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "forge/catalog.h"
#include "forge/hooks.h"
#include "run/outputs/review_services.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct CreateRepo {
    std::string url;
    json::Defaulted<std::string> name;
    json::Defaulted<std::string> default_ref;
    std::optional<std::string> skill;
    json::Defaulted<std::string> path_scope;
    json::Defaulted<bool> allow_private = false;
    static constexpr Pack fields{
        Field{"url", &CreateRepo::url, "https address, without user or token."},
        Field{"name", &CreateRepo::name, "Unique in the space; taken from the address if not given."},
        Field{"default_ref", &CreateRepo::default_ref, "Branch, tag or commit that workers get."},
        Field{"skill", &CreateRepo::skill, "Id or name of the skill whose credential fetches it."},
        Field{"path_scope", &CreateRepo::path_scope, "Folder that workers get of a large repository."},
        Field{"allow_private", &CreateRepo::allow_private,
              "The forge may be on a private address; for owners of the installation."},
    };
};

struct UpdateRepo {
    std::optional<std::string> url;
    std::optional<std::string> name;
    std::optional<std::string> default_ref;
    std::optional<std::string> skill;
    std::optional<std::string> path_scope;
    std::optional<bool> allow_private;
    static constexpr Pack fields{
        Field{"url", &UpdateRepo::url, "New address of a repository that was renamed or moved."},
        Field{"name", &UpdateRepo::name, "Unique in the space."},
        Field{"default_ref", &UpdateRepo::default_ref, "Branch, tag or commit that workers get."},
        Field{"skill", &UpdateRepo::skill, "Id or name of a skill; empty: none."},
        Field{"path_scope", &UpdateRepo::path_scope, "Folder that workers get; empty: all of it."},
        Field{"allow_private", &UpdateRepo::allow_private, "The forge may be on a private address."},
    };
};

struct DeleteRepo {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<bool> abandon;
    static constexpr Pack fields{
        Field{"space", &DeleteRepo::space, "Id or name of the space; the caller's first one if not given."},
        Field{"abandon", &DeleteRepo::abandon,
              "Stops following its pull requests that are not over; without it they are a conflict."},
    };
};

struct ListRefs {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> prefix;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &ListRefs::space, "Id or name of the space; the caller's first one if not given."},
        Field{"prefix", &ListRefs::prefix, "Only refs that start with this: refs/tags/."},
        Field{"limit", &ListRefs::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListRefs::cursor, "next_cursor of the previous response."},
    };
};

struct OpenRepoIssue {
    std::string title;
    json::Defaulted<std::string> body;
    json::Defaulted<std::vector<std::string>> labels;
    static constexpr Pack fields{
        Field{"title", &OpenRepoIssue::title, "Title; one line."},
        Field{"body", &OpenRepoIssue::body,
              "Markdown; mentions are disabled, and lines that may contain a secret are removed."},
        Field{"labels", &OpenRepoIssue::labels, "Names of labels that exist on the forge."},
    };
};

struct OpenedIssue {
    int64_t number = 0;
    std::string url;
    static constexpr Pack fields{
        Field{"number", &OpenedIssue::number, "Number on the forge."},
        Field{"url", &OpenedIssue::url, "Page on the forge."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

// An id names its space; a name needs one.
Result<forge::Repo> repo_in_path(const Call& call, const std::optional<std::string>& space,
                                 access::Permission permission = access::Permission::repo_read) {
    std::optional<access::SpaceId> in;
    if (space || !parse_id<forge::RepoTag>(call.at("repo")).ok()) in = TRY(space_of(call, space));
    return call.services.repos.find(call.caller, in, call.at("repo"), permission);
}

} // namespace

Result<List<forge::Repo>> list_repos(const Call& call, const ListInSpace& query) {
    const auto space = TRY(space_of(call, query.space));
    return call.services.repos.list(call.caller, space, TRY(page_of(query.limit, query.cursor)));
}

Result<One<forge::Repo>> create_repo(const Call& call, const InSpace& query, const CreateRepo& body) {
    const auto space = TRY(space_of(call, query.space));
    const forge::NewRepo wanted{body.url,   *body.name,       *body.default_ref,
                                body.skill, *body.path_scope, *body.allow_private};
    return One<forge::Repo>{TRY(call.services.repos.create(call.caller, space, wanted))};
}

Result<One<forge::Repo>> get_repo(const Call& call, const InSpace& query) {
    return One<forge::Repo>{TRY(repo_in_path(call, query.space))};
}

Result<One<forge::Repo>> update_repo(const Call& call, const InSpace& query, const UpdateRepo& body) {
    const forge::Repo repo = TRY(repo_in_path(call, query.space, access::Permission::repo_write));
    forge::RepoChange change{body.url, body.name, body.default_ref, {}, body.path_scope, body.allow_private};
    if (body.skill) change.skill_id = body.skill->empty() ? std::optional<std::string>() : body.skill;
    forge::Repo changed = TRY(call.services.repos.update(call.caller, repo.id, change));
    if (changed.url != repo.url) TRY(call.services.review.repo_moved(call.caller, changed));
    return One<forge::Repo>{std::move(changed)};
}

Result<NoContent> delete_repo(const Call& call, const DeleteRepo& query) {
    const forge::Repo repo = TRY(repo_in_path(call, query.space, access::Permission::repo_write));
    TRY(call.services.review.release_repo(call.caller, repo, query.abandon.value_or(false)));
    TRY(call.services.repos.remove(call.caller, repo.id));
    return NoContent{};
}

Result<One<forge::Repo>> fetch_repo(const Call& call, const InSpace& query) {
    const forge::Repo repo = TRY(repo_in_path(call, query.space, access::Permission::repo_write));
    return One<forge::Repo>{TRY(call.services.repos.fetch(call.caller, repo.id))};
}

Result<List<review::RepoCheck>> check_repo(const Call& call, const InSpace& query) {
    const forge::Repo repo = TRY(repo_in_path(call, query.space, access::Permission::repo_write));
    List<review::RepoCheck> checks;
    checks.data = TRY(call.services.review.check_repo(call.caller, repo));
    const bool hook = call.services.forge_hooks.has_secret(repo);
    checks.data.push_back(
        {"webhook", hook ? review::CheckResult::passed : review::CheckResult::skipped,
         hook ? "It has a secret." : "None: pull requests are polled. hone repo hook REPO makes one."});
    return checks;
}

Result<List<forge::Ref>> list_repo_refs(const Call& call, const ListRefs& query) {
    const forge::Repo repo = TRY(repo_in_path(call, query.space));
    return call.services.repos.refs(repo.id, query.prefix, TRY(page_of(query.limit, query.cursor)));
}

Result<List<forge::PushedBranch>> list_repo_branches(const Call& call, const ListInSpace& query) {
    const forge::Repo repo = TRY(repo_in_path(call, query.space));
    return call.services.repos.branches(call.caller, repo.id, TRY(page_of(query.limit, query.cursor)));
}

Result<One<OpenedIssue>> open_repo_issue(const Call& call, const InSpace& query, const OpenRepoIssue& body) {
    const forge::Repo repo = TRY(repo_in_path(call, query.space, access::Permission::artifact_review));
    const forge::ForgeIssue opened =
        TRY(call.services.review.open_issue(call.caller, repo, {body.title, *body.body, *body.labels}));
    return One<OpenedIssue>{OpenedIssue{opened.number, opened.url}};
}

Result<One<forge::ForgeHook>> make_forge_hook(const Call& call, const InSpace& query) {
    const forge::Repo repo = TRY(repo_in_path(call, query.space, access::Permission::repo_write));
    return One<forge::ForgeHook>{TRY(call.services.forge_hooks.create(call.caller, repo.id))};
}

Result<NoContent> deliver_forge_hook(const Call& call, const RawBody& body) {
    const auto event = TRY(call.services.forge_hooks.receive(call.at("repo"), call.head, body.bytes));
    TRY(call.services.review.take_hook(event));
    return NoContent{};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route repos_table[] = {
    route<list_repos>("GET", "/v1/repos", need(repo_read), "Repositories of a space."),
    route<create_repo>("POST", "/v1/repos", need(repo_write), "Register a repository and fetch it."),
    route<get_repo>("GET", "/v1/repos/{repo}", need(repo_read), "A repository by id or name, and its mirror."),
    route<update_repo>("PATCH", "/v1/repos/{repo}", need(repo_write),
                       "Change address, name, credential, ref or scope of a repository."),
    route<delete_repo>("DELETE", "/v1/repos/{repo}", need(repo_write), "Delete a repository and its mirror."),
    route<fetch_repo>("POST", "/v1/repos/{repo}/fetch", need(repo_write),
                      "Fetch a repository now; responds when the fetch has finished, or after ten seconds."),
    route<check_repo>("POST", "/v1/repos/{repo}/check", need(repo_write),
                      "Try what the credential of a repository is needed for; nothing changes on the forge.")
        .on(net::Lane::query),
    route<list_repo_refs>("GET", "/v1/repos/{repo}/refs", need(repo_read), "Branches and tags of the mirror, by name."),
    route<list_repo_branches>("GET", "/v1/repos/{repo}/branches", need(repo_read),
                              "Branches that runs pushed, newest first."),
};

const Route forge_hooks_table[] = {
    route<open_repo_issue>("POST", "/v1/repos/{repo}/issues", need(artifact_review),
                           "Create an issue on the repository's forge with its credential."),
    route<make_forge_hook>("POST", "/v1/repos/{repo}/hook", need(repo_write),
                           "Create or replace the secret of the repository's webhook.")
        .secret(),
    route<deliver_forge_hook>("POST", "/v1/forge_hooks/{repo}", guest,
                              "Receive a forge's webhook about a changed pull request.")
        .takes("application/json, application/x-www-form-urlencoded"),
};

} // namespace

std::span<const Route> repos_routes() {
    return repos_table;
}

std::span<const Route> forge_hooks_routes() {
    return forge_hooks_table;
}

} // namespace hone::api
