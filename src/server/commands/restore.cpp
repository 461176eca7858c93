// `hone restore`: unpacks a backup into a new data directory.
#include "base/path.h"
#include "config/config.h"
#include "crypto/crypto.h"
#include "server/backup/backup.h"
#include "server/commands/arguments.h"
#include "server/commands/commands.h"
#include "json/json.h"

#include <cstdio>

namespace hone::server {

int restore_main(int argc, char** argv) {
    std::string file, data_dir = environment("HONE_DATA_DIR").value_or(config::Config().data_dir);
    const bool json_wanted = wants_json(argc, argv);
    for (int i = 1; i < argc && !wants_help(argc, argv); ++i) {
        const std::string argument = argv[i];
        if (argument == "--data-dir" && i + 1 < argc)
            data_dir = argv[++i];
        else if (argument.starts_with("--data-dir="))
            data_dir = argument.substr(11);
        else if (file.empty() && !argument.starts_with("--"))
            file = argument;
        else if (argument != "--json")
            return report_failure(invalid("unknown argument " + argument + " (--help explains)"), json_wanted);
    }
    if (file.empty() && !wants_help(argc, argv))
        return report_failure(invalid("hone restore needs FILE, a backup (--help explains)"), json_wanted);
    if (wants_help(argc, argv)) {
        std::printf(
            "Usage: hone restore FILE [--data-dir DIR] [--json]\n\nUnpacks a backup made by `hone backup` into a "
            "data directory that holds no database yet. DIR is ./hone-data if not given.\n"
            "The master key is not part of a backup: put your copy of master.key into DIR before you start the "
            "server.\n");
        return 0;
    }
    crypto::start();
    auto resolved = resolve_directory(data_dir);
    if (!resolved.ok()) return report_failure(resolved.error(), json_wanted);
    data_dir = std::move(resolved).value();
    auto restored = restore_backup(file, data_dir);
    if (!restored.ok()) return report_failure(restored.error(), json_wanted);
    if (json_wanted)
        std::printf("%s\n", json::print(json::Object{{"data_dir", data_dir},
                                                     {"created_at", restored.value().created_at},
                                                     {"hone_version", restored.value().hone_version}})
                                .c_str());
    else
        std::printf(
            "Restored the backup of %s (Hone %s) into %s.\nIf it has secrets, put your copy of master.key there; "
            "then start it with: hone serve --data-dir %s\n",
            restored.value().created_at.c_str(), restored.value().hone_version.c_str(), data_dir.c_str(),
            quote_shell(data_dir).c_str());
    return 0;
}

} // namespace hone::server
