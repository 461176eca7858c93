// Artifacts of runs.
#include "base/file.h"
#include "cli/commands/loop/artifact_files.h"
#include "cli/commands/loop/decision.h"
#include "cli/remote/download.h"
#include "cli/terminal/amount.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/scope.h"

#include <set>

namespace hone::cli {

namespace {

const Argument artifact_argument{.name = "ARTIFACT", .doc = "Id of the artifact."};

// Names come from workers: no folders, no hidden files, no control characters, no option.
std::string file_name_of(const json::Value& artifact) {
    std::string name = text_of(artifact, "name");
    for (char& c : name)
        if (c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '_';
    name.resize(std::min<size_t>(name.size(), 200));
    if (name.empty() || name.front() == '.' || name.front() == '-') name.insert(0, 1, '_');
    return name;
}

std::string artifact_path(const Context& context, const std::string& rest = {}) {
    const std::string id = context.value_or_empty("ARTIFACT");
    return rest.empty() ? path_of("/v1/artifacts", {id}) : path_of("/v1/artifacts", {id, rest});
}

Result<> list_artifacts(Context& context) {
    Query query = space_query(context);
    for (const auto& [option, name] :
         {std::pair("--project", "project"), {"--session", "run"}, {"--kind", "kind"}, {"--review", "review"}})
        query.emplace_back(name, context.value_or_empty(option));
    return show_list(context, "/v1/artifacts", std::move(query), artifact_columns(),
                     "No artifacts. Runs save investigations, labels and files, and push branches.");
}

Result<> show_artifact(Context& context) {
    if (const auto file = context.parsed.value("--output"))
        return download_to_file(context, {.path = artifact_path(context, "content")}, "", *file);
    const json::Value artifact = TRY(context.remote.get(artifact_path(context)));
    TRY(show_record(context, artifact, artifact_columns()));
    const std::string type = text_of(artifact, "media_type");
    if (context.json() || !(type.starts_with("text/") || type == "application/json")) return {};
    std::string content;
    TRY(context.remote.stream({.path = artifact_path(context, "content")}, "", [&](std::string_view piece) -> Result<> {
        content += piece;
        return {};
    }));
    context.console.print("\n" + safe_block(content) + (content.ends_with('\n') ? "" : "\n"));
    return {};
}

Result<> keep_artifact(Context& context) {
    const bool kept = !context.parsed.has("--off");
    const json::Value artifact = TRY(context.remote.patch(artifact_path(context), json::Object{{"kept", kept}}));
    return show_done(context, artifact, kept ? "Kept: it and its run do not expire." : "No longer kept.");
}

Result<> delete_artifact(Context& context) {
    const json::Value artifact = TRY(context.remote.get(artifact_path(context)));
    TRY(context.confirm("This deletes the artifact " + text_of(artifact, "name") + " (" + text_of(artifact, "id") +
                            ") with its content and review, permanently.",
                        text_of(artifact, "name")));
    return show_done(context, TRY(context.remote.remove(artifact_path(context))), "Deleted the artifact.");
}

} // namespace

Columns artifact_columns() {
    return {
        {.title = "id", .field = "id", .kind = Kind::id},
        {.title = "kind", .field = "kind"},
        {.title = "name", .field = "name"},
        {.title = "size", .field = "bytes", .kind = Kind::bytes},
        {.title = "review", .field = "review"},
        {.title = "reviewer", .field = "reviewer", .only_single = true},
        {.title = "comment", .field = "comment", .only_single = true},
        {.title = "reviewed", .field = "reviewed_at", .kind = Kind::time, .only_single = true},
        {.title = "applied", .field = "applied_at", .kind = Kind::time, .only_single = true},
        {.title = "kept by", .field = "kept_by", .only_single = true},
        {.title = "type", .field = "media_type", .only_single = true},
        {.title = "digest", .field = "digest", .only_single = true},
        {.title = "session", .field = "run_id", .kind = Kind::id},
        {.title = "saved", .field = "created_at", .kind = Kind::time},
        {.title = "summary", .field = "summary"},
    };
}

Result<> save_artifacts(const Context& context, Query query, const std::string& directory) {
    const Items list = TRY(context.remote.list("/v1/artifacts", std::move(query), std::nullopt));
    TRY(make_directories(directory, 0755));
    json::Array saved;
    std::set<std::string> names;
    for (const auto& artifact : list.items) {
        std::string name = file_name_of(artifact);
        if (!names.insert(name).second) names.insert(name = text_of(artifact, "id") + "-" + name);
        std::string content;
        TRY(context.remote.stream({.path = path_of("/v1/artifacts", {text_of(artifact, "id"), "content"})}, "",
                                  [&](std::string_view piece) -> Result<> {
                                      content += piece;
                                      return {};
                                  }));
        const std::string file = directory + "/" + name;
        TRY(write_file(file, content, 0644));
        saved.push_back(
            json::Object{{"id", text_of(artifact, "id")}, {"file", file}, {"bytes", uint64_t(content.size())}});
        context.print("Wrote " + bytes_text(content.size()) + " to " + file + ".");
    }
    if (context.json())
        print_json(context, saved);
    else if (saved.empty())
        context.print("This run has no artifacts.");
    return {};
}

std::vector<Command> artifact_commands() {
    std::vector<Command> commands{
        {.path = "artifact list",
         .summary = "List the artifacts of runs, newest first.",
         .options =
             {{.name = "--project", .value = "PROJECT", .doc = "Only artifacts of this project.", .short_name = "-p"},
              {.name = "--session", .value = "SESSION", .doc = "Only artifacts of this session."},
              {.name = "--kind",
               .value = "KIND",
               .doc = "Only artifacts of this kind.",
               .choices = {"investigation", "labels", "file", "branch"}},
              {.name = "--review",
               .value = "REVIEW",
               .doc = "Only artifacts in this review state.",
               .choices = {"pending", "approved", "rejected", "changes_requested"}}},
         .lists = true,
         .run = list_artifacts},
        {.path = "artifact show",
         .summary = "Show an artifact, its review and, if it is text, its content.",
         .arguments = {artifact_argument},
         .options = {{.name = "--output",
                      .value = "FILE",
                      .doc = "Write the content to this file; - is standard output.",
                      .short_name = "-o"}},
         .run = show_artifact},
        {.path = "artifact keep",
         .summary = "Keep an artifact and its run from expiry.",
         .arguments = {artifact_argument},
         .options = {{.name = "--off", .value = "", .doc = "No longer keep it."}},
         .run = keep_artifact},
        {.path = "artifact delete",
         .summary = "Delete an artifact with its content.",
         .arguments = {artifact_argument},
         .destructive = true,
         .run = delete_artifact},
    };
    const std::vector<Command> decisions = decision_commands("artifact");
    commands.insert(commands.end(), decisions.begin(), decisions.end());
    return commands;
}

} // namespace hone::cli
