#include "cli/remote/view.h"

namespace hone::cli {

namespace {

Columns user_columns() {
    return {
        {.title = "id", .field = "id", .kind = Kind::id},
        {.title = "email", .field = "email"},
        {.title = "name", .field = "name"},
        {.title = "owner", .field = "installation_owner", .kind = Kind::yes_no},
        {.title = "disabled", .field = "disabled", .kind = Kind::yes_no},
        {.title = "created", .field = "created_at", .kind = Kind::time},
        {.title = "last login", .field = "last_login_at", .kind = Kind::time, .absent = "never"},
    };
}

Result<> list_users(Context& context) {
    return show_list(context, "/v1/users", {}, user_columns(),
                     "No users. Accounts are made by accepting an invite:\n  hone member invite EMAIL");
}

Result<> update_user(Context& context) {
    json::Object body;
    if (const auto name = context.parsed.value("--name")) body["name"] = *name;
    if (const auto disabled = context.parsed.value("--disabled")) body["disabled"] = *disabled == "true";
    if (const auto owner = context.parsed.value("--installation-owner")) body["installation_owner"] = *owner == "true";
    if (body.empty()) return context.usage("nothing to change: give at least one option");
    const std::string path = path_of("/v1/users", {context.value_or_empty("USER")});
    return show_record(context, TRY(context.remote.patch(path, std::move(body))), user_columns());
}

} // namespace

std::vector<Command> user_commands() {
    return {
        {.path = "user list", .summary = "List all accounts.", .lists = true, .run = list_users},
        {.path = "user update",
         .summary = "Change an account.",
         .arguments = {{.name = "USER", .doc = "Id of the user, as hone user list shows it."}},
         .options = {{.name = "--name", .value = "NAME", .doc = "The name others see."},
                     {.name = "--disabled",
                      .value = "BOOL",
                      .doc = "Cannot log in, and their keys do not work.",
                      .choices = {"true", "false"}},
                     {.name = "--installation-owner",
                      .value = "BOOL",
                      .doc = "May manage users, spaces and backups.",
                      .choices = {"true", "false"}}},
         .run = update_user},
    };
}

} // namespace hone::cli
