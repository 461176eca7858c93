// Roles are sets of permissions; a permission is a resource and an action. One table defines what each means and which
// roles hold it; the API, the UI and docs/permissions.md are made from it. Pure data, any thread.
#pragma once

#include "base/fields.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone::access {

// From least to most; each role holds everything the one before it holds.
enum class Role { viewer, annotator, member, admin, owner };
constexpr auto enum_names(Role) {
    return std::array{EnumName{Role::viewer, "viewer"}, EnumName{Role::annotator, "annotator"},
                      EnumName{Role::member, "member"}, EnumName{Role::admin, "admin"}, EnumName{Role::owner, "owner"}};
}

enum class Permission {
    space_read,
    space_update,
    space_delete,
    member_read,
    member_manage,
    project_read,
    project_create,
    project_update,
    project_delete,
    project_bind,
    trace_write,
    trace_delete,
    eval_write,
    preset_read,
    preset_write,
    run_read,
    run_start,
    artifact_review,
    key_create,
    key_manage,
    audit_read,
    skill_read,
    skill_write,
    secret_write,
    automation_read,
    automation_write,
    monitor_read,
    monitor_write,
    issue_read,
    issue_write,
    repo_read,
    repo_write,
    dataset_read,
    dataset_write,
    experiment_write,
    prompt_write,
    queue_manage,
    queue_answer,
    role_manage,
    // Of the whole installation: held by installation owners only.
    space_create,
    user_manage,
    audit_verify,
    backup_create,
    skill_share,
    secret_rotate,
};
constexpr auto enum_names(Permission) {
    using enum Permission;
    return std::array{EnumName{space_read, "space_read"},
                      EnumName{space_update, "space_update"},
                      EnumName{space_delete, "space_delete"},
                      EnumName{member_read, "member_read"},
                      EnumName{member_manage, "member_manage"},
                      EnumName{project_read, "project_read"},
                      EnumName{project_create, "project_create"},
                      EnumName{project_update, "project_update"},
                      EnumName{project_delete, "project_delete"},
                      EnumName{project_bind, "project_bind"},
                      EnumName{trace_write, "trace_write"},
                      EnumName{trace_delete, "trace_delete"},
                      EnumName{eval_write, "eval_write"},
                      EnumName{preset_read, "preset_read"},
                      EnumName{preset_write, "preset_write"},
                      EnumName{run_read, "run_read"},
                      EnumName{run_start, "run_start"},
                      EnumName{artifact_review, "artifact_review"},
                      EnumName{skill_read, "skill_read"},
                      EnumName{skill_write, "skill_write"},
                      EnumName{secret_write, "secret_write"},
                      EnumName{key_create, "key_create"},
                      EnumName{key_manage, "key_manage"},
                      EnumName{audit_read, "audit_read"},
                      EnumName{automation_read, "automation_read"},
                      EnumName{automation_write, "automation_write"},
                      EnumName{monitor_read, "monitor_read"},
                      EnumName{monitor_write, "monitor_write"},
                      EnumName{issue_read, "issue_read"},
                      EnumName{issue_write, "issue_write"},
                      EnumName{repo_read, "repo_read"},
                      EnumName{repo_write, "repo_write"},
                      EnumName{dataset_read, "dataset_read"},
                      EnumName{dataset_write, "dataset_write"},
                      EnumName{experiment_write, "experiment_write"},
                      EnumName{prompt_write, "prompt_write"},
                      EnumName{queue_manage, "queue_manage"},
                      EnumName{queue_answer, "queue_answer"},
                      EnumName{role_manage, "role_manage"},
                      EnumName{space_create, "space_create"},
                      EnumName{user_manage, "user_manage"},
                      EnumName{audit_verify, "audit_verify"},
                      EnumName{backup_create, "backup_create"},
                      EnumName{skill_share, "skill_share"},
                      EnumName{secret_rotate, "secret_rotate"}};
}

struct PermissionRow {
    Permission permission;
    std::string_view doc;
    bool installation = false;
    Role least_role = Role::owner; // ignored for installation permissions
};
// One row per permission, in the order of the enum.
std::span<const PermissionRow> permission_table();
std::string_view role_doc(Role role);

class PermissionSet {
public:
    constexpr PermissionSet() = default;
    constexpr bool has(Permission permission) const { return (m_bits >> static_cast<unsigned>(permission) & 1u) != 0; }
    constexpr void add(Permission permission) { m_bits |= uint64_t{1} << static_cast<unsigned>(permission); }
    constexpr bool contains(PermissionSet other) const { return (m_bits & other.m_bits) == other.m_bits; }
    constexpr bool empty() const { return m_bits == 0; }
    constexpr PermissionSet operator&(PermissionSet other) const { return PermissionSet(m_bits & other.m_bits); }
    constexpr PermissionSet operator|(PermissionSet other) const { return PermissionSet(m_bits | other.m_bits); }
    friend constexpr bool operator==(PermissionSet, PermissionSet) = default;
    std::vector<std::string> names() const;

private:
    explicit constexpr PermissionSet(uint64_t bits) : m_bits(bits) {}
    uint64_t m_bits = 0;
};

PermissionSet permissions_of(Role role);

// What a member has in a space: a built-in role, or a custom role that an owner composed.
struct HeldRole {
    Role role; // of a custom role: the highest up to admin whose permissions it includes, else viewer; only for order
    PermissionSet permissions;
    std::string custom; // name of the custom role; empty: none
    HeldRole() : HeldRole(Role::viewer) {}
    HeldRole(Role held) : role(held), permissions(permissions_of(held)) {}
    static HeldRole custom_role(std::string name, PermissionSet permissions);
    std::string name() const { return custom.empty() ? std::string(name_of(role)) : custom; }
    friend bool operator==(const HeldRole&, const HeldRole&) = default;
};
PermissionSet installation_permissions();
// Every permission whose action is "read".
PermissionSet reading_permissions();

// docs/permissions.md, without the routes.
std::string print_role_matrix();

} // namespace hone::access
