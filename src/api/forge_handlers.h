// Repositories: requests and handlers.
#pragma once

#include "api/call.h"
#include "api/forge_services.h"
#include "api/requests.h"
#include "api/run_requests.h"

namespace hone::api {

struct CreateRepo {
    std::string url;
    json::Defaulted<std::string> name;
    json::Defaulted<std::string> default_ref;
    std::optional<std::string> skill;
    json::Defaulted<std::string> path_scope;
    json::Defaulted<bool> allow_private = false;
    static constexpr std::tuple fields{
        Field{"url", &CreateRepo::url, "https address, without user or token."},
        Field{"name", &CreateRepo::name, "Unique in the space; from the address if not given."},
        Field{"default_ref", &CreateRepo::default_ref, "Branch, tag or commit that workers get."},
        Field{"skill", &CreateRepo::skill, "Id or name of the skill whose credential fetches it."},
        Field{"path_scope", &CreateRepo::path_scope, "Folder that workers get of a large repository."},
        Field{"allow_private", &CreateRepo::allow_private,
              "The forge may be on a private address; for owners of the installation."},
    };
};

struct UpdateRepo {
    std::optional<std::string> name;
    std::optional<std::string> default_ref;
    std::optional<std::string> skill;
    std::optional<std::string> path_scope;
    std::optional<bool> allow_private;
    static constexpr std::tuple fields{
        Field{"name", &UpdateRepo::name, "Unique in the space."},
        Field{"default_ref", &UpdateRepo::default_ref, "Branch, tag or commit that workers get."},
        Field{"skill", &UpdateRepo::skill, "Id or name of a skill; empty: none."},
        Field{"path_scope", &UpdateRepo::path_scope, "Folder that workers get; empty: all of it."},
        Field{"allow_private", &UpdateRepo::allow_private, "The forge may be on a private address."},
    };
};

struct ListRefs {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> prefix;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr std::tuple fields{
        Field{"space", &ListRefs::space, "Id or name of the space; the caller's first one if not given."},
        Field{"prefix", &ListRefs::prefix, "Only refs that begin so: refs/tags/."},
        Field{"limit", &ListRefs::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListRefs::cursor, "next_cursor of the answer before."},
    };
};

Result<ForgeServices*> forge_of(const Call& call);
// The repository of the path, by id or by name in the space.
Result<forge::Repo> repo_in_path(const Call& call, const std::optional<std::string>& space,
                                 access::Permission permission = access::Permission::repo_read);
Result<List<forge::Repo>> list_repos(const Call&, const ListInSpace&);
Result<One<forge::Repo>> create_repo(const Call&, const InSpace&, const CreateRepo&);
Result<One<forge::Repo>> get_repo(const Call&, const InSpace&);
Result<One<forge::Repo>> update_repo(const Call&, const InSpace&, const UpdateRepo&);
Result<NoContent> delete_repo(const Call&, const InSpace&);
Result<One<forge::Repo>> fetch_repo(const Call&, const InSpace&);
Result<List<forge::Ref>> list_repo_refs(const Call&, const ListRefs&);
Result<List<forge::PushedBranch>> list_repo_branches(const Call&, const ListInSpace&);

} // namespace hone::api
