#include "sandbox/helper/helper.h"

#include "base/text.h"
#include "sandbox/wall/enter.h"
#include "sandbox/wall/kernel.h"
#include "sandbox/wall/syscall_filter.h"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <memory>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

namespace hone::sandbox {

namespace {

// What scripts of the server call, beside git itself.
constexpr const char* helper_tools[] = {"awk", "cat",  "cp",   "cut",   "date", "env",   "expr", "false", "find",
                                        "git", "grep", "gzip", "head",  "ls",   "mkdir", "mv",   "rm",    "sed",
                                        "sh",  "sort", "tail", "touch", "tr",   "true",  "uniq", "wc",    "xargs"};
constexpr const char* program_folders[] = {"/usr/local/bin", "/usr/bin", "/bin"};
// Beside what is wanted and what the watchdog counts: other servers of the same user may run on the machine, which
// the kernel counts, too, and this process does not see.
constexpr int64_t spare_helper_tasks = 1024;

// Processes and threads of this user, as far as they are visible.
int64_t tasks_of_user() {
    int64_t tasks = 0;
    const std::unique_ptr<DIR, int (*)(DIR*)> processes(::opendir("/proc"), ::closedir);
    while (const dirent* entry = processes ? ::readdir(processes.get()) : nullptr) {
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
        struct stat status {};
        const std::string folder = std::string("/proc/") + entry->d_name + "/task";
        // Its own folder and the one above are links, too.
        if (::stat(folder.c_str(), &status) == 0 && status.st_uid == ::geteuid())
            tasks += std::max<int64_t>(1, static_cast<int64_t>(status.st_nlink) - 2);
    }
    return tasks;
}

// A service may have been given a capability to listen on a low port: a helper has none.
Result<> drop_helper_privileges() {
    if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
        return system_error("clear ambient capabilities", errno);
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    const __user_cap_data_struct none[2] = {};
    if (::syscall(SYS_capset, &header, none) != 0) return system_error("drop capabilities", errno);
    __user_cap_data_struct left[2] = {};
    if (::syscall(SYS_capget, &header, left) != 0) return system_error("read capabilities", errno);
    for (const auto& word : left)
        if ((word.effective | word.permitted | word.inheritable) != 0)
            return internal("not all capabilities were dropped");
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return system_error("set no_new_privs", errno);
    return {};
}

} // namespace

Result<> helpers_possible() {
    if (::geteuid() == 0)
        return unavailable("this machine makes no namespaces here, and without them git is isolated only for an "
                           "ordinary user: start Hone as one, or allow unshare and mount");
    const int version = landlock_version();
    if (version < least_version_for_folders)
        return unavailable("this machine makes no namespaces here, and without them git is isolated by Landlock "
                           "version 3 or later (Linux 6.2), not " +
                           (version == 0 ? std::string("without it") : "version " + std::to_string(version)));
    if (!kernel_has_seccomp()) return unavailable("this kernel has no seccomp filters");
    return {};
}

int namespaces_refused() {
    constexpr uint64_t namespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                                    CLONE_NEWUTS | 0x80 /* CLONE_NEWTIME */;
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return errno;
    const Fd reader(ends[0]);
    Fd writer(ends[1]);
    int descriptor = -1;
    const pid_t pid = kernel::clone_into_namespaces(namespaces, descriptor, -1);
    if (pid == 0) {
        // A security module may let everyone make them, and take away all rights in them.
        const int failed = ::sethostname("sandbox", 7) == 0 ? 0 : errno;
        (void)!::write(writer.get(), &failed, sizeof failed);
        ::_exit(0);
    }
    if (pid < 0) return errno;
    const Fd process(descriptor);
    writer.reset();
    int failed = 0;
    const bool is_known = ::read(reader.get(), &failed, sizeof failed) == sizeof failed;
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) { // it may be gone already: its end is ignored here
    }
    return is_known ? failed : EPERM;
}

namespace {

// Of a process that lives.
std::optional<int64_t> session_of(pid_t pid) {
    const auto text = read_file("/proc/" + std::to_string(pid) + "/stat", 4096);
    if (!text.ok()) return std::nullopt;
    const size_t name_end = text.value().rfind(')'); // a name may have spaces and brackets
    if (name_end == std::string::npos) return std::nullopt;
    const auto fields =
        split(std::string_view(text.value()).substr(name_end + 2), ' '); // state, parent, group, session
    if (fields.size() < 4 || fields[0] == "Z" || fields[0] == "X") return std::nullopt;
    const auto session = parse_integer(fields[3]);
    return session.ok() ? std::optional(session.value()) : std::nullopt;
}

bool is_helper(pid_t pid) {
    struct stat owner {};
    const std::string folder = "/proc/" + std::to_string(pid);
    if (::stat(folder.c_str(), &owner) != 0 || owner.st_uid != ::geteuid()) return false;
    const auto facts = read_file(folder + "/status", 64 << 10);
    return facts.ok() && facts.value().find("\nNoNewPrivs:\t1\n") != std::string::npos &&
           facts.value().find("\nSeccomp:\t2\n") != std::string::npos;
}

std::vector<pid_t> helpers_of(pid_t session) {
    std::vector<pid_t> found;
    const std::unique_ptr<DIR, int (*)(DIR*)> processes(::opendir("/proc"), ::closedir);
    while (const dirent* entry = processes ? ::readdir(processes.get()) : nullptr) {
        const auto pid = parse_integer(entry->d_name);
        if (!pid.ok()) continue;
        const auto number = static_cast<pid_t>(pid.value());
        if (session_of(number) == session && is_helper(number)) found.push_back(number);
    }
    return found;
}

} // namespace

void end_helpers(pid_t session) {
    constexpr int most_rounds_of_ending = 1000;
    if (session <= 1) return;
    for (int round = 0; round < most_rounds_of_ending; ++round) {
        // A number is not given to a new process while a session has it; a leader that lives is another's.
        if (session_of(session)) return;
        const std::vector<pid_t> left = helpers_of(session);
        if (left.empty()) return;
        for (const pid_t pid : left) {
            const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
            if (process.is_open() && session_of(pid) == session) kernel::signal_process(process.get(), SIGKILL);
        }
        ::poll(nullptr, 0, 1);
    }
}

FolderRules helper_rules() {
    FolderRules rules;
    rules.readable = {"/usr/lib",
                      "/usr/lib64",
                      "/usr/local/lib",
                      "/lib",
                      "/lib64",
                      "/usr/share/git-core",
                      "/usr/share/locale",
                      "/etc/ld.so.cache",
                      "/etc/ld-musl-x86_64.path",
                      "/etc/ssl/openssl.cnf",
                      "/etc/gnutls",
                      "/dev/zero",
                      "/dev/random",
                      "/dev/urandom"};
    rules.programs = {"/usr/lib/git-core", "/usr/libexec/git-core"};
    for (const char* tool : helper_tools)
        for (const char* folder : program_folders) rules.programs.push_back(std::string(folder) + "/" + tool);
    // What maps a program into memory.
    for (const char* loader : {"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-x86_64.so.1",
                               "/lib/ld-musl-aarch64.so.1"})
        rules.programs.emplace_back(loader);
    rules.writable = {"/dev/null"};
    return rules;
}

Result<Fd> wall_in_helper(const FolderRules& rules, const Limits& limits, HelperFilter::Network network) {
    TRY(set_resource_limits(limits, LimitKeeper::rlimit, tasks_of_user() + *limits.pids + spare_helper_tasks));
    TRY(drop_helper_privileges());
    if (const int failed = restrict_folders(landlock_version(), rules))
        return system_error("restrict files by Landlock", failed);
    if (network == HelperFilter::Network::none) return Fd();
    return HandOver::prepare();
}

Result<> lock_helper(const HelperFilter& filter) {
    if (const int failed = filter.load()) return system_error("load the syscall filter", failed);
    return {};
}

} // namespace hone::sandbox
