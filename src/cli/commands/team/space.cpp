#include "cli/remote/view.h"

namespace hone::cli {

namespace {

const Argument space_argument{.name = "SPACE", .doc = "Id or name of the space."};

Columns space_columns() {
    return {
        {.title = "id", .field = "id", .kind = Kind::id},
        {.title = "name", .field = "name"},
        {.title = "description", .field = "description"},
        {.title = "your role", .field = "role"},
        {.title = "you may", .field = "permissions", .kind = Kind::list, .only_single = true},
        {.title = "created", .field = "created_at", .kind = Kind::time},
    };
}

std::string space_path(const Context& context) {
    return path_of("/v1/spaces", {context.value_or_empty("SPACE")});
}

Result<> list_spaces(Context& context) {
    return show_list(context, "/v1/spaces", {}, space_columns(),
                     "You belong to no space. Ask an owner for an invite, or create one:\n  hone space create NAME");
}

Result<> create_space(Context& context) {
    json::Object body{{"name", context.value_or_empty("NAME")}};
    if (const auto description = context.parsed.value("--description")) body["description"] = *description;
    const json::Value made = TRY(context.remote.post("/v1/spaces", std::move(body)));
    return show_done(context, made, "Created space " + text_of(made, "name") + " (" + text_of(made, "id") + ").");
}

Result<> show_space(Context& context) {
    return show_record(context, TRY(context.remote.get(space_path(context))), space_columns());
}

Result<> update_space(Context& context) {
    json::Object body;
    if (const auto name = context.parsed.value("--name")) body["name"] = *name;
    if (const auto description = context.parsed.value("--description")) body["description"] = *description;
    if (body.empty()) return context.usage("nothing to change: give --name or --description");
    return show_record(context, TRY(context.remote.patch(space_path(context), std::move(body))), space_columns());
}

Result<> delete_space(Context& context) {
    const json::Value space = TRY(context.remote.get(space_path(context)));
    const std::string name = text_of(space, "name");
    TRY(context.confirm("This deletes the space " + name + " (" + text_of(space, "id") +
                            ") with all its projects, members and keys, for good.",
                        name));
    const std::string path = path_of("/v1/spaces", {text_of(space, "id")});
    return show_done(context, TRY(context.remote.remove(path, {{"confirm", name}})), "Deleted space " + name + ".");
}

} // namespace

std::vector<Command> space_commands() {
    const Option description{.name = "--description", .value = "TEXT", .doc = "What the space is for."};
    return {
        {.path = "space list", .summary = "List your spaces.", .lists = true, .run = list_spaces},
        {.path = "space create",
         .summary = "Create a space.",
         .arguments = {{.name = "NAME", .doc = "Name of the space."}},
         .options = {description},
         .run = create_space},
        {.path = "space show",
         .summary = "Show a space and what you may do in it.",
         .arguments = {space_argument},
         .run = show_space},
        {.path = "space update",
         .summary = "Change the name or description of a space.",
         .arguments = {space_argument},
         .options = {{.name = "--name", .value = "NAME", .doc = "The new name."}, description},
         .run = update_space},
        {.path = "space delete",
         .summary = "Delete a space and everything in it.",
         .arguments = {space_argument},
         .destructive = true,
         .run = delete_space},
    };
}

} // namespace hone::cli
