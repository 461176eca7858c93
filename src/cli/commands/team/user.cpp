#include "base/text.h"
#include "cli/remote/remote.h"
#include "cli/remote/target.h"
#include "cli/remote/view.h"
#include "cli/terminal/display.h"

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
                     "No users. A person gets an account by accepting an invite:\n  hone member invite EMAIL");
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

// The id of the account with this e-mail address; ids pass as they are.
Result<std::string> find_user(const Context& context, const std::string& email_or_id) {
    if (email_or_id.find('@') == std::string::npos) return email_or_id;
    const Items users = TRY(context.remote.list("/v1/users", {}, std::nullopt));
    for (const json::Value& user : users.items)
        if (equals_ignoring_case(text_of(user, "email"), email_or_id)) return text_of(user, "id");
    return context.fail(Exit::not_found, "no account has the address " + safe_line(email_or_id), "hone user list");
}

Result<> reset_password(Context& context) {
    const std::string user = TRY(find_user(context, context.value_or_empty("EMAIL")));
    const json::Value link = TRY(context.remote.post(path_of("/v1/users", {user, "password_reset"}), json::Object{}));
    if (context.json()) {
        print_json(context, link);
        return {};
    }
    context.console.print("Give this link to " + safe_line(text_of(link, "email")) +
                          ". It works once, within an hour:\n" + context.remote.target().url + text_of(link, "path") +
                          "\n");
    return {};
}

Result<> list_logins(Context& context) {
    Query query;
    if (const auto user = context.parsed.value("--user")) query.emplace_back("user", TRY(find_user(context, *user)));
    return show_list(context, "/v1/login_sessions", std::move(query),
                     {{.title = "id", .field = "id", .kind = Kind::id},
                      {.title = "email", .field = "email"},
                      {.title = "from", .field = "peer"},
                      {.title = "provider", .field = "provider", .absent = "password"},
                      {.title = "last seen", .field = "last_seen_at", .kind = Kind::time},
                      {.title = "expires", .field = "expires_at", .kind = Kind::time},
                      {.title = "browser", .field = "user_agent", .only_single = true}},
                     "There are no logins.");
}

// "engineers" with "member in default": the roles as texts.
Result<> list_groups(Context& context) {
    Query query;
    if (const auto provider = context.parsed.value("--provider")) query.emplace_back("provider", *provider);
    if (const auto user = context.parsed.value("--user")) query.emplace_back("user", TRY(find_user(context, *user)));
    Items found = TRY(context.remote.list("/v1/groups", std::move(query), std::nullopt));
    if (!context.json()) {
        for (json::Value& group : found.items) {
            json::Array texts;
            const json::Value* roles = member(group, "roles");
            if (roles != nullptr && roles->is_array())
                for (const json::Value& role : roles->get_array())
                    texts.emplace_back(
                        text_of(role, "role") + " in " +
                        (text_of(role, "space_name").empty() ? "a deleted space" : text_of(role, "space_name")));
            group.get_object()["role_texts"] = std::move(texts);
        }
    }
    return show_rows(context, found.items,
                     {{.title = "provider", .field = "provider"},
                      {.title = "group", .field = "name"},
                      {.title = "people", .field = "people", .kind = Kind::number},
                      {.title = "roles", .field = "role_texts", .kind = Kind::list, .absent = "none"},
                      {.title = "last login", .field = "last_login_at", .kind = Kind::time, .absent = "never"},
                      {.title = "emails", .field = "emails", .kind = Kind::list}},
                     "No groups. Providers send them at sign-ins; a mapping gives them roles:\n  hone provider update "
                     "PROVIDER --map GROUP=SPACE:ROLE");
}

Result<> end_login(Context& context) {
    const std::string id = context.value_or_empty("LOGIN");
    const json::Value gone = TRY(context.remote.remove(path_of("/v1/login_sessions", {id})));
    return show_done(context, gone, "Ended login " + id + ".");
}

Result<> end_logins(Context& context) {
    const std::string user = TRY(find_user(context, context.value_or_empty("EMAIL")));
    const json::Value gone = TRY(context.remote.remove(path_of("/v1/users", {user, "login_sessions"})));
    return show_done(context, gone, "Ended all logins of " + context.value_or_empty("EMAIL") + ".");
}

Result<> reset_second_factor(Context& context) {
    const std::string user = TRY(find_user(context, context.value_or_empty("EMAIL")));
    const json::Value gone = TRY(context.remote.remove(path_of("/v1/users", {user, "second_factor"})));
    return show_done(context, gone,
                     "Removed the second factor of " + context.value_or_empty("EMAIL") + " and ended its logins.");
}

const Argument email_argument{.name = "EMAIL", .doc = "E-mail address of the account, or its id."};

} // namespace

std::vector<Command> user_commands() {
    return {
        {.path = "user list", .summary = "List all accounts.", .lists = true, .run = list_users},
        {.path = "user update",
         .summary = "Change an account.",
         .arguments = {{.name = "USER", .doc = "Id of the user, as hone user list shows it."}},
         .options = {{.name = "--name", .value = "NAME", .doc = "Display name."},
                     {.name = "--disabled",
                      .value = "BOOL",
                      .doc = "Disable the account: it cannot log in, and its keys do not work.",
                      .choices = {"true", "false"}},
                     {.name = "--installation-owner",
                      .value = "BOOL",
                      .doc = "Make the user an owner of the installation, who manages users, spaces and backups.",
                      .choices = {"true", "false"}}},
         .run = update_user},
        {.path = "user logins",
         .summary = "List who is logged in, newest login first.",
         .options = {{.name = "--user", .value = "EMAIL", .doc = "Only logins of this account; an address or an id."}},
         .lists = true,
         .run = list_logins},
        {.path = "user groups",
         .summary = "List the groups of single sign-on, who was in them at the last login, and their roles.",
         .options = {{.name = "--user", .value = "EMAIL", .doc = "Only groups of this account; an address or an id."},
                     {.name = "--provider", .value = "NAME", .doc = "Only groups that this provider sends."}},
         .run = list_groups},
        {.path = "user end-login",
         .summary = "End one login.",
         .arguments = {{.name = "LOGIN", .doc = "Id of the login, as hone user logins shows it."}},
         .run = end_login},
        {.path = "user end-logins",
         .summary = "End all logins of an account.",
         .arguments = {email_argument},
         .run = end_logins},
        {.path = "user reset-second-factor",
         .summary = "Remove the second factor of an account that lost it.",
         .arguments = {email_argument},
         .details = "Needs an installation owner. The account's logins end; the next login needs the password only.\n",
         .run = reset_second_factor},
        {.path = "user reset-password",
         .summary = "Create a link that sets a new password; with --data-dir set a temporary password.",
         .arguments = {{.name = "EMAIL", .doc = "E-mail address of the account, or its id."}},
         .options = {{.name = "--data-dir",
                      .value = "DIR",
                      .doc = "Work on this data directory, without a server and without a login; the server must be "
                             "stopped."}},
         .details = "Needs an installation owner. The link works once and expires after an hour; setting the password\n"
                    "ends all logins of the account. An owner who cannot log in stops the server and runs\n"
                    "  hone user reset-password EMAIL --data-dir DIR\n"
                    "on its machine, which prints a password that must be changed at the next login.\n",
         .run = reset_password},
    };
}

} // namespace hone::cli
