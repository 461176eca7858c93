// Logins, spaces, members, projects, keys, audit and the installation.
#include "api/routes.h"

#include "api/handlers.h"
#include "api/space_policy_handlers.h"
#include "api/usage_handlers.h"

namespace hone::api {

namespace {

using enum access::Permission;

const Route access_table[] = {
    route<log_in>("POST", "/v1/login", guest, "Log in with a password; sets the session cookie.").secret(),
    route<log_out>("POST", "/v1/logout", login, "End this login."),
    route<get_me>("GET", "/v1/me", login, "Who am I, and what may I do."),
    route<update_me>("PATCH", "/v1/me", login, "Change my name."),
    route<change_password>("POST", "/v1/me/password", login, "Change my password; ends my other logins.").secret(),
    route<list_login_sessions>("GET", "/v1/me/sessions", login, "My logins."),
    route<end_login_session>("DELETE", "/v1/me/sessions/{login}", login, "End one of my logins."),
    route<request_password_reset>("POST", "/v1/password_resets", guest, "Request a link for a new password by mail."),
    route<get_password_reset>("GET", "/v1/password_resets/{reset}", guest, "The account of an open password link."),
    route<complete_password_reset>("POST", "/v1/password_resets/{reset}", guest,
                                   "Set a new password with a link; ends all other logins and logs in.")
        .secret(),
    route<look_at_invite>("GET", "/v1/invites/{token}", guest, "What an invite's link offers."),
    route<accept_invite>("POST", "/v1/invites/{token}/accept", guest, "Become a member by an invite; logs in.")
        .secret(),

    route<list_spaces>("GET", "/v1/spaces", login, "My spaces; all for an installation owner."),
    route<create_space>("POST", "/v1/spaces", need(space_create), "Create a space."),
    route<get_space>("GET", "/v1/spaces/{space}", need(space_read), "A space by id or name."),
    route<update_space>("PATCH", "/v1/spaces/{space}", need(space_update), "Rename or describe a space."),
    route<delete_space>("DELETE", "/v1/spaces/{space}", need(space_delete), "Delete a space with everything in it."),
    route<list_members>("GET", "/v1/spaces/{space}/members", need(member_read), "Members of a space."),
    route<set_member_role>("PATCH", "/v1/spaces/{space}/members/{user}", need(member_manage),
                           "Change a member's role."),
    route<remove_member>("DELETE", "/v1/spaces/{space}/members/{user}", need(member_read),
                         "Remove a member (member_manage), or leave."),
    route<list_invites>("GET", "/v1/spaces/{space}/invites", need(member_manage), "Invites of a space."),
    route<create_invite>("POST", "/v1/spaces/{space}/invites", need(member_manage),
                         "Invite somebody; the link is shown once.")
        .secret(),
    route<revoke_invite>("DELETE", "/v1/spaces/{space}/invites/{invite}", need(member_manage), "Revoke an invite."),
    route<get_space_budget>("GET", "/v1/spaces/{space}/budget", need(space_read),
                            "What model calls of a space may use a day."),
    route<put_space_budget>("PUT", "/v1/spaces/{space}/budget", need(space_update),
                            "Limit what model calls of a space may use a day."),
    route<get_space_policy>("GET", "/v1/spaces/{space}/policy", need(space_read),
                            "What presets, sessions and automations of a space may request at most."),
    route<put_space_policy>("PUT", "/v1/spaces/{space}/policy", need(space_update),
                            "Replace the policy of a space; it holds for every run that starts from now on."),
    route<list_model_usage>("GET", "/v1/model_usage", need(space_read),
                            "Tokens and cost of model calls by day, model, run, automation or project."),
    route<list_users>("GET", "/v1/users", need(user_manage), "All users."),
    route<update_user>("PATCH", "/v1/users/{user}", need(user_manage), "Rename, disable, or make installation owner."),

    route<create_password_reset>("POST", "/v1/users/{user}/password_reset", need(user_manage),
                                 "Create a link that sets a new password; it is shown once and expires in an hour.")
        .secret(),

    route<list_projects>("GET", "/v1/projects", need(project_read), "Projects of a space."),
    route<create_project>("POST", "/v1/projects", need(project_create), "Create a project."),
    route<get_project>("GET", "/v1/projects/{project}", need(project_read), "A project by id or name."),
    route<replace_project>("PUT", "/v1/projects/{project}", need(project_update),
                           "Replace the description (as Phoenix does)."),
    route<update_project>("PATCH", "/v1/projects/{project}", need(project_update),
                          "Rename a project, change its settings."),
    route<delete_project>("DELETE", "/v1/projects/{project}", need(project_delete),
                          "Delete a project with all its data."),
    route<list_bindings>("GET", "/v1/projects/{project}/bindings", need(project_bind),
                         "Who sees a restricted project."),
    route<put_binding>("PUT", "/v1/projects/{project}/bindings/{principal}", need(project_bind),
                       "Let a member or service key in."),
    route<delete_binding>("DELETE", "/v1/projects/{project}/bindings/{principal}", need(project_bind),
                          "Take a binding away."),

    route<list_keys>("GET", "/v1/keys", need(key_create), "My API keys; with key_manage all of the space."),
    route<create_key>("POST", "/v1/keys", need(key_create), "Create an API key; it is shown once.").secret(),
    route<revoke_key>("DELETE", "/v1/keys/{key}", need(key_create), "Revoke a key (others' with key_manage)."),
    route<rotate_key>("POST", "/v1/keys/{key}/rotate", need(key_create),
                      "Replace a key by a new one with the same rights.")
        .secret(),

    route<list_audit>("GET", "/v1/audit", need(audit_read), "Audit log, newest first."),
    route<export_audit>("GET", "/v1/audit/export", need(audit_read), "Audit log as JSON lines, oldest first.")
        .raw("application/x-ndjson"),
    route<verify_audit>("GET", "/v1/audit/verify", need(audit_verify), "Check the hash chain of the audit log."),
    route<get_server>("GET", "/v1/server", login, "Version, roles, permissions; settings for installation owners."),
    route<get_backup>("GET", "/v1/backup", need(backup_create),
                      "A backup of the database, spans and evals, for `hone restore`.")
        .raw("application/zstd"),
    route<get_openapi>("GET", "/openapi.json", guest, "This description.").raw("application/json"),
};

} // namespace

std::span<const Route> access_routes() {
    return access_table;
}

} // namespace hone::api
