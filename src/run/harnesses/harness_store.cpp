#include "run/harnesses/harness_store.h"

#include "base/file.h"
#include "base/text.h"
#include "harness/catalog.h"
#include "run/harnesses/npm.h"
#include "sandbox/image/tree.h"
#include "json/json.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace hone::run {

bool is_harness_version(std::string_view text) {
    if (text.empty() || text.size() > 60) return false;
    return std::all_of(text.begin(), text.end(),
                       [](char c) {
                           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                  c == '.' || c == '-' || c == '+';
                       }) &&
           text.find("..") == std::string_view::npos && text != ".";
}

namespace {

constexpr std::string_view record_name = "/hone-harness.json";
constexpr std::string_view newest_name = "/newest.json"; // beside the versions

constexpr int64_t scripts_timeout_ms = 10 * 60 * 1000;
constexpr int64_t watch_every_ms = 250;
constexpr int64_t first_start_timeout_ms = 2 * 60 * 1000;

// Where a program of the PATH really lies; empty: nowhere.
std::string find_in_path(std::string_view name) {
    const char* path = std::getenv("PATH");
    for (const std::string_view directory : split(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path, ':')) {
        const std::string program = std::string(directory) + "/" + std::string(name);
        std::error_code failed;
        if (!directory.empty() && ::access(program.c_str(), X_OK) == 0)
            return std::filesystem::canonical(program, failed).string();
    }
    return {};
}

// Watches the folder that install scripts can write: it is a directory of the host, which nothing else limits.
class FolderLimit {
public:
    explicit FolderLimit(const std::string& directory)
        : m_directory(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
          m_bytes_before(size().bytes),
          m_free_before(free_bytes()) {}

    // What is wrong; empty: nothing. Call it while no process runs that could move files out of its way.
    std::string exceeded() const {
        const sandbox::TreeSize now = size();
        const int64_t grown = now.bytes - m_bytes_before;
        // Files without a name are in no folder: then the file system shows what they take.
        if (now.complete && grown < most_bytes && m_free_before - free_bytes() - grown < 2 * most_bytes) return {};
        return fmt::format("the scripts wrote more than {} MiB or {} files", most_bytes >> 20, most_files);
    }

private:
    static constexpr int64_t most_bytes = int64_t{1} << 30;
    static constexpr int64_t most_files = 1'000'000;

    // Unreadable directories are opened: what cannot be read counts as too much otherwise.
    sandbox::TreeSize size() const {
        return sandbox::measure_tree(m_directory.get(), most_files, sandbox::Unreadable::open);
    }
    int64_t free_bytes() const {
        struct statvfs status {};
        if (::fstatvfs(m_directory.get(), &status) != 0) return 0;
        return static_cast<int64_t>(status.f_bavail * status.f_frsize);
    }

    const Fd m_directory;
    const int64_t m_bytes_before, m_free_before;
};

struct InsideOutcome {
    bool good = false;
    std::string output; // its end
};

// Runs a program of the packages in a sandbox of its own: no network, nothing of the host but /usr and the folder.
Result<InsideOutcome> run_inside_sandbox(sandbox::Provider& provider, const std::string& directory, bool writable,
                                         std::vector<sandbox::Mount> mounts, const std::vector<std::string>& argv,
                                         int64_t timeout_ms, const InstallWatch& watch,
                                         std::string_view variables = "") {
    sandbox::SandboxSpec spec;
    mounts.push_back({directory, std::string(harness_mount), !writable});
    spec.mounts = std::move(mounts);
    spec.labels.value = {{"purpose", "harness install"}};
    spec.command.emplace();
    spec.command->argv = argv;
    spec.command->cwd = std::string(writable ? harness_mount : "/workspace");
    spec.command->timeout_ms = timeout_ms;
    if (const std::string node = find_in_path("node"); writable && !node.empty())
        spec.command->env.value["PATH"] = node.substr(0, node.rfind('/')) + ":/usr/local/bin:/usr/bin:/bin";
    for (const std::string_view variable : split(variables, ' '))
        if (const size_t equals = variable.find('='); equals != variable.npos)
            spec.command->env.value[std::string(variable.substr(0, equals))] = variable.substr(equals + 1);
    std::optional<FolderLimit> limit;
    if (writable) limit.emplace(directory);
    const std::unique_ptr<sandbox::Sandbox> box = TRY(provider.start(spec));
    InsideOutcome outcome;
    std::string exceeded;
    for (int64_t offset = 0;;) {
        const bool watches = writable || watch.cancelled;
        const sandbox::Output output = TRY(box->output(0, offset, watches ? watch_every_ms : -1));
        if (!output.finished && watch.is_cancelled()) {
            TRY(box->stop());
            TRY(box->destroy());
            return conflict("the installation was cancelled");
        }
        if (limit && !output.finished) {
            const bool is_frozen = box->freeze().ok();
            exceeded = limit->exceeded();
            if (is_frozen) (void)box->thaw().ok();
            if (!exceeded.empty()) break;
        }
        for (const sandbox::Output::Part& part : output.parts) outcome.output += part.bytes;
        if (outcome.output.size() > 4000) outcome.output.erase(0, outcome.output.size() - 2000);
        offset = output.next;
        if (output.finished) break;
    }
    if (!exceeded.empty()) TRY(box->stop());
    if (limit && exceeded.empty()) exceeded = limit->exceeded();
    if (!exceeded.empty()) {
        TRY(box->destroy());
        return too_large(exceeded);
    }
    const sandbox::CommandResult result = TRY(box->wait(0));
    outcome.good = result.exit_code == 0 && result.limits_hit.empty();
    for (const sandbox::LimitHit hit : result.limits_hit)
        outcome.output += "\n(limit: " + std::string(name_of(hit)) + ")";
    if (result.error) outcome.output += "\n" + *result.error;
    outcome.output = repair_utf8(outcome.output);
    TRY(box->destroy());
    return outcome;
}

// What of Node.js and npm lies outside of /usr, where a sandbox would not find it.
std::vector<sandbox::Mount> node_mounts(const std::string& npm) {
    std::vector<sandbox::Mount> mounts;
    for (const std::string& program : {npm, find_in_path("node")}) {
        if (program.empty() || program.starts_with("/usr/")) continue;
        // PREFIX/bin/node, PREFIX/lib/node_modules/npm/bin/npm-cli.js
        const size_t end = std::min(program.find("/lib/node_modules/"), program.rfind("/bin/"));
        if (end == std::string::npos || end == 0) continue;
        const std::string prefix = program.substr(0, end);
        if (mounts.empty() || mounts.back().source != prefix) mounts.push_back({prefix, prefix, true});
    }
    return mounts;
}

// The packages with scripts that belong to their installation, as npm recorded them.
struct ScriptedPackages {
    std::vector<std::string> required, optional;
};

Result<ScriptedPackages> packages_with_scripts(const std::string& directory) {
    ScriptedPackages found;
    const auto text = read_file(directory + "/node_modules/.package-lock.json", 64 << 20);
    if (!text.ok() && text.error().code == Code::not_found) return found;
    if (!text.ok()) return text.error();
    const json::Value lock = TRY(json::parse(text.value()));
    const json::Value* packages = lock.is_object() ? lock.get_object().if_contains("packages") : nullptr;
    if (packages == nullptr || !packages->is_object()) return corrupt("npm's list of packages cannot be read");
    const auto is_set = [](const json::Value& package, std::string_view name) {
        const json::Value* flag = package.is_object() ? package.get_object().if_contains(name) : nullptr;
        return flag != nullptr && flag->is_bool() && flag->get_bool();
    };
    constexpr std::string_view folder = "node_modules/";
    for (const auto& entry : packages->get_object()) {
        const std::string_view path = entry.key();
        const size_t at = path.rfind(folder);
        if (at == path.npos || !is_set(entry.value(), "hasInstallScript")) continue;
        auto& list = is_set(entry.value(), "optional") ? found.optional : found.required;
        list.emplace_back(path.substr(at + folder.size()));
    }
    return found;
}

// All users may read it: the worker has another uid. Set-id bits have no use there and are removed.
void open_for_reading(const std::string& directory) {
    using std::filesystem::perms;
    std::error_code failed;
    for (std::filesystem::recursive_directory_iterator at(directory, failed), end; !failed && at != end;
         at.increment(failed)) {
        if (at->is_symlink(failed)) continue;
        const perms search =
            at->is_directory(failed) ? perms::others_exec | perms::group_exec | perms::owner_exec : perms::none;
        std::filesystem::permissions(at->path(), perms::set_uid | perms::set_gid, std::filesystem::perm_options::remove,
                                     failed);
        std::filesystem::permissions(at->path(), perms::owner_read | perms::group_read | perms::others_read | search,
                                     std::filesystem::perm_options::add, failed);
    }
}

// Gives the tree to a uid; for root only. No link is followed, and set-id bits go.
Result<> give_tree(const std::string& directory, uid_t owner) {
    if (::geteuid() != 0) return {};
    std::error_code failed;
    if (::lchown(directory.c_str(), owner, owner) != 0) return system_error("change the owner of " + directory, errno);
    for (std::filesystem::recursive_directory_iterator at(directory, failed), end; !failed && at != end;
         at.increment(failed))
        if (::lchown(at->path().c_str(), owner, owner) != 0)
            return system_error("change the owner of " + at->path().string(), errno);
    if (failed) return system_error("read " + directory, failed.value());
    return {};
}

// Scripts of packages run as the worker's uid, in a sandbox that can write the folder of the packages and nothing else.
Result<> run_install_scripts(sandbox::Provider& provider, const std::string& directory,
                             const std::vector<std::string>& packages, const InstallWatch& watch) {
    if (packages.empty()) return {};
    const std::string npm = find_in_path("npm");
    std::vector<std::string> argv{
        npm, "rebuild", "--offline", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"};
    if (file_exists("/usr/include/node/node.h"))
        argv.push_back("--nodedir=/usr"); // else npm would download the headers
    argv.push_back("--");
    argv.insert(argv.end(), packages.begin(), packages.end());
    TRY(give_tree(directory, 1000));
    auto ran = run_inside_sandbox(provider, directory, true, node_mounts(npm), argv, scripts_timeout_ms, watch);
    TRY(give_tree(directory, 0));
    if (!ran.ok()) return ran.error();
    if (!ran.value().good)
        return unavailable("an install script of the packages failed (scripts run in a sandbox without network):\n" +
                           ran.value().output);
    return {};
}

// A program that would unpack itself into each worker's home does so here, once.
Result<> unpack(sandbox::Provider& provider, const std::string& directory, const harness::Harness& harness,
                const std::vector<std::string>& argv, const InstallWatch& watch) {
    TRY(give_tree(directory, 1000));
    auto ran = run_inside_sandbox(provider, directory, true, {}, argv, scripts_timeout_ms, watch, harness.unpack);
    TRY(give_tree(directory, 0));
    if (!ran.ok()) return ran.error();
    if (!ran.value().good)
        return unavailable(fmt::format("{} cannot be unpacked: {}", harness.name, ran.value().output));
    return {};
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
    if (version == nullptr || !version->is_string() || !is_harness_version(std::string_view(version->get_string())))
        return corrupt("the package " + std::string(package) + " has no version");
    return std::string(version->get_string());
}

Result<> install_packages(const std::string& directory, const harness::Harness& harness, const std::string& version,
                          const std::string& source, const InstallWatch& watch) {
    TRY(write_file(directory + "/package.json", "{\"private\": true}\n", 0644));
    std::vector<std::string> argv{"npm",
                                  "install",
                                  "--no-audit",
                                  "--no-fund",
                                  "--loglevel=error",
                                  "--omit=dev",
                                  "--ignore-scripts",
                                  "--no-update-notifier",
                                  "--fetch-retry-mintimeout=1000",
                                  "--fetch-retry-maxtimeout=10000"};
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
    TRY(make_directories(directory + "/.home", 0700));
    const int code = TRY(run_npm(argv, directory, log, watch));
    TRY(sandbox::remove_tree(directory + "/.home")); // npm's cache
    if (code == 127) return unavailable("npm is not installed, and is what installs harnesses: apt install npm");
    if (code == 0) return {};
    const std::string said = end_of(log);
    if (source.empty() && names_network_failure(said))
        return unavailable(fmt::format(
            "the npm registry cannot be reached. Set npm_config_registry or HTTPS_PROXY in the environment of the "
            "server, or copy the packages to it and run: hone harness install {} --from FOLDER --data-dir DIR\n{}",
            harness.name, said));
    return unavailable(fmt::format("npm ended with {}:\n{}", code, said));
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

Result<InstalledHarness> HarnessStore::find(std::string_view name, std::string_view version) const {
    for (InstalledHarness& installed : TRY(list()))
        if (installed.name == name && (version.empty() || installed.version == version)) return std::move(installed);
    const std::string wanted = std::string(name) + (version.empty() ? "" : "@" + std::string(version));
    return not_found(fmt::format(
        "the harness {0} is not installed on the server (run: hone harness install {0} --data-dir DIR); it was",
        wanted));
}

Result<std::string> HarnessStore::check_newest(const std::string& name, const Clock& clock) const {
    const harness::Harness* known = harness::find(name);
    if (known == nullptr || known->package.empty()) return invalid(name + " is not a harness that can be installed");
    const std::string parent = m_directory + "/" + name;
    const std::string work = parent + "/.check-" + make_ulid(clock.now());
    TRY(make_directories(work + "/.home", 0700));
    const std::string log = work + "/npm.log";
    const auto code =
        run_npm({"npm", "view", "--loglevel=error", "--no-update-notifier", std::string(known->package), "version"},
                work, log, {});
    const std::string printed(trim(end_of(log)));
    (void)sandbox::remove_tree(work);
    if (!code.ok()) return code.error();
    if (code.value() == 127) return unavailable("npm is not installed, and is what reads versions: apt install npm");
    const std::string version(trim(printed.substr(printed.rfind('\n') + 1)));
    if (code.value() != 0 || !is_harness_version(version))
        return unavailable(fmt::format("npm does not name the newest version of {}:\n{}", known->package, printed));
    TRY(write_file(parent + std::string(newest_name), json::write(NewestHarness{version, clock.now()}), 0644));
    return version;
}

std::optional<NewestHarness> HarnessStore::newest(std::string_view name) const {
    const auto text = read_file(m_directory + "/" + std::string(name) + std::string(newest_name), 1 << 16);
    if (!text.ok()) return std::nullopt;
    auto found = json::read<NewestHarness>(text.value());
    return found.ok() ? std::optional(std::move(found).value()) : std::nullopt;
}

Result<InstalledHarness> HarnessStore::install(sandbox::Provider& provider, const std::string& name,
                                               const std::string& version, const std::string& source,
                                               const Clock& clock, const InstallWatch& watch) const {
    const harness::Harness* known = harness::find(name);
    if (known == nullptr || known->package.empty()) {
        std::string names;
        for (const harness::Harness& one : harness::catalog())
            if (!one.package.empty()) names += (names.empty() ? "" : ", ") + std::string(one.name);
        return invalid(name + " is not a harness that can be installed; these are: " + names);
    }
    if (!version.empty() && !is_harness_version(version)) return invalid("\"" + version + "\" is not a version");
    const std::string parent = m_directory + "/" + name;
    TRY(make_directories(parent, 0755));
    const std::string making = parent + "/.making-" + make_ulid(clock.now());
    TRY(make_directories(making, 0755));
    const auto undo = [&](Error error) {
        (void)sandbox::remove_tree(making);
        return error;
    };
    watch.note(fmt::format("installing {}", known->package));
    if (auto done = install_packages(making, *known, version, source, watch); !done.ok()) return undo(done.error());
    const auto scripts = packages_with_scripts(making);
    if (!scripts.ok()) return undo(scripts.error());
    if (!scripts.value().required.empty() || !scripts.value().optional.empty())
        watch.note("running the install scripts of its packages in a sandbox");
    if (auto done = run_install_scripts(provider, making, scripts.value().required, watch); !done.ok())
        return undo(done.error());
    // As npm does: an optional package that cannot be built is left out of use.
    for (const std::string& package : scripts.value().optional)
        if (auto done = run_install_scripts(provider, making, {package}, watch); !done.ok()) {
            // What it wrote is still there.
            if (done.error().code == Code::too_large || watch.is_cancelled()) return undo(done.error());
            watch.note(fmt::format("the optional package {} is not built: {}", package, done.error().message));
        }
    const std::string program = making + "/" + std::string(known->executable);
    if (!file_exists(program))
        return undo(corrupt(fmt::format("{} holds no program {}", known->package, known->executable)));
    watch.note("starting it once in a sandbox");
    const std::string inside(harness_mount);
    std::vector<std::string> argv{inside + "/" + std::string(known->executable), "--version"};
    if (known->node != 0) {
        if (!file_exists(making + "/" + harness::node_program()))
            return undo(corrupt(fmt::format("{} needs Node.js {}: add the package {} to the folder of tarballs", name,
                                            known->node, harness::node_package())));
        argv.insert(argv.begin(), inside + "/" + harness::node_program());
    }
    if (!known->unpack.empty()) {
        watch.note("unpacking it in a sandbox");
        if (auto done = unpack(provider, making, *known, argv, watch); !done.ok()) return undo(done.error());
    }
    // All users may read it: the worker has another uid.
    open_for_reading(making);
    const auto started = run_inside_sandbox(provider, making, false, {}, argv, first_start_timeout_ms, watch);
    if (!started.ok()) return undo(started.error());
    if (!started.value().good)
        return undo(unavailable(fmt::format("{} does not start: {}", name, started.value().output)));
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
    if (auto done = write_file(making + std::string(record_name), json::write(made), 0644); !done.ok())
        return undo(done.error());
    const std::string place = directory(made);
    if (file_exists(place)) (void)sandbox::remove_tree(place);
    if (auto done = sync_file_system(making); !done.ok()) return undo(done.error()); // what is listed is whole
    if (::rename(making.c_str(), place.c_str()) != 0) return undo(system_error("rename to " + place, errno));
    TRY(sync_directory(parent));
    watch.note(fmt::format("{} {} is ready", made.name, made.version));
    return made;
}

Result<> HarnessStore::remove(const std::string& name, const std::string& version) const {
    if (name.empty() || version.empty())
        return invalid("NAME@VERSION is missing: hone harness list shows the installed ones");
    for (const InstalledHarness& installed : TRY(list()))
        if (installed.name == name && installed.version == version) return sandbox::remove_tree(directory(installed));
    return not_found("harness " + name + "@" + version);
}

} // namespace hone::run
