// `hone restore`: unpacks a backup into a new data directory.
#include "base/file.h"
#include "base/path.h"
#include "crypto/crypto.h"
#include "server/backup/backup.h"
#include "server/backup/stored_backups.h"
#include "server/commands/arguments.h"
#include "server/commands/commands.h"
#include "server/object_storage.h"
#include "json/json.h"

#include <cstdio>
#include <unistd.h>

namespace hone::server {

namespace {

struct RestoreArguments {
    std::string file; // or store:NAME
    config::Config config;
};

// `hone restore` runs before there is a data directory, so it reads no hone.toml: flags and environment only.
Result<RestoreArguments> restore_arguments(int argc, char** argv) {
    RestoreArguments found;
    const std::pair<std::string, std::string*> settings[] = {
        {"data-dir", &found.config.data_dir},
        {"object-store", &found.config.object_store},
        {"object-store-credentials-file", &found.config.object_store_credentials_file},
        {"object-store-ca-file", &found.config.object_store_ca_file},
    };
    for (const auto& [name, value] : settings) {
        std::string variable = "HONE_";
        for (const char c : name) variable += c == '-' ? '_' : static_cast<char>(c - 'a' + 'A');
        *value = environment(variable).value_or(*value);
    }
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        bool is_setting = false;
        for (const auto& [name, value] : settings) {
            if (argument == "--" + name && i + 1 < argc) {
                *value = argv[++i];
                is_setting = true;
            } else if (argument.starts_with("--" + name + "=")) {
                *value = argument.substr(name.size() + 3);
                is_setting = true;
            }
            if (is_setting) break;
        }
        if (is_setting || argument == "--json") continue;
        if (!found.file.empty() || argument.starts_with("--"))
            return invalid("unknown argument " + argument + " (--help explains)");
        found.file = argument;
    }
    if (found.file.empty()) return invalid("hone restore needs FILE, a backup (--help explains)");
    found.config.data_dir = TRY(resolve_directory(found.config.data_dir));
    return found;
}

Result<Restored> restore_from_store(const config::Config& config, const std::string& name) {
    static const SystemClock clock;
    const auto store = TRY(objects::open_store(object_store_settings(config), process_environment(), clock));
    TRY(make_directories(config.data_dir, 0700));
    const std::string file = config.data_dir + "/restoring.tar.zst";
    const auto fetched = fetch_backup(*store, name, file);
    auto restored = fetched.ok() ? restore_backup(file, config.data_dir) : Result<Restored>(fetched.error());
    ::unlink(file.c_str());
    return restored;
}

} // namespace

int restore_main(int argc, char** argv) {
    const bool json_wanted = wants_json(argc, argv);
    if (wants_help(argc, argv)) {
        std::printf(
            "Usage: hone restore FILE|store:NAME [--data-dir DIR] [--json]\n\nUnpacks a backup made by `hone backup` "
            "into a data directory that holds no database yet. DIR is ./hone-data if not given.\n"
            "store:NAME is a backup in the object store, store:latest the newest; --object-store, "
            "--object-store-credentials-file and --object-store-ca-file are as for `hone serve`.\n"
            "The master key is not part of a backup: put your copy of master.key into DIR before you start the "
            "server.\n");
        return 0;
    }
    crypto::start();
    const auto arguments = restore_arguments(argc, argv);
    if (!arguments.ok()) return report_failure(arguments.error(), json_wanted);
    const std::string& file = arguments.value().file;
    const std::string& data_dir = arguments.value().config.data_dir;
    const auto restored = file.starts_with("store:") ? restore_from_store(arguments.value().config, file.substr(6))
                                                     : restore_backup(file, data_dir);
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
