// Where notices go, and the notices themselves.
#include "base/text.h"
#include "cli/remote/view.h"
#include "cli/toolkit/scope.h"
#include "cli/toolkit/secret_input.h"

namespace hone::cli {

namespace {

const Argument destination_argument{.name = "DESTINATION", .doc = "Id or name of the destination."};

Columns destination_columns() {
    return {
        {.title = "id", .field = "id", .kind = Kind::id},
        {.title = "name", .field = "name"},
        {.title = "type", .field = "type"},
        {.title = "target", .field = "target"},
        {.title = "enabled", .field = "enabled", .kind = Kind::yes_no},
        {.title = "last sent", .field = "last_sent_at", .kind = Kind::time, .absent = "never"},
        {.title = "pending", .field = "pending", .kind = Kind::number},
        {.title = "problem", .field = "last_problem"},
        {.title = "kinds", .field = "kinds", .kind = Kind::list, .absent = "all", .only_single = true},
        {.title = "projects", .field = "projects", .kind = Kind::list, .absent = "all", .only_single = true},
        {.title = "template", .field = "template", .only_single = true},
        {.title = "signing secret", .field = "signing_secret", .absent = "(not shown)", .only_single = true},
    };
}

Columns delivery_columns() {
    return {{.title = "created", .field = "created_at", .kind = Kind::time},
            {.title = "state", .field = "state"},
            {.title = "attempts", .field = "attempts", .kind = Kind::number},
            {.title = "next", .field = "next_at", .kind = Kind::time},
            {.title = "kind", .field = "kind"},
            {.title = "title", .field = "title"},
            {.title = "problem", .field = "problem"}};
}

Columns notice_columns() {
    return {{.title = "time", .field = "created_at", .kind = Kind::time},
            {.title = "new", .field = "unread", .kind = Kind::yes_no},
            {.title = "kind", .field = "kind"},
            {.title = "title", .field = "title"},
            {.title = "link", .field = "link"}};
}

Result<std::string> destination_path(const Context& context, const std::string& rest = "") {
    const std::string id =
        TRY(id_by_name(context, "/v1/destinations", "dest_", "destination", context.value_or_empty("DESTINATION")));
    return rest.empty() ? path_of("/v1/destinations", {id}) : path_of("/v1/destinations", {id, rest});
}

// --- destinations --------------------------------------------------------------------------------------------------

Result<> list_destinations(Context& context) {
    return show_list(
        context, "/v1/destinations", space_query(context), destination_columns(),
        "No destinations: notices appear only in the web UI. Create one:\n  hone destination create ops --type "
        "slack --hook https://hooks.slack.com/…");
}

Result<> show_destination(Context& context) {
    const json::Value destination = TRY(context.remote.get(TRY(destination_path(context))));
    return show_record(context, destination, destination_columns());
}

json::Array list_option(const Context& context, std::string_view option) {
    json::Array list;
    const std::string given = context.value_or_empty(option); // the pieces are views of it
    for (const std::string_view each : split(given, ','))
        if (!trim(each).empty()) list.emplace_back(trim(each));
    return list;
}

Result<json::Object> destination_body(const Context& context) {
    json::Object body;
    if (const auto url = context.parsed.value("--hook")) body["url"] = *url;
    if (context.parsed.has("--key")) body["key"] = TRY(read_secret(context, "key"));
    for (const auto& [option, key] :
         {std::pair{"--to", "to"}, std::pair{"--kinds", "kinds"}, std::pair{"--projects", "projects"}})
        if (context.parsed.value(option)) body[key] = list_option(context, option);
    if (const auto text = context.parsed.value("--template")) body["template"] = *text;
    return body;
}

Result<> create_destination(Context& context) {
    json::Object body = TRY(destination_body(context));
    body["name"] = context.value_or_empty("NAME");
    body["type"] = context.parsed.value("--type").value_or("webhook");
    const json::Value made = TRY(send_in_space(context, "POST", "/v1/destinations", std::move(body)));
    return show_record(context, made, destination_columns());
}

Result<> update_destination(Context& context) {
    json::Object body = TRY(destination_body(context));
    if (const auto name = context.parsed.value("--name")) body["name"] = *name;
    if (context.parsed.has("--enable")) body["enabled"] = true;
    if (context.parsed.has("--disable")) body["enabled"] = false;
    if (context.parsed.has("--new-secret")) body["new_signing_secret"] = true;
    const json::Value changed = TRY(send_in_space(context, "PATCH", TRY(destination_path(context)), std::move(body)));
    return show_record(context, changed, destination_columns());
}

Result<> test_destination(Context& context) {
    const json::Value attempt = TRY(send_in_space(context, "POST", TRY(destination_path(context, "test"))));
    const json::Value* ok = attempt.is_object() ? attempt.get_object().if_contains("ok") : nullptr;
    if (ok != nullptr && ok->is_bool() && ok->get_bool())
        return show_done(context, attempt, "Delivered in " + std::to_string(number_of(attempt, "took_ms")) + " ms.");
    if (context.json()) print_json(context, attempt);
    return context.fail(Exit::failure, "the test message was not delivered: " + text_of(attempt, "problem"));
}

Result<> delete_destination(Context& context) {
    const std::string path = TRY(destination_path(context));
    const json::Value before = TRY(context.remote.get(path));
    const std::string name = text_of(before, "name");
    TRY(context.confirm("The destination " + name + " and its pending notices are deleted.", name));
    const json::Value gone = TRY(context.remote.remove(path));
    return show_done(context, gone, "Deleted destination " + name + ".");
}

Result<> list_deliveries(Context& context) {
    return show_list(context, TRY(destination_path(context, "deliveries")), {}, delivery_columns(),
                     "No deliveries yet.");
}

std::vector<Option> destination_options() {
    return {{.name = "--hook",
             .value = "URL",
             .doc = "URL of webhook, slack, teams and discord; not shown again. pagerduty and opsgenie: only for "
                    "another region."},
            {.name = "--key",
             .value = "",
             .doc = "Set the key of pagerduty and opsgenie: prompts for it, or reads a line of standard input."},
            {.name = "--to", .value = "ADDRESSES", .doc = "Addresses of email and email_digest, separated by commas."},
            {.name = "--kinds",
             .value = "KINDS",
             .doc = "Kinds of notices, separated by commas, such as monitor_triggered,issue_new. Default: all."},
            {.name = "--projects", .value = "PROJECTS", .doc = "Projects, separated by commas. Default: all."},
            {.name = "--template", .value = "TEXT", .doc = "Text of the message, with {{title}}, {{body}}, {{url}}."}};
}

// --- notices -------------------------------------------------------------------------------------------------------

Result<> list_notices(Context& context) {
    Query query = space_query(context);
    query.push_back({"project", context.value_or_empty("--project")});
    query.push_back({"kind", context.value_or_empty("--kind")});
    if (context.parsed.has("--unread")) query.push_back({"unread", "true"});
    return show_list(context, "/v1/notices", std::move(query), notice_columns(), "No notices.");
}

Result<> read_notices(Context& context) {
    const json::Value left = TRY(send_in_space(context, "POST", "/v1/notices/read", json::Object{}));
    return show_done(context, left, "All notices are marked as read.");
}

} // namespace

std::vector<Command> notice_commands() {
    const Option project{.name = "--project", .value = "PROJECT", .doc = "Only notices of this project."};
    const Option enable{.name = "--enable", .value = "", .doc = "Turn it on."};
    const Option disable{.name = "--disable", .value = "", .doc = "Turn it off."};
    const Option name{.name = "--name", .value = "NAME", .doc = "Rename it."};
    return {
        {.path = "destination list",
         .summary = "List the destinations of the space.",
         .lists = true,
         .run = list_destinations},
        {.path = "destination show",
         .summary = "Show a destination and its last error.",
         .arguments = {destination_argument},
         .run = show_destination},
        {.path = "destination create",
         .summary = "Create a destination; a webhook's signing secret is shown once.",
         .arguments = {{.name = "NAME", .doc = "Unique in the space."}},
         .options = with(destination_options(), {{.name = "--type",
                                                  .value = "TYPE",
                                                  .doc = "Type. Default: webhook.",
                                                  .choices = {"webhook", "slack", "teams", "discord", "pagerduty",
                                                              "opsgenie", "email", "email_digest"}}}),
         .details = "  hone destination create ops --type teams --hook https://…\n"
                    "  hone destination create oncall --type pagerduty --key --kinds monitor_triggered,"
                    "monitor_recovered",
         .run = create_destination},
        {.path = "destination update",
         .summary = "Change a destination. Options that are not given keep their values.",
         .arguments = {destination_argument},
         .options = with(destination_options(),
                         {name,
                          enable,
                          disable,
                          {.name = "--new-secret",
                           .value = "",
                           .doc = "Replace the signing secret of a webhook. The new one is shown once."}}),
         .run = update_destination},
        {.path = "destination test",
         .summary = "Send a test message and print the result.",
         .arguments = {destination_argument},
         .run = test_destination},
        {.path = "destination deliveries",
         .summary = "List deliveries to a destination and their outcome.",
         .arguments = {destination_argument},
         .lists = true,
         .run = list_deliveries},
        {.path = "destination delete",
         .summary = "Delete a destination.",
         .arguments = {destination_argument},
         .destructive = true,
         .run = delete_destination},
        {.path = "notice list",
         .summary = "List notices, newest first.",
         .options = {project,
                     {.name = "--kind",
                      .value = "KIND",
                      .doc = "Only notices of this kind, such as monitor_triggered."},
                     {.name = "--unread", .value = "", .doc = "Only unread notices."}},
         .lists = true,
         .run = list_notices},
        {.path = "notice read", .summary = "Mark all notices of the space as read, for you.", .run = read_notices},
    };
}

} // namespace hone::cli
