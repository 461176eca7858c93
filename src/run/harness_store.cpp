#include "run/harness_store.h"

#include "base/file.h"
#include "base/text.h"
#include "harness/catalog.h"
#include "sandbox/image/tree.h"
#include "json/json.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace hone::run {

namespace {

constexpr std::string_view record_name = "/hone-harness.json";

bool is_version(std::string_view text) {
    if (text.empty() || text.size() > 60) return false;
    return std::all_of(text.begin(), text.end(),
                       [](char c) {
                           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                  c == '.' || c == '-' || c == '+';
                       }) &&
           text.find("..") == std::string_view::npos && text != ".";
}

// Runs a program to its end in `directory`; its output goes to `log`.
Result<int> run_program(const std::vector<std::string>& argv, const std::string& directory, const std::string& log) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    std::vector<char*> arguments;
    for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    pid_t pid = 0;
    const int failed = posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed == ENOENT) return 127; // as in a shell
    if (failed != 0) return system_error("start " + argv[0], failed);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return system_error("wait for " + argv[0], errno);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string end_of(const std::string& path) {
    const auto text = read_file(path);
    if (!text.ok()) return {};
    const size_t from = text.value().size() > 2000 ? text.value().size() - 2000 : 0;
    return repair_utf8(std::string_view(text.value()).substr(from));
}

// The version that npm installed, from the package's own description.
Result<std::string> package_version(const std::string& directory, std::string_view package) {
    const auto text = TRY(read_file(directory + "/node_modules/" + std::string(package) + "/package.json", 1 << 20));
    const json::Value description = TRY(json::parse(text));
    const json::Value* version = description.is_object() ? description.get_object().if_contains("version") : nullptr;
    if (version == nullptr || !version->is_string() || !is_version(std::string_view(version->get_string())))
        return corrupt("the package " + std::string(package) + " has no version");
    return std::string(version->get_string());
}

Result<> install_packages(const std::string& directory, const harness::Harness& harness, const std::string& version,
                          const std::string& source) {
    TRY(write_file(directory + "/package.json", "{\"private\": true}\n", 0644));
    std::vector<std::string> argv{
        "npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--omit=dev", "--no-update-notifier"};
    if (source.empty()) {
        argv.push_back(std::string(harness.package) + (version.empty() ? "" : "@" + version));
        // The machine's own may be too old, and sandboxes with another root have none.
        if (harness.node != 0) argv.push_back(fmt::format("{}@{}", harness::node_package(), harness.node));
    } else {
        std::error_code failed;
        const std::string path = std::filesystem::absolute(source, failed);
        if (!file_exists(path)) return not_found("the tarball or folder " + path);
        // A folder of tarballs: everything the package needs, for machines without a registry.
        if (std::filesystem::is_directory(path, failed)) {
            argv.push_back("--offline");
            for (const auto& entry : std::filesystem::directory_iterator(path, failed))
                if (entry.path().extension() == ".tgz") argv.push_back(entry.path());
        } else {
            argv.push_back(path);
        }
    }
    const std::string log = directory + "/npm.log";
    const int code = TRY(run_program(argv, directory, log));
    if (code == 127) return unavailable("npm is not installed, and is what installs harnesses: apt install npm");
    if (code != 0) return unavailable(fmt::format("npm ended with {}:\n{}", code, end_of(log)));
    return {};
}

} // namespace

std::string HarnessStore::directory(const InstalledHarness& harness) const {
    return m_directory + "/" + harness.name + "/" + harness.version;
}

Result<std::vector<InstalledHarness>> HarnessStore::list() const {
    std::vector<InstalledHarness> all;
    std::error_code failed;
    for (const harness::Harness& known : harness::catalog()) {
        const std::string folder = m_directory + "/" + std::string(known.name);
        for (std::filesystem::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
            const auto text = read_file(at->path().string() + std::string(record_name), 1 << 16);
            if (!text.ok()) continue;
            auto record = json::read<InstalledHarness>(text.value());
            if (record.ok()) all.push_back(std::move(record).value());
        }
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.installed_at > b.installed_at; });
    return all;
}

Result<InstalledHarness> HarnessStore::find(std::string_view name) const {
    for (InstalledHarness& installed : TRY(list()))
        if (installed.name == name) return std::move(installed);
    return not_found(
        fmt::format("the harness {0} is not installed on the server (run: hone harness install {0}); it was", name));
}

Result<InstalledHarness> HarnessStore::install(const std::string& name, const std::string& version,
                                               const std::string& source, const Clock& clock,
                                               const std::function<void(const std::string&)>& note) const {
    const harness::Harness* known = harness::find(name);
    if (known == nullptr || known->package.empty()) {
        std::string names;
        for (const harness::Harness& one : harness::catalog())
            if (!one.package.empty()) names += (names.empty() ? "" : ", ") + std::string(one.name);
        return invalid(name + " is not a harness that can be installed; these are: " + names);
    }
    if (!version.empty() && !is_version(version)) return invalid("\"" + version + "\" is not a version");
    const std::string parent = m_directory + "/" + name;
    TRY(make_directories(parent, 0755));
    const std::string making = parent + "/.making-" + make_ulid(clock.now());
    TRY(make_directories(making, 0755));
    const auto undo = [&](Error error) {
        (void)sandbox::remove_tree(making);
        return error;
    };
    note(fmt::format("installing {}", known->package));
    if (auto done = install_packages(making, *known, version, source); !done.ok()) return undo(done.error());
    const std::string program = making + "/" + std::string(known->executable);
    if (!file_exists(program))
        return undo(corrupt(fmt::format("{} holds no program {}", known->package, known->executable)));
    note("starting it once");
    const std::string log = making + "/version.log";
    std::vector<std::string> argv{program, "--version"};
    if (known->node != 0) {
        const std::string node = making + "/" + harness::node_program();
        if (!file_exists(node))
            return undo(corrupt(fmt::format("{} needs Node.js {}: add the package {} to the folder of tarballs", name,
                                            known->node, harness::node_package())));
        argv.insert(argv.begin(), node);
    }
    const auto code = run_program(argv, making, log);
    if (!code.ok() || code.value() != 0)
        return undo(unavailable(fmt::format("{} does not start: {}", name, end_of(log))));
    InstalledHarness made;
    made.name = name;
    auto found = package_version(making, known->package);
    if (!found.ok()) return undo(found.error());
    made.version = found.value();
    made.source = source.empty() ? "npm" : source;
    made.bytes = 0;
    std::error_code failed;
    for (std::filesystem::recursive_directory_iterator at(making, failed), end; !failed && at != end;
         at.increment(failed))
        if (at->is_regular_file(failed) && !at->is_symlink(failed))
            made.bytes += static_cast<int64_t>(at->file_size(failed));
    made.installed_at = clock.now();
    // Readable for every user: the worker has another uid.
    for (std::filesystem::recursive_directory_iterator at(making, failed), end; !failed && at != end;
         at.increment(failed))
        if (!at->is_symlink(failed))
            std::filesystem::permissions(at->path(),
                                         std::filesystem::perms::owner_read | std::filesystem::perms::group_read |
                                             std::filesystem::perms::others_read |
                                             (at->is_directory(failed) ? std::filesystem::perms::others_exec |
                                                                             std::filesystem::perms::group_exec |
                                                                             std::filesystem::perms::owner_exec
                                                                       : std::filesystem::perms::none),
                                         std::filesystem::perm_options::add, failed);
    if (auto done = write_file(making + std::string(record_name), json::write(made), 0644); !done.ok())
        return undo(done.error());
    const std::string place = directory(made);
    if (file_exists(place)) (void)sandbox::remove_tree(place);
    if (auto done = sync_file_system(making); !done.ok()) return undo(done.error()); // what is listed is whole
    if (::rename(making.c_str(), place.c_str()) != 0) return undo(system_error("rename to " + place, errno));
    TRY(sync_directory(parent));
    note(fmt::format("{} {} is ready", made.name, made.version));
    return made;
}

Result<> HarnessStore::remove(const std::string& name, const std::string& version) const {
    if (name.empty() || version.empty())
        return invalid("which one? Give NAME@VERSION, as hone harness list shows them");
    for (const InstalledHarness& installed : TRY(list()))
        if (installed.name == name && installed.version == version) return sandbox::remove_tree(directory(installed));
    return not_found("harness " + name + "@" + version);
}

} // namespace hone::run
