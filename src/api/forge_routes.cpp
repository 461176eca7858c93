// Repositories.
#include "api/routes.h"

#include "api/forge_handlers.h"

namespace hone::api {

namespace {

using enum access::Permission;

const Route forge_table[] = {
    route<list_repos>("GET", "/v1/repos", need(repo_read), "Repositories of a space."),
    route<create_repo>("POST", "/v1/repos", need(repo_write), "Register a repository and fetch it."),
    route<get_repo>("GET", "/v1/repos/{repo}", need(repo_read), "A repository by id or name, and its mirror."),
    route<update_repo>("PATCH", "/v1/repos/{repo}", need(repo_write), "Change name, credential, ref or scope."),
    route<delete_repo>("DELETE", "/v1/repos/{repo}", need(repo_write), "Forget a repository and delete its mirror."),
    route<fetch_repo>("POST", "/v1/repos/{repo}/fetch", need(repo_write),
                      "Fetch now; answers when it is done, or after ten seconds."),
    route<list_repo_refs>("GET", "/v1/repos/{repo}/refs", need(repo_read), "Branches and tags of the mirror, by name."),
    route<list_repo_branches>("GET", "/v1/repos/{repo}/branches", need(repo_read),
                              "Branches that runs pushed, newest first."),
};

} // namespace

std::span<const Route> forge_routes() {
    return forge_table;
}

} // namespace hone::api
