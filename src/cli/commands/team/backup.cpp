#include "cli/remote/download.h"
#include "cli/remote/view.h"

namespace hone::cli {

namespace {

Result<> backup(Context& context) {
    const std::string file = context.value_or_empty("FILE");
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
               .doc =
                   "File to write; an existing file is replaced when the backup is complete. - is standard output."}},
         .details = "The file holds password and key hashes: keep it like a secret. hone restore reads it.",
         .run = backup}};
}

} // namespace hone::cli
