// `hone harness install|upgrade|list|rm`: programs of coding agents on this machine, for workers. Works without a
// server.
#include "base/file.h"
#include "base/path.h"
#include "config/config.h"
#include "harness/catalog.h"
#include "run/harnesses/harness_store.h"
#include "sandbox/local/local_provider.h"
#include "server/commands/arguments.h"
#include "server/commands/commands.h"
#include "json/json.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>

namespace hone::server {

namespace {

constexpr std::string_view usage =
    "Usage: hone harness install NAME[@VERSION] [--from FILE.tgz|FOLDER] [--data-dir DIR] [--json]\n"
    "       hone harness upgrade [NAME] [--check] [--data-dir DIR] [--json]\n"
    "       hone harness list [--data-dir DIR] [--json]\n"
    "       hone harness rm NAME@VERSION [--data-dir DIR]\n\n"
    "Coding agents that workers run, installed once from npm (or from tarballs, for machines without a network) and\n"
    "mounted read-only into sandboxes. Names: claude-code, codex, opencode, gemini, qwen,\n"
    "copilot.\n"
    "upgrade installs the newest version of NAME, or of everything that is installed, beside the others; runs use the "
    "one\n"
    "that was installed last, unless their preset pins a version. --check only prints what the newest version is. "
    "Sessions\n"
    "that run keep their version. rm removes versions that are no longer needed.\n"
    "Install scripts and the program itself run only in a sandbox without network, with no variable of this shell.\n";

struct Wanted {
    std::string verb;
    std::string name;
    std::string version;
    std::string source;
    std::string data_dir;
    bool as_json = false;
    bool help = false;
    bool check = false;
};

Result<Wanted> read_arguments(int argc, char** argv) {
    Wanted wanted;
    if (const char* directory = std::getenv("HONE_DATA_DIR")) wanted.data_dir = directory;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        const bool has_value = i + 1 < argc;
        if (argument == "--help" || argument == "-h")
            wanted.help = true;
        else if (argument == "--json")
            wanted.as_json = true;
        else if (argument == "--check")
            wanted.check = true;
        else if (argument == "--data-dir" && has_value)
            wanted.data_dir = argv[++i];
        else if (argument == "--from" && has_value)
            wanted.source = argv[++i];
        else if (argument.starts_with("-"))
            return invalid("unknown argument " + argument + " (--help explains)");
        else if (wanted.verb.empty())
            wanted.verb = argument;
        else if (wanted.name.empty()) {
            const size_t at = argument.find('@');
            wanted.name = argument.substr(0, at);
            if (at != std::string::npos) wanted.version = argument.substr(at + 1);
        } else
            return invalid("unexpected " + argument + " (--help explains)");
    }
    return wanted;
}

Result<> list(const run::HarnessStore& store, bool as_json) {
    const auto installed = TRY(store.list());
    if (as_json) {
        std::printf("%s\n", json::write(installed).c_str());
        return {};
    }
    if (installed.empty())
        std::printf("No harness is installed. Try: hone harness install claude-code --data-dir DIR\n");
    for (const run::InstalledHarness& one : installed)
        std::printf("%-12s %-14s %6lld MiB  %s\n", one.name.c_str(), one.version.c_str(),
                    static_cast<long long>(one.bytes >> 20), to_text(one.installed_at).substr(0, 10).c_str());
    std::string absent;
    for (const harness::Harness& known : harness::catalog()) {
        const auto is_it = [&](const run::InstalledHarness& one) { return one.name == known.name; };
        if (!known.package.empty() && std::none_of(installed.begin(), installed.end(), is_it))
            absent += (absent.empty() ? "" : ", ") + std::string(known.name);
    }
    if (!installed.empty() && !absent.empty()) std::printf("Not installed: %s\n", absent.c_str());
    return {};
}

struct Upgrade {
    std::string name;
    std::string installed;
    std::string newest;
    bool upgraded = false;
    static constexpr Pack fields{
        Field{"name", &Upgrade::name, "Harness."},
        Field{"installed", &Upgrade::installed, "Version that runs used before."},
        Field{"newest", &Upgrade::newest, "Newest version in the registry."},
        Field{"upgraded", &Upgrade::upgraded, "It was installed now."},
    };
};

Result<> upgrade(const run::HarnessStore& store, const std::string& data_directory, const Wanted& wanted,
                 const Clock& clock, const std::function<void(const std::string&)>& note) {
    std::vector<Upgrade> done;
    const auto installed = TRY(store.list());
    for (const harness::Harness& known : harness::catalog()) {
        const auto is_it = [&](const run::InstalledHarness& one) { return one.name == known.name; };
        const auto current = std::find_if(installed.begin(), installed.end(), is_it);
        if (current == installed.end() || (!wanted.name.empty() && wanted.name != known.name)) continue;
        const std::string newest = TRY(store.check_newest(std::string(known.name), clock));
        Upgrade one{std::string(known.name), current->version, newest};
        const bool has_it = std::any_of(installed.begin(), installed.end(), [&](const run::InstalledHarness& other) {
            return other.name == known.name && other.version == one.newest;
        });
        note(one.name + " " + one.installed + (has_it ? ", which is the newest" : ", newest " + one.newest));
        if (!has_it && !wanted.check) {
            const auto provider =
                TRY(sandbox::open_local_provider({data_directory, {}, sandbox::SpawnerKind::executed, 0}));
            TRY(store.install(*provider, one.name, one.newest, "", clock, {note}));
            one.upgraded = true;
        }
        done.push_back(std::move(one));
    }
    if (done.empty())
        return not_found(wanted.name.empty() ? "an installed harness (hone harness install NAME installs one)"
                                             : "the installed harness " + wanted.name);
    if (wanted.as_json) std::printf("%s\n", json::write(done).c_str());
    return {};
}

Result<> carry_out(Wanted wanted) {
    if (wanted.data_dir.empty() && file_exists(config::Config().data_dir)) wanted.data_dir = config::Config().data_dir;
    if (wanted.data_dir.empty())
        return invalid("--data-dir is missing: give the data directory of `hone serve` (or set HONE_DATA_DIR)");
    const std::string data_directory = TRY(resolve_directory(wanted.data_dir)); // npm works in another directory
    const run::HarnessStore store(data_directory);
    if (wanted.verb == "list") return list(store, wanted.as_json);
    if (wanted.verb == "rm") {
        TRY(store.remove(wanted.name, wanted.version));
        if (!wanted.as_json) std::fprintf(stderr, "removed\n");
        return {};
    }
    const SystemClock clock;
    const auto note = [&](const std::string& line) {
        if (!wanted.as_json) std::fprintf(stderr, "%s\n", line.c_str());
    };
    if (wanted.verb == "upgrade") return upgrade(store, data_directory, wanted, clock, note);
    if (wanted.verb != "install" || wanted.name.empty())
        return invalid("a command is missing: install, upgrade, list or rm (--help explains)");
    const auto provider = TRY(sandbox::open_local_provider({data_directory, {}, sandbox::SpawnerKind::executed, 0}));
    const auto made = TRY(store.install(*provider, wanted.name, wanted.version, wanted.source, clock, {note}));
    if (wanted.as_json) std::printf("%s\n", json::write(made).c_str());
    return {};
}

} // namespace

int harness_main(int argc, char** argv) {
    const auto wanted = read_arguments(argc, argv);
    if (wanted.ok() && (wanted.value().help || wanted.value().verb.empty())) {
        std::printf("%s", std::string(usage).c_str());
        return wanted.value().help ? 0 : 2;
    }
    const auto done = wanted.ok() ? carry_out(wanted.value()) : Result<>(wanted.error());
    if (done.ok()) return 0;
    return report_failure(done.error(), wants_json(argc, argv));
}

} // namespace hone::server
