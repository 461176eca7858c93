#include "cli/remote/download.h"
#include "cli/remote/view.h"

namespace hone::cli {

namespace {

// Writes to the object store of the server: no byte of it passes through this machine.
Result<> backup_to_store(Context& context) {
    const json::Value made = TRY(context.remote.perform("/v1/backups"));
    return show_done(context, made,
                     "Backup " + text_of(made, "name") + " written to " + text_of(made, "store") +
                         ". Restore it with: hone restore store:" + text_of(made, "name"));
}

Result<> list_backups(Context& context) {
    return show_list(context, "/v1/backups", {},
                     {{"name", "name"}, {"size", "bytes", Kind::bytes}, {"created", "created_at", Kind::time}},
                     "No backup is in the object store. Write one with: hone backup store:");
}

Result<> backup(Context& context) {
    const std::string file = context.value_or_empty("FILE");
    if (file == "store:") return backup_to_store(context);
    if (file == "-" && context.console.is_output_terminal())
        return context.usage("a backup is binary: write it to a file or a pipe");
    if (file == "-" && context.json())
        return context.usage("--json cannot be used with -: the backup is written to standard output");
    return download_to_file(context, {.path = "/v1/backup"}, "application/zstd", file);
}

} // namespace

std::vector<Command> backup_commands() {
    return {
        {.path = "backup",
         .summary = "Save everything (users, spaces, projects, keys, audit log, spans, evals, artifacts, pushed "
                    "branches) to a file, while the "
                    "server runs.",
         .arguments =
             {{.name = "FILE",
               .doc = "File to write; an existing file is replaced when the backup is complete. - is standard output, "
                      "store: the object store of the server (docs/object-store.md)."}},
         .details = "The file holds password and key hashes: keep it like a secret. hone restore reads it.",
         .run = backup},
        {.path = "backups",
         .summary = "List the backups in the object store.",
         .details = "hone restore store:NAME reads one.",
         .lists = true,
         .run = list_backups}};
}

} // namespace hone::cli
