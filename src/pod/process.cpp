#include "pod/process.h"

#include "pod/user_kernel.h"
#include "sandbox/wall/access_rules.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <linux/close_range.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

namespace hone::pod {

namespace {

constexpr const char* writable[] = {"/workspace", "/home/worker", "/tmp", "/var/tmp", "/run", "/dev"};
constexpr int64_t spare_processes = 64; // of this program: first process, channels, helpers

Result<> set_limit(int resource, int64_t wanted) {
    rlimit now{};
    if (::getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0)
        return system_error("read a resource limit", errno);
    const rlim_t value = std::min(now.rlim_max, static_cast<rlim_t>(wanted));
    const rlimit next{value, value};
    if (::setrlimit(static_cast<__rlimit_resource>(resource), &next) != 0)
        return system_error("set a resource limit", errno);
    return {};
}

void reset_signals() {
    for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::umask(022);
}

// Descriptors from 3 on end when another program is executed.
Result<> close_at_execute() {
    if (::close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) == 0) return {};
    // gVisor may have the call without this flag.
    std::error_code failed;
    std::vector<int> numbers;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", failed))
        numbers.push_back(std::atoi(entry.path().filename().c_str()));
    if (failed) return system_error("list the open descriptors", failed.value());
    for (const int number : numbers) // one is that of the list itself
        if (number >= 3 && ::fcntl(number, F_SETFD, FD_CLOEXEC) != 0 && errno != EBADF)
            return system_error("close a descriptor", errno);
    return {};
}

// Comes back with an errno.
int execute(const sandbox::Command& command, const std::map<std::string, std::string>& environment) {
    std::vector<std::string> texts;
    for (const auto& [name, value] : environment) texts.push_back(name + "=" + value);
    std::vector<char*> arguments, variables;
    for (const std::string& word : command.argv) arguments.push_back(const_cast<char*>(word.c_str()));
    for (const std::string& text : texts) variables.push_back(const_cast<char*>(text.c_str()));
    arguments.push_back(nullptr);
    variables.push_back(nullptr);
    const std::string& name = command.argv.front();
    if (name.find('/') != std::string::npos) return ::execve(name.c_str(), arguments.data(), variables.data()), errno;
    int worst = ENOENT;
    std::string_view path = environment.at("PATH");
    while (!path.empty()) {
        const size_t end = std::min(path.find(':'), path.size());
        const std::string full = std::string(path.substr(0, end)) + "/" + name;
        ::execve(full.c_str(), arguments.data(), variables.data());
        if (errno != ENOENT && errno != ENOTDIR) worst = errno;
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return worst;
}

Result<> become(const sandbox::Command& command, int (&stdio)[3], const Walls& walls) {
    ::setsid();
    if (*command.pty) ::ioctl(stdio[0], TIOCSCTTY, 0);
    int lifted[3];
    for (int i = 0; i < 3; ++i) lifted[i] = ::fcntl(stdio[i], F_DUPFD_CLOEXEC, 10);
    for (int i = 0; i < 3; ++i)
        if (::dup2(lifted[i], i) < 0) return system_error("arrange descriptors", errno);
    TRY(close_at_execute());
    TRY(walls.enter());
    reset_signals();
    if (::chdir(command.cwd.value.c_str()) != 0) return system_error("enter " + *command.cwd, errno);
    return {};
}

Result<std::pair<Fd, Fd>> open_terminal(const sandbox::Command& command) {
    Fd master(::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!master.is_open()) return system_error("open a terminal", errno);
    int locked = 0;
    if (::ioctl(master.get(), TIOCSPTLCK, &locked) != 0) return system_error("unlock a terminal", errno);
    const winsize size{static_cast<uint16_t>(*command.rows), static_cast<uint16_t>(*command.columns), 0, 0};
    ::ioctl(master.get(), TIOCSWINSZ, &size);
    Fd slave(::ioctl(master.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (int number = 0; !slave.is_open() && ::ioctl(master.get(), TIOCGPTN, &number) == 0) // gVisor
        slave = Fd(::open(("/dev/pts/" + std::to_string(number)).c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!slave.is_open()) return system_error("open a terminal", errno);
    return std::pair(std::move(master), std::move(slave));
}

} // namespace

Result<Walls> Walls::build(const sandbox::SandboxSpec& spec) {
    Walls walls;
    walls.m_is_gvisor = *spec.minimum_tier == sandbox::Tier::gvisor;
    if (walls.m_is_gvisor && !is_gvisor())
        return unavailable("tier gvisor was requested, but the kernel of the pod is not gVisor: its RuntimeClass "
                           "(kubernetes_runtime_class) has another runtime");
    walls.m_landlock = sandbox::landlock_version();
    if (walls.m_landlock == 0 && !walls.m_is_gvisor)
        return unavailable("the kernel of the node has no Landlock, or it is off");
    // gVisor loads filters without this call; one that cannot be loaded ends the command.
    if (!walls.m_is_gvisor && !sandbox::kernel_has_seccomp())
        return unavailable("the kernel of the node loads no filters (seccomp)");
    walls.m_filter = sandbox::SyscallFilter::build(*spec.allow_ptrace ? sandbox::SyscallFilter::Ptrace::allowed
                                                                      : sandbox::SyscallFilter::Ptrace::refused);
    walls.m_limits = *spec.limits;
    return walls;
}

Result<> Walls::enter() const {
    TRY(set_limit(RLIMIT_CORE, 0));
    if (!m_is_gvisor) TRY(set_limit(RLIMIT_MSGQUEUE, 0)); // which has no such limit: they are part of its memory
    TRY(set_limit(RLIMIT_MEMLOCK, 8 << 20));
    TRY(set_limit(RLIMIT_NOFILE, *m_limits.open_files));
    TRY(set_limit(RLIMIT_NPROC, *m_limits.pids + spare_processes));
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return system_error("set no_new_privs", errno);
    if (m_landlock == 0 && !m_is_gvisor) return unavailable("no rules for files");
    if (const int failed = m_landlock == 0 ? 0 : sandbox::restrict_files(m_landlock, writable))
        return system_error("restrict files by Landlock", failed);
    if (const int failed = m_filter.load()) return system_error("load the syscall filter", failed);
    return {};
}

Result<Started> start_command(const sandbox::Command& command, const std::map<std::string, std::string>& environment,
                              Fd (&stdio)[3], const Walls& walls) {
    Started started;
    Fd slave;
    int numbers[3];
    if (*command.pty) {
        auto [master, other] = TRY(open_terminal(command));
        started.terminal = std::move(master);
        slave = std::move(other);
        numbers[0] = numbers[1] = numbers[2] = slave.get();
    } else {
        for (int i = 0; i < 3; ++i) numbers[i] = stdio[i].get();
    }
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return system_error("create a pipe", errno);
    started.outcome = Fd(ends[0]);
    const Fd failure(ends[1]);
    started.pid = ::fork();
    if (started.pid < 0) return system_error("start a process", errno);
    if (started.pid != 0) return started;
    const int report = ::fcntl(failure.get(), F_DUPFD_CLOEXEC, 20);
    const Result<> ready = become(command, numbers, walls);
    const int failed = ready.ok() ? execute(command, environment) : 0;
    const std::string why =
        ready.ok() ? "execute " + command.argv.front() + ": " + std::strerror(failed) : ready.error().message;
    if (::write(report, why.data(), std::min(why.size(), most_outcome_bytes)) < 0) ::_exit(126);
    ::_exit(127);
}

Result<Helper> start_helper(const std::function<void(int socket)>& work, const Walls* walls) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return system_error("create a pair of sockets", errno);
    Helper helper{0, Fd(ends[0])};
    const Fd theirs(ends[1]);
    helper.pid = ::fork();
    if (helper.pid < 0) return system_error("start a helper", errno);
    if (helper.pid != 0) {
        ::fcntl(helper.socket.get(), F_SETFL, O_NONBLOCK);
        return helper;
    }
    const int socket = ::dup2(theirs.get(), 3);
    ::close_range(4, ~0u, 0);
    reset_signals();
    ::signal(SIGPIPE, SIG_IGN);
    if (socket != 3 || (walls != nullptr && !walls->enter().ok())) ::_exit(1);
    work(socket);
    ::_exit(0);
}

} // namespace hone::pod
