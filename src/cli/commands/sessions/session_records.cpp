// Sessions as records: rename, keep, delete, export.
#include "cli/commands/sessions/session_filter.h"
#include "cli/remote/download.h"
#include "cli/remote/view.h"
#include "cli/toolkit/scope.h"

namespace hone::cli {

namespace {

const Argument record_argument{.name = "SESSION", .doc = "Id of the session (or another run)."};

std::string record_path(const Context& context) {
    return path_of("/v1/runs", {context.value_or_empty("SESSION")});
}

Result<> rename_session(Context& context) {
    const json::Value run =
        TRY(context.remote.patch(record_path(context), json::Object{{"title", context.value_or_empty("TITLE")}}));
    return show_done(context, run, "Renamed to " + text_of(run, "title") + ".");
}

Result<> keep_session(Context& context) {
    const bool kept = !context.parsed.has("--off");
    const json::Value run = TRY(context.remote.patch(record_path(context), json::Object{{"kept", kept}}));
    return show_done(context, run, kept ? "Kept: it and its workspace do not expire." : "No longer kept.");
}

Result<> delete_session(Context& context) {
    const json::Value run = TRY(context.remote.get(record_path(context)));
    TRY(context.confirm("This deletes the run " + text_of(run, "title") + " (" + text_of(run, "id") +
                            ") with its transcript, artifacts, workspace and trace, permanently.",
                        text_of(run, "id")));
    return show_done(context, TRY(context.remote.remove(record_path(context))), "Deleted the run.");
}

Result<> export_sessions(Context& context) {
    Query query = TRY(run_filter_query(context));
    query.emplace_back("format", context.value_or_empty("--format"));
    return download_to_file(context, {.path = "/v1/runs/export", .query = std::move(query)}, "",
                            context.value_or_empty("FILE"));
}

} // namespace

std::vector<Command> session_record_commands() {
    std::vector<Option> exporting = run_filter_options();
    exporting.push_back(
        {.name = "--format", .value = "FORMAT", .doc = "JSON Lines (default) or CSV.", .choices = {"jsonl", "csv"}});
    return {
        {.path = "session rename",
         .summary = "Give a session another title.",
         .arguments = {record_argument, {.name = "TITLE", .doc = "The new title."}},
         .run = rename_session},
        {.path = "session keep",
         .summary = "Keep a session and its workspace from expiry.",
         .arguments = {record_argument},
         .options = {{.name = "--off", .value = "", .doc = "No longer keep it."}},
         .run = keep_session},
        {.path = "session delete",
         .summary = "Delete an ended session with its transcript, artifacts, workspace and trace.",
         .arguments = {record_argument},
         .destructive = true,
         .run = delete_session},
        {.path = "session export",
         .summary = "Save a list of sessions and other runs to a file.",
         .arguments = {{.name = "FILE", .doc = "File to write; - is standard output."}},
         .options = std::move(exporting),
         .run = export_sessions},
    };
}

} // namespace hone::cli
