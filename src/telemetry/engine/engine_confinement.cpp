#include "telemetry/engine/engine_confinement.h"

#include "base/file.h"
#include "base/log.h"

#include <cerrno>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hone::telemetry {

namespace {

constexpr uint64_t read_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t write_access = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                  LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
                                  LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM;
constexpr uint64_t other_access = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                  LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                  LANDLOCK_ACCESS_FS_MAKE_BLOCK;
constexpr scmp_datum_t namespaces =
    CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
constexpr uint64_t refer_access = 1ULL << 13;    // since ABI 2: renames between directories
constexpr uint64_t truncate_access = 1ULL << 14; // since ABI 3

Result<> allow(int rules, const std::string& path, uint64_t access) {
    const Fd place(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!place.is_open()) return errno == ENOENT ? Result<>() : Result<>(system_error("open " + path, errno));
    struct stat info {};
    if (::fstat(place.get(), &info) != 0) return system_error("stat " + path, errno);
    if (!S_ISDIR(info.st_mode)) access &= LANDLOCK_ACCESS_FS_READ_FILE; // the rest is for directories only
    landlock_path_beneath_attr rule{};
    rule.allowed_access = access;
    rule.parent_fd = place.get();
    if (::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
        return system_error("landlock rule for " + path, errno);
    return {};
}

long landlock_version() {
    return ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

Result<bool> confine_files(const std::string& directory, const std::vector<std::string>& readable) {
    const long abi = landlock_version();
    if (abi < 1) return false;
    const uint64_t more = (abi >= 2 ? refer_access : 0) | (abi >= 3 ? truncate_access : 0);
    landlock_ruleset_attr ruleset{};
    ruleset.handled_access_fs = read_access | write_access | other_access | more;
    const Fd rules(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &ruleset, sizeof ruleset, 0)));
    if (!rules.is_open()) return system_error("landlock", errno);
    TRY(allow(rules.get(), directory, read_access | write_access | more));
    for (const std::string& path : readable) TRY(allow(rules.get(), path, read_access));
    if (::syscall(SYS_landlock_restrict_self, rules.get(), 0) != 0) return system_error("landlock", errno);
    return true;
}

// What computing, threads, files and responses on the socket need. Everything else is refused: new programs and
// processes, networks, mounts and their new relatives (open_tree, move_mount, fsopen), io_uring, which would do them
// all unseen, other processes, modules, keys, namespaces, and whatever the next kernel brings.
constexpr int allowed[] = {
    // memory
    SCMP_SYS(brk),
    SCMP_SYS(mmap),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(mprotect),
    SCMP_SYS(madvise),
    SCMP_SYS(mincore),
    SCMP_SYS(msync),
    SCMP_SYS(mlock),
    SCMP_SYS(munlock),
    SCMP_SYS(membarrier),
    SCMP_SYS(rseq),
    // threads and time
    SCMP_SYS(futex),
    SCMP_SYS(futex_waitv),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(get_robust_list),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(arch_prctl),
    SCMP_SYS(prctl),
    SCMP_SYS(gettid),
    SCMP_SYS(getpid),
    SCMP_SYS(getppid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(getcpu),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_getparam),
    SCMP_SYS(sched_getscheduler),
    SCMP_SYS(sched_get_priority_max),
    SCMP_SYS(sched_get_priority_min),
    SCMP_SYS(getpriority),
    SCMP_SYS(getrlimit),
    SCMP_SYS(getrusage),
    SCMP_SYS(times),
    SCMP_SYS(sysinfo),
    SCMP_SYS(uname),
    SCMP_SYS(capget),
    SCMP_SYS(getrandom),
    SCMP_SYS(nanosleep),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(timer_create),
    SCMP_SYS(timer_settime),
    SCMP_SYS(timer_gettime),
    SCMP_SYS(timer_getoverrun),
    SCMP_SYS(timer_delete),
    SCMP_SYS(timerfd_create),
    SCMP_SYS(timerfd_settime),
    SCMP_SYS(timerfd_gettime),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(restart_syscall),
    // signals within the process
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigtimedwait),
    SCMP_SYS(rt_sigpending),
    SCMP_SYS(sigaltstack),
    // descriptors
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(readv),
    SCMP_SYS(writev),
    SCMP_SYS(pread64),
    SCMP_SYS(pwrite64),
    SCMP_SYS(preadv),
    SCMP_SYS(pwritev),
    SCMP_SYS(preadv2),
    SCMP_SYS(pwritev2),
    SCMP_SYS(lseek),
    SCMP_SYS(close),
    SCMP_SYS(close_range),
    SCMP_SYS(dup),
    SCMP_SYS(dup2),
    SCMP_SYS(dup3),
    SCMP_SYS(fcntl),
    SCMP_SYS(pipe),
    SCMP_SYS(pipe2),
    SCMP_SYS(eventfd2),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(select),
    SCMP_SYS(pselect6),
    SCMP_SYS(epoll_create1),
    SCMP_SYS(epoll_ctl),
    SCMP_SYS(epoll_wait),
    SCMP_SYS(epoll_pwait),
    SCMP_SYS(io_setup),
    SCMP_SYS(io_destroy),
    SCMP_SYS(io_submit),
    SCMP_SYS(io_getevents),
    SCMP_SYS(io_cancel),
    // files, which Landlock restricts to the directory
    SCMP_SYS(open),
    SCMP_SYS(openat),
    SCMP_SYS(creat),
    SCMP_SYS(stat),
    SCMP_SYS(fstat),
    SCMP_SYS(lstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),
    SCMP_SYS(statfs),
    SCMP_SYS(fstatfs),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(getdents64),
    SCMP_SYS(getcwd),
    SCMP_SYS(mkdir),
    SCMP_SYS(mkdirat),
    SCMP_SYS(rmdir),
    SCMP_SYS(unlink),
    SCMP_SYS(unlinkat),
    SCMP_SYS(rename),
    SCMP_SYS(renameat),
    SCMP_SYS(renameat2),
    SCMP_SYS(link),
    SCMP_SYS(linkat),
    SCMP_SYS(symlink),
    SCMP_SYS(symlinkat),
    SCMP_SYS(chmod),
    SCMP_SYS(fchmod),
    SCMP_SYS(fchmodat),
    SCMP_SYS(umask),
    SCMP_SYS(utimensat),
    SCMP_SYS(truncate),
    SCMP_SYS(ftruncate),
    SCMP_SYS(fallocate),
    SCMP_SYS(fadvise64),
    SCMP_SYS(readahead),
    SCMP_SYS(fsync),
    SCMP_SYS(fdatasync),
    SCMP_SYS(syncfs),
    SCMP_SYS(sync_file_range),
    SCMP_SYS(flock),
    SCMP_SYS(sendfile),
    SCMP_SYS(copy_file_range),
    // the socket that it listens on already
    SCMP_SYS(accept),
    SCMP_SYS(accept4),
    SCMP_SYS(recvfrom),
    SCMP_SYS(sendto),
    SCMP_SYS(recvmsg),
    SCMP_SYS(sendmsg),
    SCMP_SYS(getsockopt),
    SCMP_SYS(setsockopt),
    SCMP_SYS(getsockname),
    SCMP_SYS(getpeername),
    SCMP_SYS(shutdown),
};

// What is not allowed is refused with an error, so that the engine reports it instead of dying. ENOSYS for what is
// unknown: the library then does without.
Result<> confine_system_calls() {
    const scmp_filter_ctx filter = ::seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    if (!filter) return internal("seccomp cannot be set up");
    int failed = 0;
    for (const int call : allowed) failed |= ::seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
    failed |= ::seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 0);
    for (const int call : {SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(kill), SCMP_SYS(perf_event_open)})
        failed |= ::seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0);
    // Threads by clone are fine, processes and namespaces are not. clone3's flags cannot be seen: glibc falls back.
    failed |= ::seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                                 SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | namespaces, CLONE_THREAD));
    failed |= ::seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(setpriority), 0); // as for ordinary users
    failed |= ::seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(sched_setaffinity), 1, SCMP_A0(SCMP_CMP_EQ, 0));
    // Only this process: its threads, its limits.
    const auto self = static_cast<scmp_datum_t>(::getpid());
    for (const int call : {SCMP_SYS(tgkill), SCMP_SYS(rt_tgsigqueueinfo)})
        failed |= ::seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, SCMP_A0(SCMP_CMP_EQ, self));
    for (const scmp_datum_t pid : {scmp_datum_t{0}, self})
        failed |= ::seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1, SCMP_A0(SCMP_CMP_EQ, pid));
    for (const scmp_datum_t request : {TCGETS, FIONREAD, FIONBIO, FIOCLEX})
        failed |= ::seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1, SCMP_A1(SCMP_CMP_EQ, request));
    if (failed == 0) failed = ::seccomp_load(filter);
    ::seccomp_release(filter);
    if (failed != 0) return internal("seccomp refused the filter");
    return {};
}

// Continues with a warning where the owner allowed it.
Result<bool> required(Result<bool> done, std::string_view what, bool may_fail) {
    if (done.ok() && done.value()) return true;
    const std::string why = done.ok() ? "this kernel does not have it" : done.error().message;
    if (!may_fail)
        return unavailable("the engine cannot be confined by " + std::string(what) + ": " + why +
                           "; see engine_unconfined in docs/config.md");
    log(Level::warning, "engine is not confined", {{"by", what}, {"why", why}});
    return false;
}

} // namespace

bool can_confine_files() {
    return landlock_version() >= 1;
}

Result<Confinement> confine_engine(const ConfinementOptions& options) {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return system_error("no_new_privs", errno);
    Confinement confinement;
    auto files = confine_files(options.directory, options.readable);
    confinement.files = TRY(required(std::move(files), "Landlock", options.may_fail));
    auto calls = confine_system_calls();
    confinement.system_calls = TRY(required(calls.ok() ? Result<bool>(true) : Result<bool>(std::move(calls).error()),
                                            "seccomp", options.may_fail));
    return confinement;
}

} // namespace hone::telemetry
