#include "cli/remote/view.h"
#include "cli/toolkit/scope.h"

namespace hone::cli {

namespace {

const Argument project_argument{.name = "PROJECT", .doc = "Id or name of the project."};
const Argument principal_argument{.name = "PRINCIPAL", .doc = "Id of a user or of a service key."};

Columns project_columns() {
    return {
        {.title = "id", .field = "id", .kind = Kind::id},
        {.title = "name", .field = "name"},
        {.title = "description", .field = "description"},
        {.title = "restricted", .field = "restricted", .kind = Kind::yes_no},
        {.title = "retention days", .field = "retention_days", .kind = Kind::number, .absent = "default"},
        {.title = "space", .field = "space_id", .kind = Kind::id, .only_single = true},
        {.title = "created", .field = "created_at", .kind = Kind::time},
    };
}

Columns binding_columns() {
    return {
        {.title = "principal", .field = "principal", .kind = Kind::id},
        {.title = "name", .field = "name"},
        {.title = "role", .field = "role"},
        {.title = "created", .field = "created_at", .kind = Kind::time},
    };
}

// The settings that create and update share.
std::vector<Option> setting_options() {
    return {
        {.name = "--description", .value = "TEXT", .doc = "Description."},
        {.name = "--restricted",
         .value = "BOOL",
         .doc = "Only users and keys with a binding can see the project.",
         .choices = {"true", "false"}},
        {.name = "--retention-days",
         .value = "DAYS",
         .doc = "Days to keep spans; \"default\": the default of the installation."},
    };
}

Result<json::Object> project_settings_of(const Context& context) {
    json::Object body;
    if (const auto name = context.parsed.value("--name")) body["name"] = *name;
    if (const auto description = context.parsed.value("--description")) body["description"] = *description;
    if (const auto restricted = context.parsed.value("--restricted")) body["restricted"] = *restricted == "true";
    if (context.parsed.value("--retention-days") == "default")
        body["retention_days"] = nullptr;
    else if (const auto days = TRY(context.integer("--retention-days", 1)))
        body["retention_days"] = *days;
    return body;
}

Result<> list_projects(Context& context) {
    Query query = space_query(context);
    query.emplace_back("name_contains", context.value_or_empty("--name-contains"));
    return show_list(context, "/v1/projects", std::move(query), project_columns(),
                     "No projects yet. A project is created with the first trace of an application, or with:\n"
                     "  hone project create NAME");
}

Result<> create_project(Context& context) {
    json::Object body = TRY(project_settings_of(context));
    body["name"] = context.value_or_empty("NAME");
    const json::Value made = TRY(context.remote.post("/v1/projects", std::move(body), space_query(context)));
    return show_done(context, made, "Created project " + text_of(made, "name") + " (" + text_of(made, "id") + ").");
}

Result<> show_project(Context& context) {
    const std::string path = path_of("/v1/projects", {context.value_or_empty("PROJECT")});
    return show_record(context, TRY(context.remote.get(path, space_query(context))), project_columns());
}

Result<> change_project(const Context& context, json::Object body) {
    const std::string project = TRY(wanted_project(context));
    const json::Value changed = TRY(context.remote.patch(path_of("/v1/projects", {project}), std::move(body)));
    return show_record(context, changed, project_columns());
}

Result<> rename_project(Context& context) {
    return change_project(context, {{"name", context.value_or_empty("NAME")}});
}

Result<> update_project(Context& context) {
    json::Object body = TRY(project_settings_of(context));
    if (body.empty()) return context.usage("nothing to change: give at least one option");
    return change_project(context, std::move(body));
}

Result<> delete_project(Context& context) {
    const std::string wanted = path_of("/v1/projects", {context.value_or_empty("PROJECT")});
    const json::Value project = TRY(context.remote.get(wanted, space_query(context)));
    const std::string name = text_of(project, "name");
    TRY(context.confirm("This deletes the project " + name + " (" + text_of(project, "id") +
                            ") with all its traces and evals, permanently.",
                        name));
    const json::Value gone = TRY(context.remote.remove(path_of("/v1/projects", {text_of(project, "id")})));
    return show_done(context, gone, "Deleted project " + name + ".");
}

Result<> show_disk(Context& context) {
    const std::string project = path_of("/v1/projects", {context.value_or_empty("PROJECT")});
    const json::Value disk = TRY(context.remote.get(project + "/disk", space_query(context)));
    const json::Value ledger = TRY(context.remote.get(project + "/ledger", space_query(context)));
    return show_record(context, json::Object{{"disk", disk}, {"ledger", ledger}},
                       {{.title = "on disk", .field = "disk.bytes", .kind = Kind::bytes},
                        {.title = "spans", .field = "disk.spans", .kind = Kind::number},
                        {.title = "oldest", .field = "disk.oldest", .kind = Kind::time},
                        {.title = "newest", .field = "disk.newest", .kind = Kind::time},
                        {.title = "retention days", .field = "disk.retention_days", .kind = Kind::number},
                        {.title = "kept by people", .field = "disk.kept_by_people", .kind = Kind::number},
                        {.title = "at most", .field = "disk.kept_by_people_limit", .kind = Kind::number},
                        {.title = "kept by datasets", .field = "disk.kept_by_datasets", .kind = Kind::number},
                        {.title = "kept by issues", .field = "disk.kept_by_issues", .kind = Kind::number},
                        {.title = "received", .field = "ledger.received", .kind = Kind::number},
                        {.title = "stored", .field = "ledger.stored", .kind = Kind::number},
                        {.title = "duplicates", .field = "ledger.repeated", .kind = Kind::number},
                        {.title = "pending", .field = "ledger.pending", .kind = Kind::number},
                        {.title = "rejected", .field = "ledger.rejected", .kind = Kind::number},
                        {.title = "rejected by reason", .field = "ledger.rejected_by_reason"}});
}

Result<> list_bindings(Context& context) {
    const std::string project = TRY(wanted_project(context));
    return show_list(
        context, path_of("/v1/projects", {project, "bindings"}), {}, binding_columns(),
        "No bindings. They give users and keys a role in this project, and access to it if it is restricted:\n"
        "  hone project bind PROJECT PRINCIPAL ROLE");
}

Result<> bind_project(Context& context) {
    const std::string project = TRY(wanted_project(context));
    const std::string path = path_of("/v1/projects", {project, "bindings", context.value_or_empty("PRINCIPAL")});
    const json::Value bound = TRY(context.remote.put(path, json::Object{{"role", context.value_or_empty("ROLE")}}));
    return show_done(context, bound, text_of(bound, "name") + " now has the role " + text_of(bound, "role") + ".");
}

Result<> unbind_project(Context& context) {
    const std::string project = TRY(wanted_project(context));
    const std::string principal = context.value_or_empty("PRINCIPAL");
    const json::Value gone = TRY(context.remote.remove(path_of("/v1/projects", {project, "bindings", principal})));
    return show_done(context, gone, principal + " has no binding in the project any more.");
}

} // namespace

std::vector<Command> project_commands() {
    std::vector<Option> update_options = setting_options();
    update_options.insert(update_options.begin(), {.name = "--name", .value = "NAME", .doc = "The new name."});
    return {
        {.path = "project list",
         .summary = "List the projects of the space.",
         .options = {{.name = "--name-contains",
                      .value = "TEXT",
                      .doc = "Only projects whose name contains this text."}},
         .lists = true,
         .run = list_projects},
        {.path = "project create",
         .summary = "Create a project.",
         .arguments = {{.name = "NAME", .doc = "Name that applications send with their traces."}},
         .options = setting_options(),
         .run = create_project},
        {.path = "project show", .summary = "Show a project.", .arguments = {project_argument}, .run = show_project},
        {.path = "project disk",
         .summary = "Show disk use and counts of stored, duplicate and rejected spans.",
         .arguments = {project_argument},
         .run = show_disk},
        {.path = "project rename",
         .summary = "Rename a project.",
         .arguments = {project_argument, {.name = "NAME", .doc = "The new name."}},
         .details = "An application that sends the old name creates a new project: change the application first.",
         .run = rename_project},
        {.path = "project update",
         .summary = "Change the settings of a project.",
         .arguments = {project_argument},
         .options = std::move(update_options),
         .run = update_project},
        {.path = "project delete",
         .summary = "Delete a project and all its data.",
         .arguments = {project_argument},
         .destructive = true,
         .run = delete_project},
        {.path = "project bindings",
         .summary = "List the bindings of a project: users and keys with a role in it.",
         .arguments = {project_argument},
         .run = list_bindings},
        {.path = "project bind",
         .summary = "Give a user or a service key a role in a project.",
         .arguments = {project_argument,
                       principal_argument,
                       {.name = "ROLE", .doc = "The role in this project.", .choices = role_names()}},
         .run = bind_project},
        {.path = "project unbind",
         .summary = "Remove a binding of a project.",
         .arguments = {project_argument, principal_argument},
         .run = unbind_project},
    };
}

} // namespace hone::cli
