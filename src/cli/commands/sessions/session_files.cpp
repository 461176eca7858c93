// Files of sessions: give one to a session, browse and download the workspace.
#include "cli/commands/sessions/session_files.h"
#include "cli/remote/download.h"
#include "cli/remote/progress.h"
#include "cli/remote/view.h"
#include "cli/terminal/amount.h"
#include "cli/toolkit/input.h"
#include "cli/toolkit/scope.h"

namespace hone::cli {

namespace {

const Argument files_argument{.name = "SESSION", .doc = "Id of the session (or another run)."};

std::string files_path(const Context& context, const std::string& rest = {}) {
    const std::string id = context.value_or_empty("SESSION");
    return rest.empty() ? path_of("/v1/runs", {id, "files"}) : path_of("/v1/runs", {id, "files", rest});
}

Result<> upload_to_session(Context& context) {
    const json::Value run = TRY(context.remote.get(path_of("/v1/runs", {context.value_or_empty("SESSION")})));
    const json::Value upload = TRY(upload_for_session(context, context.value_or_empty("FILE"),
                                                      context.value_or_empty("PATH"), text_of(run, "space_id")));
    const json::Value given =
        TRY(context.remote.post(files_path(context), json::Object{{"uploads", json::Array{text_of(upload, "id")}}}));
    (void)given;
    return show_done(context, upload, "Uploaded to /workspace/" + text_of(upload, "path") + ".");
}

Result<> list_session_files(Context& context) {
    const Items files = TRY(context.remote.list_whole(files_path(context), {{"path", context.value_or_empty("PATH")}}));
    return show_rows(context, files.items,
                     {{.title = "name", .field = "name"},
                      {.title = "kind", .field = "kind"},
                      {.title = "size", .field = "bytes", .kind = Kind::bytes},
                      {.title = "changed", .field = "modified_at", .kind = Kind::time}},
                     "This folder is empty.");
}

Result<> download_session_files(Context& context) {
    const std::string path = context.value_or_empty("PATH");
    const bool whole = context.parsed.has("--folder") || path.empty();
    std::string name = path.substr(path.rfind('/') + 1);
    if (whole) name = (name.empty() ? context.value_or_empty("SESSION") : name) + ".tar";
    return download_to_file(context,
                            {.path = files_path(context, whole ? "archive" : "content"), .query = {{"path", path}}}, "",
                            context.parsed.value("--output").value_or(name));
}

} // namespace

Result<json::Value> upload_for_session(const Context& context, const std::string& file, const std::string& path,
                                       const std::string& space) {
    const std::string name = file == "-" ? "" : file.substr(file.rfind('/') + 1);
    if (path.empty() && name.empty()) return context.usage("standard input has no name: give PATH");
    Input input = TRY(Input::open(context, file));
    Call call{.method = "POST", .path = "/v1/uploads", .query = {{"space", space}}};
    call.query.emplace_back("path", path.empty() ? name : path);
    call.headers.push_back({"Content-Type", "application/octet-stream"});
    Progress progress(context, "", bytes_text);
    progress.set_whole(input.size());
    auto reply = context.remote.upload(
        call,
        [&]() -> Result<std::string> {
            std::string piece = TRY(input.read());
            progress.add(piece.size());
            return piece;
        },
        input.size());
    progress.finish();
    if (!reply.ok()) return std::move(reply).error();
    return reply.value().data;
}

std::vector<Command> session_file_commands() {
    return {
        {.path = "session upload",
         .summary = "Give a file to a session: written into its workspace now, or before its next turn.",
         .arguments = {files_argument,
                       {.name = "FILE", .doc = "File to upload; - is standard input."},
                       {.name = "PATH", .doc = "Path in the workspace. Default: the file's name.", .optional = true}},
         .run = upload_to_session},
        {.path = "session files",
         .summary = "List the files of a session's workspace, while it lives and after its end.",
         .arguments = {files_argument, {.name = "PATH", .doc = "Folder of the workspace.", .optional = true}},
         .run = list_session_files},
        {.path = "session download",
         .summary = "Download a file of a session's workspace, or a folder as a tar file.",
         .arguments = {files_argument,
                       {.name = "PATH",
                        .doc = "File in the workspace. Default: all of it, as a tar file.",
                        .optional = true}},
         .options = {{.name = "--folder", .value = "", .doc = "PATH is a folder: download it as a tar file."},
                     {.name = "--output",
                      .value = "FILE",
                      .doc = "File to write; - is standard output. Default: the name in the workspace.",
                      .short_name = "-o"}},
         .run = download_session_files},
    };
}

} // namespace hone::cli
