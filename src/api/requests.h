// Bodies and query strings of requests, declared once. Answers are access/views.h and answers.h.
#pragma once

#include "access/page.h"
#include "access/views.h"

namespace hone::api {

using access::Role;

// --- query strings -------------------------------------------------------------------------------------------------

// Pages of a list. `page()` checks the limit.
struct PageQuery {
    static constexpr bool is_query = true;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr std::tuple fields{
        Field{"limit", &PageQuery::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
        Field{"cursor", &PageQuery::cursor, "next_cursor of the answer before."},
    };
};

inline Result<access::PageRequest> page_of(const std::optional<int64_t>& limit,
                                           const std::optional<std::string>& cursor) {
    if (limit && (*limit < 1 || *limit > access::largest_page))
        return invalid("query parameter limit must be between 1 and " + std::to_string(access::largest_page));
    if (cursor && cursor->empty()) return invalid("query parameter cursor must not be empty");
    return access::PageRequest{limit.value_or(access::default_page), cursor};
}

// Which space, for callers who belong to several.
struct InSpace {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    static constexpr std::tuple fields{
        Field{"space", &InSpace::space, "Id or name of the space; the caller's first one if not given."},
    };
};

struct ListProjects {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> name_contains;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    std::optional<bool> include_experiment_projects;
    std::optional<bool> include_dataset_evaluator_projects;
    static constexpr std::tuple fields{
        Field{"space", &ListProjects::space, "Id or name of the space; the caller's first one if not given."},
        Field{"name_contains", &ListProjects::name_contains, "Only names that contain this, in any case."},
        Field{"limit", &ListProjects::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListProjects::cursor, "next_cursor of the answer before."},
        Field{"include_experiment_projects", &ListProjects::include_experiment_projects,
              "Accepted for Phoenix clients."},
        Field{"include_dataset_evaluator_projects", &ListProjects::include_dataset_evaluator_projects,
              "Accepted for Phoenix clients."},
    };
};

struct ListKeys {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<bool> include_revoked;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr std::tuple fields{
        Field{"space", &ListKeys::space, "Id or name of the space; the caller's first one if not given."},
        Field{"include_revoked", &ListKeys::include_revoked, ""},
        Field{"limit", &ListKeys::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListKeys::cursor, "next_cursor of the answer before."},
    };
};

enum class AuditScope { space, installation };
constexpr auto enum_names(AuditScope) {
    return std::array{EnumName{AuditScope::space, "space"}, EnumName{AuditScope::installation, "installation"}};
}

struct ListAudit {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<AuditScope> scope;
    std::optional<std::string> actor;
    std::optional<std::string> action;
    std::optional<std::string> target;
    std::optional<Time> after;
    std::optional<Time> before;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr std::tuple fields{
        Field{"space", &ListAudit::space, "Id or name of the space; the caller's first one if not given."},
        Field{"scope", &ListAudit::scope,
              "installation: all entries, also those of no space; for installation owners."},
        Field{"actor", &ListAudit::actor, "Id or name of who did it."},
        Field{"action", &ListAudit::action, "project_create, or all of a resource: project_*."},
        Field{"target", &ListAudit::target, "Id of what was acted on."},
        Field{"after", &ListAudit::after, "At or after this time."},
        Field{"before", &ListAudit::before, "Before this time."},
        Field{"limit", &ListAudit::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListAudit::cursor, "next_cursor of the answer before."},
    };
};

struct ExportAudit {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<AuditScope> scope;
    static constexpr std::tuple fields{
        Field{"space", &ExportAudit::space, "Id or name of the space; the caller's first one if not given."},
        Field{"scope", &ExportAudit::scope,
              "installation: all entries, also those of no space; for installation owners."},
    };
};

struct DeleteSpace {
    static constexpr bool is_query = true;
    std::optional<std::string> confirm;
    static constexpr std::tuple fields{
        Field{"confirm", &DeleteSpace::confirm, "The name of the space, to show that it is meant."},
    };
};

// --- bodies --------------------------------------------------------------------------------------------------------

struct LogIn {
    std::string email;
    std::string password;
    static constexpr std::tuple fields{Field{"email", &LogIn::email, ""}, Field{"password", &LogIn::password, ""}};
};

struct RequestPasswordReset {
    std::string email;
    static constexpr std::tuple fields{Field{"email", &RequestPasswordReset::email, "E-mail address of the account."}};
};

struct SetNewPassword {
    std::string password;
    static constexpr std::tuple fields{Field{"password", &SetNewPassword::password, "At least 10 characters."}};
};

struct UpdateMe {
    std::optional<std::string> name;
    static constexpr std::tuple fields{Field{"name", &UpdateMe::name, ""}};
};

struct ChangePassword {
    std::string current_password;
    std::string new_password;
    static constexpr std::tuple fields{
        Field{"current_password", &ChangePassword::current_password, ""},
        Field{"new_password", &ChangePassword::new_password, "At least 10 characters."},
    };
};

struct AcceptInvite {
    std::optional<std::string> name;
    std::string password;
    static constexpr std::tuple fields{
        Field{"name", &AcceptInvite::name, "Of a new user."},
        Field{"password", &AcceptInvite::password, "A new one, or that of the existing account."},
    };
};

struct CreateSpace {
    std::string name;
    json::Defaulted<std::string> description;
    static constexpr std::tuple fields{
        Field{"name", &CreateSpace::name, ""},
        Field{"description", &CreateSpace::description, ""},
    };
};

struct UpdateSpace {
    std::optional<std::string> name;
    std::optional<std::string> description;
    static constexpr std::tuple fields{
        Field{"name", &UpdateSpace::name, ""},
        Field{"description", &UpdateSpace::description, ""},
    };
};

struct SetRole {
    Role role = Role::viewer;
    static constexpr std::tuple fields{Field{"role", &SetRole::role, ""}};
};

struct CreateInvite {
    std::string email;
    Role role = Role::viewer;
    static constexpr std::tuple fields{Field{"email", &CreateInvite::email, ""},
                                       Field{"role", &CreateInvite::role, ""}};
};

struct UpdateUser {
    std::optional<std::string> name;
    std::optional<bool> disabled;
    std::optional<bool> installation_owner;
    static constexpr std::tuple fields{
        Field{"name", &UpdateUser::name, ""},
        Field{"disabled", &UpdateUser::disabled, ""},
        Field{"installation_owner", &UpdateUser::installation_owner, ""},
    };
};

struct CreateProject {
    std::string name;
    std::optional<std::string> description;
    json::Defaulted<bool> restricted;
    std::optional<int64_t> retention_days;
    static constexpr std::tuple fields{
        Field{"name", &CreateProject::name, ""},
        Field{"description", &CreateProject::description, ""},
        Field{"restricted", &CreateProject::restricted, "Only users and keys with a binding see it."},
        Field{"retention_days", &CreateProject::retention_days,
              "Days spans are kept; the server's default if not given."},
    };
};

struct ReplaceProject {
    std::optional<std::string> description;
    static constexpr std::tuple fields{Field{"description", &ReplaceProject::description, ""}};
};

struct UpdateProject {
    std::optional<std::string> name;
    std::optional<std::string> description;
    std::optional<bool> restricted;
    std::optional<std::optional<int64_t>> retention_days;
    static constexpr std::tuple fields{
        Field{"name", &UpdateProject::name, ""},
        Field{"description", &UpdateProject::description, ""},
        Field{"restricted", &UpdateProject::restricted, ""},
        Field{"retention_days", &UpdateProject::retention_days, "null: back to the server's default."},
    };
};

struct CreateKey {
    std::string name;
    json::Defaulted<access::KeyKind> kind = access::KeyKind::personal;
    std::optional<std::vector<std::string>> scopes;
    std::optional<Role> role;
    std::optional<Time> expires_at;
    std::optional<int64_t> expires_in_days;
    static constexpr std::tuple fields{
        Field{"name", &CreateKey::name, ""},
        Field{"kind", &CreateKey::kind, "personal (default) or service."},
        Field{"scopes", &CreateKey::scopes, "Permission names, or all (default), or read."},
        Field{"role", &CreateKey::role, "Of a service key."},
        Field{"expires_at", &CreateKey::expires_at, ""},
        Field{"expires_in_days", &CreateKey::expires_in_days, "Instead of expires_at."},
    };
};

struct RotateKey {
    json::Defaulted<int64_t> grace_seconds;
    static constexpr std::tuple fields{
        Field{"grace_seconds", &RotateKey::grace_seconds, "How long the old key goes on working; 0 if not given."},
    };
};

} // namespace hone::api
