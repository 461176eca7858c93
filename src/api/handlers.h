// The handlers of the route table: decode, call the domain, encode; no logic. One .cpp per family.
#pragma once

#include "api/answers.h"
#include "api/requests.h"

namespace hone::api {

// session_handlers.cpp
Result<One<Me>> log_in(const Call&, const LogIn&);
Result<Nothing> log_out(const Call&);
Result<One<Me>> get_me(const Call&);
Result<One<Me>> update_me(const Call&, const UpdateMe&);
Result<One<Me>> change_password(const Call&, const ChangePassword&);
Result<List<access::LoginSession>> list_login_sessions(const Call&);
Result<Nothing> end_login_session(const Call&);
Result<One<PasswordResetRequested>> request_password_reset(const Call&, const RequestPasswordReset&);
Result<One<PasswordResetInfo>> get_password_reset(const Call&);
Result<One<Me>> complete_password_reset(const Call&, const SetNewPassword&);
Result<One<PasswordResetLink>> create_password_reset(const Call&);
Result<One<access::InviteInfo>> look_at_invite(const Call&);
Result<One<Me>> accept_invite(const Call&, const AcceptInvite&);

// space_handlers.cpp
Result<List<access::Space>> list_spaces(const Call&, const PageQuery&);
Result<One<access::Space>> create_space(const Call&, const CreateSpace&);
Result<One<access::Space>> get_space(const Call&);
Result<One<access::Space>> update_space(const Call&, const UpdateSpace&);
Result<Nothing> delete_space(const Call&, const DeleteSpace&);
Result<List<access::Member>> list_members(const Call&, const PageQuery&);
Result<One<access::Member>> set_member_role(const Call&, const SetRole&);
Result<Nothing> remove_member(const Call&);
Result<List<access::Invite>> list_invites(const Call&, const PageQuery&);
Result<One<access::Invite>> create_invite(const Call&, const CreateInvite&);
Result<One<access::Invite>> revoke_invite(const Call&);
Result<List<access::User>> list_users(const Call&, const PageQuery&);
Result<One<access::User>> update_user(const Call&, const UpdateUser&);

// project_handlers.cpp
Result<List<access::Project>> list_projects(const Call&, const ListProjects&);
Result<One<access::Project>> create_project(const Call&, const InSpace&, const CreateProject&);
Result<One<access::Project>> get_project(const Call&, const InSpace&);
Result<One<access::Project>> replace_project(const Call&, const InSpace&, const ReplaceProject&);
Result<One<access::Project>> update_project(const Call&, const InSpace&, const UpdateProject&);
Result<NoContent> delete_project(const Call&, const InSpace&);
Result<List<access::Binding>> list_bindings(const Call&, const InSpace&);
Result<One<access::Binding>> put_binding(const Call&, const InSpace&, const SetRole&);
Result<Nothing> delete_binding(const Call&, const InSpace&);

// By id, or by name within the space of the request; checks the permission in the project.
Result<access::Project> find_project(const Call& call, const std::optional<std::string>& space,
                                     std::string_view project, access::Permission permission);
// The one that `{project}` in the path names.
Result<access::Project> project_in_path(const Call& call, const std::optional<std::string>& space,
                                        access::Permission permission);

// key_handlers.cpp
Result<List<access::Key>> list_keys(const Call&, const ListKeys&);
Result<One<access::Key>> create_key(const Call&, const InSpace&, const CreateKey&);
Result<One<access::Key>> revoke_key(const Call&);
Result<One<access::Key>> rotate_key(const Call&, const RotateKey&);

// installation_handlers.cpp
Result<List<access::AuditEntry>> list_audit(const Call&, const ListAudit&);
Result<net::Response> export_audit(const Call&, const ExportAudit&);
Result<One<access::AuditVerification>> verify_audit(const Call&);
Result<One<ServerInfo>> get_server(const Call&);
Result<net::Response> get_backup(const Call&);
Result<net::Response> get_openapi(const Call&);

// The answer to login and to accepting an invite: who you are now, and the cookie.
Result<One<Me>> logged_in(const Call& call, const access::Login& login);
Result<Me> me_of(const Call& call, const access::Caller& caller);

} // namespace hone::api
