#include "access/permission.h"

#include "base/result.h"

namespace hone::access {

namespace {

using enum Permission;

constexpr PermissionRow table[] = {
    {space_read, "See the space and its settings.", false, Role::viewer},
    {space_update, "Rename the space, change its settings.", false, Role::admin},
    {space_delete, "Delete the space with everything in it.", false, Role::owner},
    {member_read, "See the members of the space.", false, Role::viewer},
    {member_manage, "Invite people, change roles, remove members.", false, Role::admin},
    {project_read, "See projects and their data.", false, Role::viewer},
    {project_create, "Create projects.", false, Role::member},
    {project_update, "Rename projects, change their settings.", false, Role::member},
    {project_delete, "Delete projects with all their data.", false, Role::admin},
    {project_bind, "Decide who sees a restricted project.", false, Role::admin},
    {trace_write, "Send traces, create projects by sending.", false, Role::member},
    {trace_delete, "Delete traces, evals, runs and artifacts.", false, Role::admin},
    {eval_write, "Label and score spans, traces and chat sessions.", false, Role::annotator},
    {preset_read, "See presets.", false, Role::viewer},
    {preset_write, "Create, change and delete presets.", false, Role::member},
    {run_read, "See runs, transcripts and artifacts.", false, Role::viewer},
    {run_start, "Start sessions, send follow-ups, cancel runs.", false, Role::member},
    {artifact_review, "Approve and reject artifacts of runs.", false, Role::member},
    {key_create, "Create, list, rotate and revoke own API keys.", false, Role::viewer},
    {key_manage, "Create service keys; see, rotate and revoke all keys of the space.", false, Role::admin},
    {audit_read, "Read the audit log of the space.", false, Role::admin},
    {skill_read, "See skills: variables, hosts, names of secrets; never a secret.", false, Role::viewer},
    {skill_write, "Create, change and delete skills.", false, Role::admin},
    {secret_write, "Set, replace and delete the secrets of skills.", false, Role::admin},
    {automation_read, "See automations and their history.", false, Role::viewer},
    {automation_write, "Create, change, pause and delete automations, run them now.", false, Role::member},
    {monitor_read, "See monitors, their history and the destinations of notices.", false, Role::viewer},
    {monitor_write, "Create, change, mute and delete monitors and destinations of notices.", false, Role::member},
    {issue_read, "See issues and the settings of Signal.", false, Role::viewer},
    {issue_write, "Report, assign, merge, mute, resolve and dismiss issues, comment on them.", false, Role::annotator},
    {repo_read, "See repositories and pull requests.", false, Role::viewer},
    {repo_write, "Register repositories, fetch and delete their mirrors.", false, Role::admin},
    {dataset_read, "See datasets, experiments and prompts.", false, Role::viewer},
    {dataset_write, "Create, change and delete datasets, import examples.", false, Role::member},
    {experiment_write, "Create experiments, send their runs and evals, delete them.", false, Role::member},
    {prompt_write, "Create versions of prompts, move their tags, delete prompts.", false, Role::member},
    {queue_manage, "Create, change, fill and delete queues for people who label.", false, Role::member},
    {queue_answer, "See queues, label their items.", false, Role::annotator},
    {role_manage, "Compose, change and delete custom roles of the space.", false, Role::owner},
    {space_create, "Create spaces.", true},
    {user_manage, "See all users, disable them, make installation owners.", true},
    {audit_verify, "Check the whole audit log, read entries outside any space.", true},
    {backup_create, "Download a backup of the database.", true},
    {skill_share, "Manage skills of the whole installation, share them with spaces, allow private model endpoints.",
     true},
    {secret_rotate, "Rotate the keys that encrypt secrets.", true},
};
static_assert(std::size(table) == enum_names(Permission{}).size());

} // namespace

std::span<const PermissionRow> permission_table() {
    return table;
}

std::string_view role_doc(Role role) {
    switch (role) {
    case Role::viewer:
        return "Sees everything in the space but restricted projects.";
    case Role::annotator:
        return "A viewer who labels traces and works through annotation queues.";
    case Role::member:
        return "Creates and changes projects, starts runs.";
    case Role::admin:
        return "Manages members, keys and settings of the space.";
    case Role::owner:
        return "Has every permission in the space, including its deletion.";
    }
    return "";
}

std::vector<std::string> PermissionSet::names() const {
    std::vector<std::string> names;
    for (const auto& row : table)
        if (has(row.permission)) names.emplace_back(name_of(row.permission));
    return names;
}

PermissionSet permissions_of(Role role) {
    PermissionSet set;
    for (const auto& row : table)
        if (!row.installation && role >= row.least_role) set.add(row.permission);
    return set;
}

HeldRole HeldRole::custom_role(std::string name, PermissionSet permissions) {
    HeldRole held;
    for (const Role role : {Role::viewer, Role::annotator, Role::member, Role::admin})
        if (permissions.contains(permissions_of(role))) held.role = role;
    held.permissions = permissions;
    held.custom = std::move(name);
    return held;
}

PermissionSet installation_permissions() {
    PermissionSet set;
    for (const auto& row : table)
        if (row.installation) set.add(row.permission);
    return set;
}

PermissionSet reading_permissions() {
    PermissionSet set;
    for (const auto& row : table)
        if (name_of(row.permission).ends_with("_read")) set.add(row.permission);
    return set;
}

std::string print_role_matrix() {
    std::string out = "| permission | meaning |";
    std::string rule = "|---|---|";
    for (const auto& role : enum_names(Role{})) {
        out += " " + std::string(role.name) + " |";
        rule += "---|";
    }
    out += "\n" + rule + "\n";
    for (const auto& row : table) {
        out += "| `" + std::string(name_of(row.permission)) + "` | " + std::string(row.doc) +
               (row.installation ? " Installation owners only." : "") + " |";
        for (const auto& role : enum_names(Role{}))
            out += !row.installation && role.value >= row.least_role ? " yes |" : " |";
        out += "\n";
    }
    return out;
}

} // namespace hone::access
