// The walls of helpers without namespaces, attacked from inside by one that runs arbitrary code. Each attack is also
// made without the walls, where it must succeed: otherwise it would prove nothing.
#include "sandbox/helper/helper.h"

#include "base/text.h"
#include "sandbox/local/test_folder.h"
#include "sandbox/wall/channel.h"
#include "sandbox/wall/kernel.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <functional>
#include <grp.h>
#include <linux/io_uring.h>
#include <map>
#include <netinet/in.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>

using namespace hone;
using namespace hone::sandbox;

namespace {

constexpr unsigned ordinary_user = 54321;

// The machine as an attacker finds it: a folder that it may write to, one that it may read, and next to them files and
// a process of the same user that it must not reach.
struct Surroundings {
    Folder folder;
    std::string root = folder.path + "/root", given = folder.path + "/given", secret = folder.path + "/secret";
    pid_t victim = 0;

    Surroundings() {
        for (const std::string& path : {root, given, secret}) REQUIRE(make_directories(path).ok());
        REQUIRE(write_file(given + "/file", "given").ok());
        REQUIRE(write_file(secret + "/canary", "canary").ok());
        REQUIRE(write_file(root + "/program", "#!/bin/sh\nexit 0\n", 0700).ok());
        if (::geteuid() == 0)
            for (const std::string& path :
                 {folder.path, root, given, secret, given + "/file", secret + "/canary", root + "/program"})
                REQUIRE(::chown(path.c_str(), ordinary_user, ordinary_user) == 0);
        int ends[2];
        REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
        const Fd reader(ends[0]);
        Fd writer(ends[1]);
        victim = ::fork();
        if (victim == 0) {
            become_ordinary();
            ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
            writer.reset();
            for (;;) ::pause();
        }
        writer.reset();
        char nothing = 0;
        REQUIRE(::read(reader.get(), &nothing, 1) == 0); // it is what it should be
    }
    Surroundings(const Surroundings&) = delete;
    Surroundings& operator=(const Surroundings&) = delete;
    ~Surroundings() {
        ::kill(victim, SIGKILL);
        ::waitpid(victim, nullptr, 0);
    }
    static void become_ordinary() {
        if (::geteuid() != 0) return;
        if (::setgroups(0, nullptr) != 0 || ::setresgid(ordinary_user, ordinary_user, ordinary_user) != 0 ||
            ::setresuid(ordinary_user, ordinary_user, ordinary_user) != 0)
            ::_exit(99);
        ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); // as a process that was always of this user
    }
};

long outcome(long result) {
    return result >= 0 ? 0 : errno;
}

long open_and_close(const std::string& path, int flags) {
    const Fd file(::open(path.c_str(), flags | O_CLOEXEC, 0600));
    return file.is_open() ? 0 : errno;
}

long make_socket(int family, int type, int protocol) {
    const Fd made(::socket(family, type, protocol));
    return made.is_open() ? 0 : errno;
}

long set_descriptor_owner(int command, long value) {
    int ends[2];
    if (::pipe(ends) != 0) return errno;
    const Fd first(ends[0]), second(ends[1]);
    return outcome(::fcntl(first.get(), command, value));
}

// In a child of its own: it may take the process along. The exit code of what was executed, or an errno.
long in_a_child(const std::function<long()>& act) {
    const pid_t child = ::fork();
    if (child < 0) return errno;
    if (child == 0) ::_exit(static_cast<int>(act()));
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

long execute(const char* path, std::vector<const char*> arguments) {
    return in_a_child([&]() -> long {
        arguments.push_back(nullptr);
        const char* none[] = {nullptr};
        ::execve(path, const_cast<char* const*>(arguments.data()), const_cast<char* const*>(none));
        return errno;
    });
}

long raw_clone(unsigned long flags) {
    const long child = ::syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (child < 0) return errno;
    if (child == 0) ::_exit(0);
    ::waitpid(static_cast<pid_t>(child), nullptr, 0);
    return 0;
}

using Attacks = std::vector<std::pair<std::string, std::function<long()>>>;

// 0: it succeeded. Nothing here harms when it does, so that it can be tried without walls.
Attacks attacks_on(const Surroundings& around) {
    const std::string secret = around.secret, canary = secret + "/canary", file = around.given + "/file",
                      root = around.root;
    const pid_t victim = around.victim;
    const std::string proc = "/proc/" + std::to_string(victim);
    Attacks list;
    const auto add = [&](std::string name, std::function<long()> act) { list.emplace_back(std::move(name), act); };
    add("read a file of the user", [=] { return open_and_close(canary, O_RDONLY); });
    add("read it by a path upwards", [=] { return open_and_close(root + "/../secret/canary", O_RDONLY); });
    add("read it through a link", [=] {
        if (::symlink(canary.c_str(), (root + "/link").c_str()) != 0 && errno != EEXIST) return long{errno};
        return open_and_close(root + "/link", O_RDONLY);
    });
    add("write it", [=] { return open_and_close(canary, O_WRONLY); });
    add("list its folder", [=] { return open_and_close(secret, O_RDONLY | O_DIRECTORY); });
    add("create a file beside it", [=] { return open_and_close(secret + "/new", O_WRONLY | O_CREAT); });
    add("remove that", [=] { return outcome(::unlink((secret + "/new").c_str())); });
    add("make a folder beside it", [=] { return outcome(::mkdir((secret + "/folder").c_str(), 0700)); });
    add("truncate by path", [=] { return outcome(::truncate(file.c_str(), 5)); });
    add("truncate what may be read", [=] { return open_and_close(file, O_RDONLY | O_TRUNC); });
    add("write what may be read", [=] { return open_and_close(file, O_WRONLY); });
    add("link it into the own folder", [=] { return outcome(::link(canary.c_str(), (root + "/hard").c_str())); });
    add("lock what may be read", [=] {
        const Fd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
        return outcome(::flock(opened.get(), LOCK_EX | LOCK_NB));
    });
    add("lease what may be read", [=] {
        const Fd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
        return outcome(::fcntl(opened.get(), F_SETLEASE, F_RDLCK));
    });
    add("watch it", [=] {
        const Fd watcher(::inotify_init1(IN_CLOEXEC));
        return watcher.is_open() ? outcome(::inotify_add_watch(watcher.get(), secret.c_str(), IN_ALL_EVENTS)) : errno;
    });
    add("set an attribute", [=] { return outcome(::setxattr(canary.c_str(), "user.hone", "x", 1, 0)); });
    add("read /etc/passwd", [] { return open_and_close("/etc/passwd", O_RDONLY); });
    add("write to /tmp", [=] {
        const long failed = open_and_close("/tmp/hone-helper-test", O_WRONLY | O_CREAT);
        (void)::unlink("/tmp/hone-helper-test");
        return failed;
    });
    for (const char* name : {"/environ", "/maps", "/cmdline", "/status", "/fd", "/root"})
        add("open its /proc" + std::string(name), [=] { return open_and_close(proc + name, O_RDONLY); });
    add("read where its program is", [=] {
        char text[4096];
        return outcome(::readlink((proc + "/exe").c_str(), text, sizeof text));
    });
    add("open the own /proc", [] { return open_and_close("/proc/self/environ", O_RDONLY); });
    add("signal it", [=] { return outcome(::kill(victim, 0)); });
    add("signal its thread", [=] { return outcome(::syscall(SYS_tgkill, victim, victim, 0)); });
    add("signal it by a descriptor", [=] {
        const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, victim, 0)));
        return process.is_open() ? outcome(kernel::signal_process(process.get(), 0)) : errno;
    });
    add("queue a signal", [=] {
        siginfo_t info{};
        info.si_code = SI_QUEUE;
        return outcome(::syscall(SYS_rt_sigqueueinfo, victim, 0, &info));
    });
    add("own a descriptor for it", [=] { return set_descriptor_owner(F_SETOWN, victim); });
    add("choose the signal of a descriptor", [] { return set_descriptor_owner(F_SETSIG, SIGKILL); });
    add("ask for signals", [] { return set_descriptor_owner(F_SETFL, O_ASYNC); });
    add("trace it", [=] {
        if (::ptrace(PTRACE_SEIZE, victim, nullptr, nullptr) != 0) return long{errno};
        ::ptrace(PTRACE_INTERRUPT, victim, nullptr, nullptr);
        ::waitpid(victim, nullptr, __WALL);
        return outcome(::ptrace(PTRACE_DETACH, victim, nullptr, nullptr));
    });
    add("change its limits", [=] {
        rlimit now{};
        if (::syscall(SYS_prlimit64, victim, RLIMIT_CORE, nullptr, &now) != 0) return long{errno};
        return outcome(::syscall(SYS_prlimit64, victim, RLIMIT_CORE, &now, nullptr));
    });
    add("change its priority", [=] { return outcome(::setpriority(PRIO_PROCESS, static_cast<id_t>(victim), 19)); });
    add("change its processors", [=] {
        cpu_set_t all;
        ::sched_getaffinity(0, sizeof all, &all);
        return outcome(::sched_setaffinity(victim, sizeof all, &all));
    });
    add("change its scheduling", [=] {
        sched_param none{};
        return outcome(::sched_setscheduler(victim, SCHED_BATCH, &none));
    });
    add("begin a session", [] { return in_a_child([] { return outcome(::setsid()); }); });
    add("begin a process group", [] { return in_a_child([] { return outcome(::setpgid(0, 0)); }); });
    add("begin as a sibling", [] { return in_a_child([] { return raw_clone(CLONE_PARENT); }); });
    add("make a user namespace", [] { return raw_clone(CLONE_NEWUSER); });
    add("unshare", [] { return in_a_child([] { return outcome(::unshare(CLONE_FS | CLONE_NEWUSER)); }); });
    for (const auto& [name, family, type] :
         std::vector<std::tuple<std::string, int, int>>{{"TCP", AF_INET, SOCK_STREAM},
                                                        {"TCP 6", AF_INET6, SOCK_STREAM},
                                                        {"UDP", AF_INET, SOCK_DGRAM},
                                                        {"Unix", AF_UNIX, SOCK_STREAM},
                                                        {"Unix datagrams", AF_UNIX, SOCK_DGRAM},
                                                        {"netlink", AF_NETLINK, SOCK_RAW}})
        add("a socket: " + name, [family = family, type = type] { return make_socket(family, type, 0); });
    add("a pair of datagram sockets", [] {
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return long{errno};
        const Fd first(ends[0]), second(ends[1]);
        return 0l;
    });
    add("System V memory", [] {
        const int made = ::shmget(IPC_PRIVATE, 4096, 0600);
        return made < 0 ? long{errno} : outcome(::shmctl(made, IPC_RMID, nullptr));
    });
    add("System V queues", [] {
        const int made = ::msgget(IPC_PRIVATE, 0600);
        return made < 0 ? long{errno} : outcome(::msgctl(made, IPC_RMID, nullptr));
    });
    add("a memory file", [] {
        const Fd made(::memfd_create("x", MFD_CLOEXEC));
        return made.is_open() ? 0l : long{errno};
    });
    add("execute Python", [] { return execute("/usr/bin/python3", {"python3", "-c", ""}); });
    add("execute what it wrote", [=] { return execute((root + "/program").c_str(), {"program"}); });
    add("turn off randomisation", [] { return outcome(::personality(ADDR_NO_RANDOMIZE)); });
    return list;
}

// Refused to every ordinary user, or on some machines: tried inside only.
Attacks further_attacks() {
    static io_uring_params ring{};
    static clone_args clone{};
    Attacks list;
    const auto call = [&](const char* name, long number, long a = 0, long b = 0, long c = 0) {
        list.emplace_back(name, [=] { return outcome(::syscall(number, a, b, c, 0, 0)); });
    };
    call("io_uring", SYS_io_uring_setup, 8, reinterpret_cast<long>(&ring));
    call("userfaultfd", SYS_userfaultfd, 1);
    call("bpf", SYS_bpf);
    call("perf", SYS_perf_event_open);
    call("keys", SYS_keyctl, 0, -3);
    call("a mount", SYS_mount);
    call("a new mount", SYS_fsopen, reinterpret_cast<long>("tmpfs"));
    call("a tree", SYS_open_tree, AT_FDCWD, reinterpret_cast<long>("/"), 1);
    call("pivot_root", SYS_pivot_root);
    call("chroot", SYS_chroot, reinterpret_cast<long>("/"));
    call("setns", SYS_setns);
    call("clone3", SYS_clone3, reinterpret_cast<long>(&clone), sizeof(clone_args));
    call("fanotify", SYS_fanotify_init);
    call("a descriptor of another", SYS_pidfd_getfd);
    call("memory of another", SYS_process_vm_readv);
    call("a further filter", SYS_seccomp, 1);
    call("execveat", SYS_execveat, AT_FDCWD, reinterpret_cast<long>("/usr/bin/env"));
    call("a receive", SYS_recvmsg, 0);
    call("a send", SYS_sendmsg, 1);
    call("a file handle", SYS_name_to_handle_at, AT_FDCWD, reinterpret_cast<long>("/"));
    call("a device", SYS_mknodat, AT_FDCWD, reinterpret_cast<long>("x"), S_IFIFO | 0600);
    call("another user", SYS_setuid, 0);
    call("another group", SYS_setgid, 0);
    call("capset", SYS_capset);
    call("reboot", SYS_reboot);
    call("sync of everything", SYS_sync);
    return list;
}

// What it must be able to do.
Attacks duties_of(const Surroundings& around) {
    const std::string root = around.root, file = around.given + "/file";
    return {
        {"read what it is given", [=] { return open_and_close(file, O_RDONLY); }},
        {"write its folder", [=] { return open_and_close(root + "/own", O_WRONLY | O_CREAT | O_TRUNC); }},
        {"make a folder", [=] { return outcome(::mkdir((root + "/folder").c_str(), 0700)); }},
        {"move a file", [=] { return outcome(::rename((root + "/own").c_str(), (root + "/folder/own").c_str())); }},
        {"write to nothing", [] { return open_and_close("/dev/null", O_WRONLY | O_TRUNC); }},
        {"random numbers", [] { return open_and_close("/dev/urandom", O_RDONLY); }},
        {"run git",
         [] {
             return execute("/usr/bin/git", {"git", "check-ref-format", "refs/heads/x"});
         }},
        {"run a shell with tools",
         [] {
             return execute("/bin/sh", {"sh", "-c", "PATH=/usr/bin; test $(echo abc | cut -c 2) = b"});
         }},
    };
}

using Outcomes = std::map<std::string, long>;

// Runs them in a process of an ordinary user, behind the walls or not, and returns what each led to.
Outcomes carry_out(const Surroundings& around, const Attacks& list, bool behind_walls) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        Surroundings::become_ordinary();
        ::setsid();
        ::setpgid(0, 0);
        const int report = ends[1];
        if (behind_walls) {
            FolderRules rules = helper_rules();
            rules.readable.push_back(around.given);
            rules.writable.push_back(around.root);
            // As little as there is to inherit.
            const auto walled = wall_in_helper(rules, Limits(), HelperFilter::Network::none);
            if (!walled.ok() || !lock_helper(HelperFilter::build(HelperFilter::Network::none)).ok()) ::_exit(98);
        }
        for (size_t i = 0; i < list.size(); ++i) {
            const long result[2] = {static_cast<long>(i), list[i].second()};
            if (::write(report, result, sizeof result) != sizeof result) ::_exit(97);
        }
        ::_exit(0);
    }
    ::close(ends[1]);
    const Fd reader(ends[0]);
    Outcomes found;
    long result[2];
    while (::read(reader.get(), result, sizeof result) == sizeof result)
        found[list[static_cast<size_t>(result[0])].first] = result[1];
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) == 0);
    REQUIRE(found.size() == list.size());
    return found;
}

} // namespace

TEST_CASE("a helper without namespaces reaches nothing of its user, though each attack works without walls") {
    Surroundings free_ground;
    const Attacks in_the_open = attacks_on(free_ground);
    for (const auto& [name, failed] : carry_out(free_ground, in_the_open, false))
        CHECK_MESSAGE(failed == 0,
                      name << " fails even without walls: " << std::string(std::strerror(static_cast<int>(failed))));
    Surroundings around;
    for (const auto& [name, failed] : carry_out(around, attacks_on(around), true))
        CHECK_MESSAGE(failed != 0, name << " works behind the walls");
    CHECK(read_file(around.secret + "/canary").value() == "canary");
    CHECK(read_file(around.given + "/file").value() == "given");
}

TEST_CASE("a helper without namespaces has no call that reaches past its process") {
    Surroundings around;
    for (const auto& [name, failed] : carry_out(around, further_attacks(), true))
        CHECK_MESSAGE((failed == EPERM || failed == ENOSYS), name << ": " << failed);
}

TEST_CASE("a helper without namespaces can do its work") {
    Surroundings around;
    for (const auto& [name, failed] : carry_out(around, duties_of(around), true))
        CHECK_MESSAGE(failed == 0, name << ": " << std::string(std::strerror(static_cast<int>(failed))));
}

TEST_CASE("modes, owners and times that a helper sets stay as they were") {
    Surroundings around;
    const std::string canary = around.secret + "/canary", file = around.given + "/file";
    struct stat before {};
    REQUIRE(::stat(canary.c_str(), &before) == 0);
    const Attacks list{
        {"chmod", [=] { return outcome(::chmod(canary.c_str(), 0777)); }},
        {"fchmod",
         [=] {
             const Fd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
             return outcome(::fchmod(opened.get(), 0777));
         }},
        {"chown", [=] { return outcome(::chown(canary.c_str(), ::getuid(), ::getgid())); }},
        {"utimensat", [=] { return outcome(::utimensat(AT_FDCWD, canary.c_str(), nullptr, 0)); }},
    };
    for (const auto& [name, failed] : carry_out(around, list, true)) CHECK_MESSAGE(failed == 0, name << ": " << failed);
    struct stat after {};
    REQUIRE(::stat(canary.c_str(), &after) == 0);
    CHECK(after.st_mode == before.st_mode);
    CHECK(after.st_mtim.tv_nsec == before.st_mtim.tv_nsec);
    CHECK(after.st_mtim.tv_sec == before.st_mtim.tv_sec);
    struct stat given {};
    REQUIRE(::stat(file.c_str(), &given) == 0);
    CHECK((given.st_mode & 0777) == 0600);
}

TEST_CASE("a helper's sockets are those that it is handed over, whatever it names") {
    int pair[2], ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    Folder folder;
    const pid_t child = ::fork();
    if (child == 0) {
        ::chown(folder.path.c_str(), ordinary_user, ordinary_user);
        Surroundings::become_ordinary();
        FolderRules rules = helper_rules();
        rules.writable.push_back(folder.path);
        auto notices = wall_in_helper(rules, Limits(), HelperFilter::Network::handed_over);
        if (!notices.ok() || !send_packet(pair[1], "n", std::vector<int>{notices.value().get()}).ok()) ::_exit(98);
        if (!lock_helper(HelperFilter::build(HelperFilter::Network::handed_over)).ok()) ::_exit(97);
        std::string said;
        const Fd connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
        sockaddr_in elsewhere{};
        elsewhere.sin_family = AF_INET;
        elsewhere.sin_port = htons(443);
        elsewhere.sin_addr.s_addr = htonl(0x08080808);
        said += ::connect(connection.get(), reinterpret_cast<sockaddr*>(&elsewhere), sizeof elsewhere) == 0 ? "c" : "-";
        char word[6] = {};
        said += ::recv(connection.get(), word, 5, MSG_WAITALL) == 5 ? word : "-";
        for (const auto& [family, type] :
             {std::pair{AF_INET, SOCK_DGRAM}, {AF_INET6, SOCK_STREAM}, {AF_UNIX, SOCK_STREAM}})
            said += ::socket(family, type, 0) < 0 ? "r" : "GOT";
        said += ::bind(connection.get(), reinterpret_cast<sockaddr*>(&elsewhere), sizeof elsewhere) < 0 ? "r" : "GOT";
        // The second one: nobody accepts it.
        said += ::socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == ECONNREFUSED ? "r" : "GOT";
        (void)!::write(ends[1], said.data(), said.size());
        ::_exit(0);
    }
    ::close(ends[1]);
    ::close(pair[1]);
    const Fd reader(ends[0]), ours(pair[0]);
    auto message = receive_packet(ours.get(), 16);
    REQUIRE(message.ok());
    REQUIRE(message.value().descriptors.size() == 1);
    const Fd notices = std::move(message.value().descriptors[0]);
    std::vector<Fd> kept;
    for (int served = 0; served < 2; ++served) {
        pollfd state{notices.get(), POLLIN, 0};
        REQUIRE(::poll(&state, 1, 60'000) == 1);
        HandOver::serve(notices, [&]() -> Result<Fd> {
            if (served == 1) return unavailable("no more");
            int made[2];
            REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, made) == 0);
            kept.emplace_back(made[0]);
            REQUIRE(::write(made[0], "hello", 5) == 5);
            return Fd(made[1]);
        });
    }
    char said[64] = {};
    REQUIRE(::read(reader.get(), said, sizeof said - 1) > 0);
    CHECK(std::string(said) == "chellorrrrr");
    ::waitpid(child, nullptr, 0);
}
