#include "cli/remote/view.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/scope.h"

namespace hone::cli {

namespace {

const Argument user_argument{.name = "USER", .doc = "Id of the user, as hone member list shows it."};

Columns member_columns() {
    return {
        {.title = "user", .field = "user_id", .kind = Kind::id},
        {.title = "email", .field = "email"},
        {.title = "name", .field = "name"},
        {.title = "role", .field = "role"},
        {.title = "custom role", .field = "custom_role"},
        {.title = "disabled", .field = "disabled", .kind = Kind::yes_no},
        {.title = "since", .field = "created_at", .kind = Kind::time},
        {.title = "last login", .field = "last_login_at", .kind = Kind::time, .absent = "never"},
    };
}

Columns invite_columns() {
    return {
        {.title = "id", .field = "id", .kind = Kind::id},
        {.title = "email", .field = "email"},
        {.title = "role", .field = "role"},
        {.title = "custom role", .field = "custom_role"},
        {.title = "state", .field = "state"},
        {.title = "created", .field = "created_at", .kind = Kind::time},
        {.title = "expires", .field = "expires_at", .kind = Kind::time},
    };
}

std::string shown_role(const json::Value& member) {
    const std::string custom = text_of(member, "custom_role");
    return safe_line(custom.empty() ? text_of(member, "role") : custom);
}

Result<> list_members(Context& context) {
    const std::string space = TRY(current_space(context));
    return show_list(context, path_of("/v1/spaces", {space, "members"}), {}, member_columns(),
                     "This space has no members. Invite one:\n  hone member invite EMAIL");
}

Result<> invite_member(Context& context) {
    const std::string space = TRY(current_space(context));
    const std::string email = context.value_or_empty("EMAIL");
    json::Object body{{"email", email}};
    if (const auto custom = context.parsed.value("--custom-role"))
        body["custom_role"] = *custom;
    else
        body["role"] = context.parsed.value("--role").value_or("member");
    const json::Value made = TRY(context.remote.post(path_of("/v1/spaces", {space, "invites"}), std::move(body)));
    if (context.json()) return show_done(context, made, "");
    context.print("Invited " + text_of(made, "email") + " as " + shown_role(made) + ". Send them this link:");
    context.print("  " + context.remote.target().url + text_of(made, "path"));
    context.console.note("The link works once and is shown only now.\n");
    return {};
}

Result<> list_invites(Context& context) {
    const std::string space = TRY(current_space(context));
    return show_list(context, path_of("/v1/spaces", {space, "invites"}), {}, invite_columns(),
                     "No invites. Create one:\n  hone member invite EMAIL");
}

Result<> revoke_invite(Context& context) {
    const std::string space = TRY(current_space(context));
    const std::string invite = context.value_or_empty("INVITE");
    TRY(context.confirm("The link of invite " + invite + " stops working.", "yes"));
    const json::Value gone = TRY(context.remote.remove(path_of("/v1/spaces", {space, "invites", invite})));
    return show_done(context, gone, "Revoked invite " + invite + ".");
}

Result<> change_role(Context& context) {
    const std::string space = TRY(current_space(context));
    const std::string path = path_of("/v1/spaces", {space, "members", context.value_or_empty("USER")});
    const json::Value member = TRY(context.remote.patch(path, json::Object{{"role", context.value_or_empty("ROLE")}}));
    return show_done(context, member, text_of(member, "email") + " is now " + shown_role(member) + ".");
}

Result<> remove_member(Context& context) {
    const std::string space = TRY(current_space(context));
    const std::string user = context.value_or_empty("USER");
    TRY(context.confirm("The user " + user + " and their keys lose access to this space.", "yes"));
    const json::Value gone = TRY(context.remote.remove(path_of("/v1/spaces", {space, "members", user})));
    return show_done(context, gone, "Removed " + user + " from the space.");
}

} // namespace

std::vector<Command> member_commands() {
    const Argument role{.name = "ROLE", .doc = "The role in the space.", .choices = role_names()};
    return {
        {.path = "member list", .summary = "List the members of the space.", .lists = true, .run = list_members},
        {.path = "member invite",
         .summary = "Invite a person with a link that works once.",
         .arguments = {{.name = "EMAIL", .doc = "E-mail address of the new member."}},
         .options = {{.name = "--role",
                      .value = "ROLE",
                      .doc = "Role in the space. Default: member.",
                      .choices = role_names()},
                     {.name = "--custom-role", .value = "ROLE", .doc = "Custom role of the space instead."}},
         .run = invite_member},
        {.path = "member invites", .summary = "List the invites of the space.", .lists = true, .run = list_invites},
        {.path = "member revoke-invite",
         .summary = "Revoke an invite.",
         .arguments = {{.name = "INVITE", .doc = "Id of the invite, as hone member invites shows it."}},
         .destructive = true,
         .run = revoke_invite},
        {.path = "member role",
         .summary = "Change the role of a member.",
         .arguments = {user_argument, role},
         .run = change_role},
        {.path = "member remove",
         .summary = "Remove a member from the space.",
         .arguments = {user_argument},
         .destructive = true,
         .run = remove_member},
    };
}

} // namespace hone::cli
