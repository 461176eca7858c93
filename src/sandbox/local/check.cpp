#include "sandbox/local/check.h"

#include "base/file.h"
#include "base/text.h"
#include "sandbox/helper/helper.h"
#include "sandbox/image/recipe.h"
#include "sandbox/image/tree.h"
#include "sandbox/image/volume.h"
#include "sandbox/local/local_provider.h"
#include "sandbox/wall/access_rules.h"
#include "sandbox/wall/cgroup.h"
#include "sandbox/wall/program.h"
#include "sandbox/wall/syscall_filter.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace hone::sandbox {

namespace {

CheckLine user_namespaces() {
    CheckLine line{"user namespaces", CheckLine::ok, "with mount, pid, network, ipc, uts and time namespaces", ""};
    const int failed = namespaces_refused();
    if (failed == 0) return line;
    line.state = CheckLine::missing;
    line.detail = std::strerror(failed);
    const auto apparmor = read_file("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 16);
    if (apparmor.ok() && trim(apparmor.value()) == "1")
        line.advice = "AppArmor restricts them here: an AppArmor profile for hone (docs/install.md), sysctl "
                      "kernel.apparmor_restrict_unprivileged_userns=0, or start Hone as root";
    else
        line.advice = "sysctl user.max_user_namespaces and kernel.unprivileged_userns_clone; in a container, allow "
                      "unshare and mount";
    return line;
}

CheckLine cgroups() {
    const CgroupHost host = CgroupHost::probe(false);
    CheckLine line{"cgroups", CheckLine::ok, std::string(name_of(host.keeper())), ""};
    if (host.keeper() == LimitKeeper::rlimit) {
        line.state = CheckLine::warning;
        line.detail = "CPU time is NOT limited; memory is watched, not capped; processes by RLIMIT_NPROC";
        line.advice = host.advice;
    }
    if (!host.can_freeze()) line.detail += ", no freeze";
    return line;
}

CheckLine disk_throughput() {
    const CgroupHost host = CgroupHost::probe(false);
    if (host.keeper() != LimitKeeper::rlimit && host.can_limit_io())
        return {"disk throughput", CheckLine::ok,
                host.unified_limits ? "io.max" : "blkio throttle: reads and direct writes, not the page cache", ""};
    return {"disk throughput", CheckLine::warning, "NOT limited: a busy sandbox slows the disk for all",
            "a kernel with CONFIG_BLK_DEV_THROTTLING, and the io (version 2) or blkio (version 1) cgroup controller "
            "for Hone"};
}

// A new folder for a trial; empty: none can be made. The first two are more likely to be a disk, as data directories
// are; of a container often only the data directory can be written.
std::string trial_folder(const std::string& data_directory) {
    for (const std::string& place : {std::string("/var/tmp"), data_directory, std::string("/tmp")}) {
        if (place.empty()) continue;
        std::string folder = place + "/hone-check-XXXXXX";
        if (::mkdtemp(folder.data()) != nullptr) return folder;
    }
    return {};
}

CheckLine self_test(const std::string& program, const std::string& data_directory) {
    CheckLine line{"self-test (tier ns)", CheckLine::ok, "", ""};
    const std::string directory = trial_folder(data_directory);
    if (directory.empty()) return {line.name, CheckLine::missing, "cannot write to /var/tmp", ""};
    const auto attempt = [&]() -> Result<std::string> {
        auto provider = TRY(open_local_provider({directory, program}));
        SandboxSpec spec;
        Command command;
        command.argv = {"/bin/sh", "-c", "exit 7"};
        spec.command = command;
        auto sandbox = TRY(provider->start(spec));
        const SandboxView view = TRY(sandbox->wait_stopped(30'000));
        TRY(sandbox->destroy());
        if (view.commands.empty() || view.commands[0].exit_code != 7)
            return internal("a test command did not return its exit code");
        return "limits by " + std::string(name_of(view.limits_by)) + ", disk by " + view.disk_by +
               (std::count(view.not_limited.begin(), view.not_limited.end(), "cpus") == 0 ? "" : ", CPU not limited");
    };
    auto outcome = attempt();
    (void)remove_tree(directory).ok();
    if (outcome.ok()) {
        line.detail = outcome.value();
    } else {
        line.state = CheckLine::missing;
        line.detail = outcome.error().message;
        line.advice = "sandboxes are refused until this works; the lines above show what is missing";
    }
    return line;
}

// A whole start, as for git.
Result<> try_helper(const std::string& directory, const std::string& program) {
    const auto provider = TRY(open_local_provider({directory, program}));
    const std::string root = directory + "/helper";
    TRY(make_directories(root));
    SandboxSpec spec;
    spec.without_namespaces = root;
    Command command;
    command.argv = {"/bin/sh", "-c", "git --version > version || exit 8; read -r first < /etc/passwd || exit 7"};
    spec.command = command;
    const auto sandbox = TRY(provider->start(spec));
    const SandboxView view = TRY(sandbox->wait_stopped(30'000));
    TRY(sandbox->destroy());
    const auto exit_code = view.commands.empty() ? std::nullopt : view.commands[0].exit_code;
    if (exit_code == 8) return unavailable("git could not be run");
    if (exit_code != 7) return internal("a helper read a file that it was not given");
    return {};
}

CheckLine helpers(const std::string& program, const std::string& data_directory) {
    CheckLine line{"helpers of the server (git)", CheckLine::ok, "in sandboxes with namespaces", ""};
    if (namespaces_refused() == 0) return line;
    line.detail = "without namespaces: Landlock and a filter of their own";
    line.advice = "runs need namespaces, or a cluster; git works without (docs/sandbox.md)";
    Result<> outcome = helpers_possible();
    if (outcome.ok()) {
        const std::string directory = trial_folder(data_directory);
        outcome = directory.empty() ? unavailable("cannot write to /var/tmp") : try_helper(directory, program);
        if (!directory.empty()) (void)remove_tree(directory).ok();
    }
    if (!outcome.ok()) line = {line.name, CheckLine::missing, outcome.error().message, "repositories cannot be used"};
    return line;
}

CheckLine check_tools(const std::string& name, const std::string& root) {
    std::string missing;
    for (const std::string& tool : missing_tools(root)) missing += (missing.empty() ? "" : ", ") + tool;
    if (missing.empty()) return {name, CheckLine::ok, "Python, Node.js, git, ripgrep, jq, curl, compiler", ""};
    return {name, CheckLine::warning, "missing: " + missing,
            root.empty() ? "install them on this machine, or make an image of them: hone image build default, and name "
                           "it as sandbox.image"
                         : "make it again: hone image build default"};
}

} // namespace

std::vector<CheckLine> check(const std::string& program, const std::string& data_directory) {
    std::vector<CheckLine> lines;
    lines.push_back(user_namespaces());
    const bool seccomp = kernel_has_seccomp();
    lines.push_back({"seccomp", seccomp ? CheckLine::ok : CheckLine::missing, seccomp ? "filters" : "",
                     seccomp ? "" : "a kernel with CONFIG_SECCOMP_FILTER"});
    const int landlock = landlock_version();
    CheckLine rules{"Landlock", CheckLine::ok, "version " + std::to_string(landlock), ""};
    if (landlock == 0)
        rules = {"Landlock", CheckLine::missing, "", "Linux 5.13 or later, with landlock in the lsm= list"};
    else if (landlock < 6)
        rules.detail += ", without scoping of signals and abstract sockets (Linux 6.12)";
    lines.push_back(rules);
    lines.push_back(cgroups());
    lines.push_back(disk_throughput());
    const bool root = ::geteuid() == 0;
    lines.push_back({"uid of its own per sandbox", root ? CheckLine::ok : CheckLine::warning,
                     root ? "drawn at random, far above people's" : "workers share the uid of Hone",
                     root ? "" : "start Hone as root to give every sandbox a host uid of its own"});
    const bool images = can_mount_images();
    lines.push_back({"thread volumes", images ? CheckLine::ok : CheckLine::warning,
                     images ? "ext4 images" : "watched directories",
                     images ? "" : "root, loop devices and mkfs.ext4 give volumes of a fixed size"});
    const auto init = find_init_program();
    lines.push_back({"hone-init", init.ok() ? CheckLine::ok : CheckLine::missing,
                     init.ok() ? init.value() : init.error().message,
                     init.ok() ? "" : "install hone-init beside hone"});
    const bool gvisor = ::access("/usr/bin/runsc", X_OK) == 0;
    lines.push_back({"tier gvisor", gvisor && root ? CheckLine::ok : CheckLine::warning,
                     gvisor ? (root ? "runsc" : "runsc found, but this tier needs root") : "runsc not found",
                     !gvisor ? "apt install runsc, if presets require this tier"
                     : root  ? ""
                             : "start Hone as root, if presets require this tier"});
    lines.push_back(check_tools("tools of workers (host)", ""));
    const std::string image = data_directory + "/sandbox/images/default/root";
    if (!data_directory.empty() && file_exists(image))
        lines.push_back(check_tools("tools of workers (image default)", image));
    lines.push_back(self_test(program, data_directory));
    lines.push_back(helpers(program, data_directory));
    return lines;
}

} // namespace hone::sandbox
