// Custom roles of a space: composed of permissions, given to members.
#include "cli/remote/view.h"
#include "cli/toolkit/scope.h"

namespace hone::cli {

namespace {

const Argument role_argument{.name = "ROLE", .doc = "Id or name of the custom role."};
const Option permission_option{.name = "--permission",
                               .value = "PERMISSION",
                               .doc = "Permission of the role, such as run_start; hone whoami lists yours.",
                               .repeated = true};

Columns custom_role_columns() {
    return {
        {.title = "id", .field = "id", .kind = Kind::id},
        {.title = "name", .field = "name"},
        {.title = "members", .field = "members", .kind = Kind::count},
        {.title = "description", .field = "description"},
        {.title = "permissions", .field = "permissions", .kind = Kind::list},
        {.title = "created by", .field = "created_by_name", .only_single = true},
        {.title = "created", .field = "created_at", .kind = Kind::time, .only_single = true},
        {.title = "changed", .field = "updated_at", .kind = Kind::time, .only_single = true},
    };
}

Result<std::string> roles_path(const Context& context, const std::string& role = "") {
    const std::string space = TRY(current_space(context));
    return role.empty() ? path_of("/v1/spaces", {space, "roles"}) : path_of("/v1/spaces", {space, "roles", role});
}

json::Array permissions_of_options(const Context& context) {
    json::Array permissions;
    for (const std::string& name : context.parsed.all("--permission")) permissions.emplace_back(name);
    return permissions;
}

Result<> list_roles(Context& context) {
    const std::string path = TRY(roles_path(context));
    return show_list(context, path, {}, custom_role_columns(),
                     "No custom roles. Compose one:\n  hone role create auditor --permission audit_read");
}

Result<> show_role(Context& context) {
    const std::string path = TRY(roles_path(context, context.value_or_empty("ROLE")));
    return show_record(context, TRY(context.remote.get(path)), custom_role_columns());
}

Result<> create_role(Context& context) {
    const std::string path = TRY(roles_path(context));
    json::Object body{{"name", context.value_or_empty("NAME")}, {"permissions", permissions_of_options(context)}};
    if (const auto text = context.parsed.value("--description")) body["description"] = *text;
    return show_record(context, TRY(context.remote.post(path, std::move(body))), custom_role_columns());
}

Result<> update_role(Context& context) {
    const std::string path = TRY(roles_path(context, context.value_or_empty("ROLE")));
    json::Object body;
    if (const auto name = context.parsed.value("--name")) body["name"] = *name;
    if (const auto text = context.parsed.value("--description")) body["description"] = *text;
    if (context.parsed.has("--permission")) body["permissions"] = permissions_of_options(context);
    if (body.empty())
        return context.fail(Exit::usage, "nothing to change: give at least one option",
                            "hone role update --help lists the options");
    return show_record(context, TRY(context.remote.patch(path, std::move(body))), custom_role_columns());
}

Result<> delete_role(Context& context) {
    const std::string role = context.value_or_empty("ROLE");
    const std::string path = TRY(roles_path(context, role));
    TRY(context.confirm("The custom role " + role + " is deleted. Open invites with it are revoked.", "yes"));
    const json::Value gone = TRY(context.remote.remove(path));
    return show_done(context, gone, "Deleted role " + role + ".");
}

Result<> give_role(Context& context) {
    const std::string space = TRY(current_space(context));
    const std::string path = path_of("/v1/spaces", {space, "members", context.value_or_empty("USER")});
    const json::Value member =
        TRY(context.remote.patch(path, json::Object{{"custom_role", context.value_or_empty("ROLE")}}));
    return show_done(context, member, text_of(member, "email") + " is now " + text_of(member, "custom_role") + ".");
}

} // namespace

std::vector<Command> role_commands() {
    const Option description{.name = "--description", .value = "TEXT", .doc = "What it is for."};
    return {
        {.path = "role list", .summary = "List the custom roles of the space.", .lists = true, .run = list_roles},
        {.path = "role show", .summary = "Show a custom role.", .arguments = {role_argument}, .run = show_role},
        {.path = "role create",
         .summary = "Compose a role of permissions that you have. What is not named is denied.",
         .arguments = {{.name = "NAME", .doc = "Name of the role."}},
         .options = {permission_option, description},
         .run = create_role},
        {.path = "role update",
         .summary = "Change a custom role. It counts for its members immediately.",
         .arguments = {role_argument},
         .options = {{.name = "--name", .value = "NAME", .doc = "New name."}, permission_option, description},
         .run = update_role},
        {.path = "role give",
         .summary = "Give a custom role to a member. hone member role gives a built-in one.",
         .arguments = {role_argument, {.name = "USER", .doc = "Id of the user, as hone member list shows it."}},
         .run = give_role},
        {.path = "role delete",
         .summary = "Delete a custom role that no member has.",
         .arguments = {role_argument},
         .destructive = true,
         .run = delete_role},
    };
}

} // namespace hone::cli
