#include "sandbox/wall/enter.h"

#include "init/wire.h"
#include "sandbox/wall/access_rules.h"
#include "sandbox/wall/cgroup.h"
#include "sandbox/wall/channel.h"
#include "sandbox/wall/kernel.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <span>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace hone::sandbox {

namespace {

constexpr size_t longest_filter = BPF_MAXINSNS * sizeof(sock_filter);

// Writable places; everything else of the root is read-only.
constexpr const char* writable_places[] = {"workspace", "home/worker", "tmp", "var/tmp", "run"};

Result<> expect(bool good, const char* what) {
    if (good) return {};
    return system_error(what, errno);
}

// The kernel's calls, not glibc's: those also signal every thread in glibc's list, and a child of a bare clone3 knows
// the threads of its parent, which do not exist here.
Result<> take_identity() {
    TRY(expect(::syscall(SYS_setresgid, inside_uid, inside_uid, inside_uid) == 0, "take group 1000"));
    TRY(expect(::syscall(SYS_setresuid, inside_uid, inside_uid, inside_uid) == 0, "take user 1000"));
    ::umask(0022);
    return expect(::sethostname("sandbox", 7) == 0, "set the host name");
}

// Mounts in the order of a list, as descriptors: received from the shim or made here.
class MountSource {
public:
    MountSource(MountMaker maker, std::vector<Fd> received) : m_maker(maker), m_received(std::move(received)) {}
    Result<Fd> next(const TreeMount& mount) {
        if (m_maker == MountMaker::child) return open_tree_mount(mount, -1);
        if (m_used >= m_received.size()) return internal("the shim sent too few mounts");
        return std::move(m_received[m_used++]);
    }

private:
    const MountMaker m_maker;
    std::vector<Fd> m_received;
    size_t m_used = 0;
};

Result<> configure(int context, const char* key, const std::string& value) {
    if (::fsconfig(context, FSCONFIG_SET_STRING, key, value.c_str(), 0) == 0) return {};
    return system_error(std::string("set ") + key + " of a file system", errno);
}

// One tmpfs holds all that may be written: its size is the disk limit, its pages count as memory. Made small, and given
// its size with the claim; a tmpfs without a limit on inodes could not get one later.
Result<Fd> make_scratch() {
    const Fd context(::fsopen("tmpfs", FSOPEN_CLOEXEC));
    TRY(expect(context.is_open(), "open tmpfs"));
    TRY(configure(context.get(), "size", "16m"));
    TRY(configure(context.get(), "nr_inodes", "1024"));
    TRY(configure(context.get(), "mode", "0755"));
    TRY(expect(::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0, "create tmpfs"));
    Fd mount(::fsmount(context.get(), FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
    TRY(expect(mount.is_open(), "mount tmpfs"));
    return mount;
}

Result<> limit_scratch(int scratch, const Limits& limits) {
    const Fd context(::fspick(scratch, "", FSPICK_CLOEXEC | FSPICK_EMPTY_PATH));
    TRY(expect(context.is_open(), "open tmpfs"));
    TRY(configure(context.get(), "size", std::to_string(*limits.disk_bytes)));
    TRY(configure(context.get(), "nr_inodes", std::to_string(*limits.disk_inodes)));
    return expect(::fsconfig(context.get(), FSCONFIG_CMD_RECONFIGURE, nullptr, nullptr, 0) == 0, "limit tmpfs");
}

// Puts the scratch over the current directory (the sandbox's own state directory, in this mount namespace only) and
// makes it the current directory.
Result<> enter_scratch(int scratch) {
    TRY(expect(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "make mounts private"));
    TRY(expect(::move_mount(scratch, "", AT_FDCWD, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) == 0,
               "attach tmpfs"));
    TRY(expect(::fchdir(scratch) == 0, "enter tmpfs"));
    for (const char* name : {"capture", "empty", "shm"}) TRY(expect(::mkdir(name, 0755) == 0, "fill tmpfs"));
    return expect(::chmod("shm", 01777) == 0, "fill tmpfs");
}

// The overlay at `root`, a directory of the scratch.
Result<> mount_overlay(const char* root, const std::vector<TreeMount>& lowers, const std::vector<TreeMount>& capture,
                       MountSource& source) {
    for (const char* part : {"", "-lower", "-upper", "-work"})
        TRY(expect(::mkdir((std::string(root) + part).c_str(), 0755) == 0, "fill tmpfs"));
    std::string lower_list;
    for (size_t i = 0; i < lowers.size(); ++i) {
        const std::string place = std::string(root) + "-lower/" + std::to_string(i);
        TRY(expect(::mkdir(place.c_str(), 0755) == 0, "fill tmpfs"));
        const Fd mount = TRY(source.next(lowers[i]));
        const Fd point(::open(place.c_str(), O_PATH | O_CLOEXEC));
        TRY(attach_mount(mount.get(), point.get(), place));
        lower_list += (i == 0 ? "" : ":") + place;
    }
    std::string upper = std::string(root) + "-upper", work = std::string(root) + "-work";
    if (!capture.empty()) {
        const Fd mount = TRY(source.next(capture[0]));
        const Fd point(::open("capture", O_PATH | O_CLOEXEC));
        TRY(attach_mount(mount.get(), point.get(), "capture"));
        upper = "capture/upper";
        work = "capture/work";
    }
    // userxattr: without it removals fail with EIO inside a user namespace.
    const std::string options = "lowerdir=" + lower_list + ",upperdir=" + upper + ",workdir=" + work + ",userxattr";
    return expect(::mount("root", root, "overlay", MS_NOSUID | MS_NODEV, options.c_str()) == 0,
                  "mount the overlay root");
}

Result<> mount_kernel_files(const std::vector<std::string>& masks, int root) {
    const auto place = [&](const char* name) { return kernel::open_beneath(root, name, O_PATH); };
    {
        const Fd context(::fsopen("proc", FSOPEN_CLOEXEC));
        TRY(expect(context.is_open(), "open proc"));
        TRY(configure(context.get(), "hidepid", "invisible"));
        TRY(expect(::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0, "create proc"));
        const Fd mount(::fsmount(context.get(), FSMOUNT_CLOEXEC,
                                 MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY));
        TRY(expect(mount.is_open(), "mount proc"));
        TRY(attach_mount(mount.get(), place("proc").get(), "proc"));
    }
    {
        const Fd context(::fsopen("devpts", FSOPEN_CLOEXEC));
        TRY(expect(context.is_open(), "open devpts"));
        TRY(configure(context.get(), "ptmxmode", "0666"));
        TRY(configure(context.get(), "mode", "0620"));
        TRY(expect(::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0, "create devpts"));
        const Fd mount(::fsmount(context.get(), FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC));
        TRY(expect(mount.is_open(), "mount devpts"));
        TRY(attach_mount(mount.get(), place("dev/pts").get(), "dev/pts"));
    }
    const Fd shm(::open_tree(AT_FDCWD, "shm", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
    TRY(expect(shm.is_open(), "mount /dev/shm"));
    TRY(attach_mount(shm.get(), place("dev/shm").get(), "dev/shm"));
    for (const std::string& name : masks) {
        // Opened without O_PATH tricks: the entry is the kernel's own, and the mount hides it from now on.
        const Fd target = kernel::open_beneath(root, ("proc/" + name).c_str(), O_PATH);
        if (!target.is_open()) continue;
        struct stat status {};
        TRY(expect(::fstat(target.get(), &status) == 0, "read an entry of proc"));
        const Fd mask(S_ISDIR(status.st_mode) ? ::open_tree(AT_FDCWD, "empty", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC)
                                              : ::open_tree(root, "dev/null", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
        TRY(expect(mask.is_open(), "mask an entry of proc"));
        TRY(expect(kernel::set_mount_attributes(mask.get(), MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC, -1, false) == 0,
                   "mask an entry of proc"));
        TRY(attach_mount(mask.get(), target.get(), "proc/" + name));
    }
    return {};
}

Result<> mount_other(const TreeMount& mount, MountSource& source, int root) {
    const Fd tree = TRY(source.next(mount));
    struct stat status {};
    TRY(expect(::fstat(tree.get(), &status) == 0, "read a mount"));
    const Fd place = TRY(open_mount_point(root, mount.target, !S_ISDIR(status.st_mode)));
    return attach_mount(tree.get(), place.get(), mount.target);
}

Result<> mount_others(std::span<const TreeMount> mounts, MountSource& source, int root) {
    for (const TreeMount& mount : mounts) TRY(mount_other(mount, source, root));
    return {};
}

// The home of a thread: what the layers of the root have there, below what the thread's sandboxes wrote, which is in
// its volume. Both can hold what an earlier worker left: no link is followed, and nothing runs yet that could change
// them. `name`: of the root in the scratch.
Result<> mount_home(const std::string& name, size_t lowers, int root) {
    const std::string upper = "workspace/.hone/home", work = "workspace/.hone/home-work";
    for (const std::string& place : {upper, work}) TRY(open_mount_point(root, place, false));
    std::string lower_list;
    for (size_t i = 0; i < lowers; ++i) {
        const std::string layer = name + "-lower/" + std::to_string(i);
        const Fd directory(::open(layer.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (!kernel::open_beneath(directory.get(), "home/worker", O_PATH | O_DIRECTORY).is_open()) continue;
        lower_list += (lower_list.empty() ? "" : ":") + layer + "/home/worker";
    }
    TRY(expect(!lower_list.empty(), "find the home of the root"));
    const std::string options =
        "lowerdir=" + lower_list + ",upperdir=" + name + "/" + upper + ",workdir=" + name + "/" + work + ",userxattr";
    TRY(open_mount_point(root, "home/worker", false));
    return expect(::mount("home", (name + "/home/worker").c_str(), "overlay", MS_NOSUID | MS_NODEV, options.c_str()) ==
                      0,
                  "mount the home");
}

// The root becomes read-only; the writable places are mounts of their own that stay writable.
Result<> seal_root(int root) {
    std::vector<std::pair<const char*, Fd>> open;
    for (const char* name : writable_places) {
        const Fd place = kernel::open_beneath(root, name, O_PATH | O_DIRECTORY);
        if (!place.is_open()) continue;
        Fd tree(::open_tree(place.get(), "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE));
        TRY(expect(tree.is_open(), "keep a place writable"));
        open.emplace_back(name, std::move(tree));
    }
    TRY(expect(kernel::set_mount_attributes(root, MOUNT_ATTR_RDONLY, -1, false) == 0, "make the root read-only"));
    for (const auto& [name, tree] : open) {
        const Fd place = kernel::open_beneath(root, name, O_PATH | O_DIRECTORY);
        TRY(attach_mount(tree.get(), place.get(), name));
    }
    return {};
}

Result<> change_root(int root) {
    TRY(expect(::fchdir(root) == 0, "enter the root"));
    TRY(expect(::syscall(SYS_pivot_root, ".", ".") == 0, "change the root"));
    TRY(expect(::umount2(".", MNT_DETACH) == 0, "drop the old root"));
    return expect(::chdir("/") == 0, "enter the root");
}

Result<> bring_loopback_up() {
    const Fd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq request{};
    std::strcpy(request.ifr_name, "lo");
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    return expect(::ioctl(any.get(), SIOCSIFFLAGS, &request) == 0, "bring the loopback up");
}

Result<std::vector<Fd>> open_network(NetworkMode mode) {
    std::vector<Fd> listeners;
    if (mode == NetworkMode::none) return listeners;
    for (const int port : broker_ports) {
        Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<uint16_t>(port));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        TRY(expect(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
                   "bind a broker port"));
        TRY(expect(::listen(listener.get(), 256) == 0, "listen on a broker port"));
        listeners.push_back(std::move(listener));
    }
    return listeners;
}

Result<> drop_privileges() {
    constexpr long no_keyring = 1; // KEYCTL_JOIN_SESSION_KEYRING
    // A kernel without keyrings has none to leave.
    if (::syscall(SYS_keyctl, no_keyring, nullptr, 0, 0, 0) < 0 && errno != ENOSYS)
        return system_error("leave the session keyring", errno);
    TRY(expect(::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0, "clear ambient capabilities"));
    for (unsigned long capability = 0; capability < 64; ++capability) {
        if (::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) != 1) continue;
        TRY(expect(::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0, "drop a bounding capability"));
    }
    TRY(expect(::prctl(PR_SET_SECUREBITS,
                       SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
                           SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED,
                       0, 0, 0) == 0,
               "lock the secure bits"));
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    const __user_cap_data_struct none[2] = {};
    TRY(expect(::syscall(SYS_capset, &header, none) == 0, "drop capabilities"));
    __user_cap_data_struct left[2] = {};
    TRY(expect(::syscall(SYS_capget, &header, left) == 0, "read capabilities"));
    for (const auto& word : left)
        if ((word.effective | word.permitted | word.inheritable) != 0)
            return internal("not all capabilities were dropped");
    return expect(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "set no_new_privs");
}

// The one of the ground, or that which the shim built meanwhile. With tracing, which is rare, it is built here.
Result<SyscallFilter> take_filter(const Ground& ground, const Claim& claim, int control) {
    if (claim.allow_ptrace) return SyscallFilter::build(SyscallFilter::Ptrace::allowed);
    if (ground.filter != nullptr) return *ground.filter;
    return SyscallFilter::of_bytes(TRY(receive_packet(control, longest_filter)).text);
}

Result<> lock_doors(const Ground& ground, const Claim& claim, int control) {
    const SyscallFilter filter = TRY(take_filter(ground, claim, control));
    std::vector<std::string> paths{"/dev"};
    for (const char* place : writable_places) paths.push_back(std::string("/") + place);
    for (const TreeMount& mount : claim.others)
        if (!mount.read_only && !mount.device) paths.push_back("/" + mount.target);
    if (!claim.capture.empty()) paths.assign(1, "/");
    std::vector<const char*> writable;
    for (const std::string& path : paths) writable.push_back(path.c_str());
    if (const int failed = restrict_files(ground.landlock_version, writable))
        return system_error("restrict files by Landlock", failed);
    const int failed = filter.load();
    return failed == 0 ? Result<>() : Result<>(system_error("load the syscall filter", failed));
}

// Descriptors: 0-2 on /dev/null, 3 the control socket, 4 hone-init itself until it is executed; nothing else.
Result<> arrange_descriptors(int init_program, int control) {
    const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    TRY(expect(null.is_open(), "open /dev/null"));
    const int far_null = ::fcntl(null.get(), F_DUPFD_CLOEXEC, 10);
    const int far_control = ::fcntl(control, F_DUPFD_CLOEXEC, 10);
    const int far_program = ::fcntl(init_program, F_DUPFD_CLOEXEC, 10);
    for (int i = 0; i < 3; ++i) TRY(expect(::dup2(far_null, i) == i, "arrange descriptors"));
    TRY(expect(::dup2(far_control, init::control_descriptor) >= 0, "arrange descriptors"));
    TRY(expect(::dup3(far_program, init::control_descriptor + 1, O_CLOEXEC) >= 0, "arrange descriptors"));
    return {};
}

// What exists before the claim.
struct Standing {
    Fd scratch;
    Fd root;            // the plain root; closed when the ground has none
    Fd mount_namespace; // our own mount namespace, for the shim to hold
};

Result<Fd> open_root(const char* name) {
    Fd root(::open(name, O_PATH | O_DIRECTORY | O_CLOEXEC));
    TRY(expect(root.is_open(), "open the root"));
    return root;
}

Result<Standing> lay_ground(const Ground& ground, int control) {
    TRY(receive_packet(control, 16));
    TRY(take_identity());
    TRY(expect(::unshare(CLONE_NEWCGROUP) == 0, "enter a cgroup namespace")); // in its groups since it began
    TRY(bring_loopback_up());
    Standing standing;
    standing.mount_namespace = Fd(::open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC));
    TRY(expect(standing.mount_namespace.is_open(), "open the mount namespace"));
    standing.scratch = TRY(make_scratch());
    TRY(enter_scratch(standing.scratch.get()));
    if (ground.lowers.empty()) return standing;
    std::vector<Fd> mounts;
    if (ground.maker == MountMaker::shim) mounts = TRY(receive_packet(control, 16)).descriptors;
    MountSource source(ground.maker, std::move(mounts));
    TRY(mount_overlay("root", ground.lowers, {}, source));
    standing.root = TRY(open_root("root"));
    TRY(mount_others(ground.others, source, standing.root.get()));
    TRY(mount_kernel_files(ground.masks, standing.root.get()));
    return standing;
}

// Up to the point where the worker's root is "/" and the shim has what it keeps.
Result<> finish_root(const Ground& ground, const Claim& claim, Standing& standing, std::vector<Fd> mounts,
                     int control) {
    TRY(limit_scratch(standing.scratch.get(), claim.limits));
    MountSource source(ground.maker, std::move(mounts));
    if (!claim.lowers.empty()) {
        TRY(mount_overlay("own", claim.lowers, claim.capture, source));
        standing.root = TRY(open_root("own"));
    }
    const int root = standing.root.get();
    std::span<const TreeMount> others = claim.others;
    if (claim.keep_home && !others.empty()) { // the volume is the first, and others may be below the home
        TRY(mount_other(others.front(), source, root));
        const bool own = !claim.lowers.empty();
        TRY(mount_home(own ? "own" : "root", own ? claim.lowers.size() : ground.lowers.size(), root));
        others = others.subspan(1);
    }
    TRY(mount_others(others, source, root));
    if (!claim.lowers.empty()) TRY(mount_kernel_files(ground.masks, root));
    if (claim.capture.empty()) TRY(seal_root(root));
    const Fd measured(::open(claim.capture.empty() ? "." : "capture", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    TRY(change_root(root));
    const std::vector<Fd> listeners = TRY(open_network(claim.network));
    std::vector<int> given{measured.get(), standing.mount_namespace.get()};
    for (const Fd& listener : listeners) given.push_back(listener.get());
    return send_packet(control, "made", given);
}

Result<> build_and_enter(const Ground& ground, int control) {
    Standing standing = TRY(lay_ground(ground, control));
    TRY(send_packet(control, "waiting", {}));
    Channel channel{Fd(control)};
    auto message = channel.receive();
    (void)channel.release().release(); // not ours to close
    if (!message.ok()) return std::move(message).error();
    const Claim claim = TRY(json::read<Claim>(message.value().text));
    if (claim.lowers.empty() && !standing.root.is_open()) return internal("there is no root");
    TRY(finish_root(ground, claim, standing, std::move(message.value().descriptors), control));
    // Counted per user namespace: this sandbox only. Where a cgroup counts too, that one should speak first.
    const int64_t spare_tasks = ground.limits_by == LimitKeeper::rlimit ? 1 : 64;
    TRY(set_resource_limits(claim.limits, ground.limits_by, *claim.limits.pids + spare_tasks));
    TRY(drop_privileges());
    TRY(arrange_descriptors(ground.init_program, control));
    // From here on only hone-init's two descriptors; the Fd objects above die with this address space.
    ::close_range(init::control_descriptor + 2, ~0u, CLOSE_RANGE_CLOEXEC);
    TRY(lock_doors(ground, claim, control));
    char name[] = "hone-init";
    char* const arguments[] = {name, nullptr};
    char* const environment[] = {nullptr};
    ::syscall(SYS_execveat, init::control_descriptor + 1, "", arguments, environment, AT_EMPTY_PATH);
    return system_error("execute hone-init", errno);
}

// What the shim has open is not for this process: above all its own end of conversations, whose closing must be noticed
// when the shim dies while this one still waits.
void close_others(int control, int init_program) {
    const auto kept = std::minmax(control, init_program);
    const auto close = [](int from, int to) {
        if (from <= to) ::close_range(static_cast<unsigned>(from), static_cast<unsigned>(to), 0);
    };
    close(3, kept.first - 1);
    close(kept.first + 1, kept.second - 1);
    ::close_range(static_cast<unsigned>(kept.second) + 1, ~0u, 0);
}

} // namespace

Result<> set_resource_limits(const Limits& limits, LimitKeeper limits_by, int64_t most_tasks) {
    const auto set = [](auto resource, int64_t wanted) -> Result<> {
        rlimit now{};
        if (::getrlimit(resource, &now) != 0) return system_error("read a resource limit", errno);
        const rlim_t value = std::min(now.rlim_max, static_cast<rlim_t>(wanted)); // raising needs a capability
        const rlimit next{value, value};
        if (::setrlimit(resource, &next) != 0) return system_error("set a resource limit", errno);
        return {};
    };
    TRY(set(RLIMIT_CORE, 0));
    TRY(set(RLIMIT_MSGQUEUE, 0));
    TRY(set(RLIMIT_MEMLOCK, 8 << 20));
    TRY(set(RLIMIT_SIGPENDING, std::max(int64_t{1024}, *limits.pids)));
    TRY(set(RLIMIT_NOFILE, *limits.open_files));
    TRY(set(RLIMIT_NPROC, most_tasks));
    if (limits_by == LimitKeeper::rlimit) {
#ifndef __SANITIZE_ADDRESS__ // its shadow of the memory counts as data, and no process with it would start
        // The watchdog measures what is used; this only bounds what comes between two measurements. Runtimes reserve
        // far more than they use.
        TRY(set(RLIMIT_DATA, std::max(int64_t{1} << 30, 2 * *limits.memory_bytes)));
#endif
        TRY(set(RLIMIT_FSIZE, *limits.disk_bytes));
    }
    return {};
}

void enter_sandbox(const Ground& ground, const std::vector<Fd>& entrances, int control) {
    ::prctl(PR_SET_NAME, "hone-entering");
    const Result<> entered = enter_groups(entrances); // before anything else: what follows is counted
    Ground mine = ground;
    mine.init_program = ::fcntl(ground.init_program, F_DUPFD_CLOEXEC, 50);
    close_others(control, mine.init_program);
    // Nothing that is opened on the way may get hone-init's numbers: they are replaced at the very end.
    for (int number : {init::control_descriptor, init::control_descriptor + 1}) ::dup2(0, number);
    // Keep the socket reachable for a last word even after it was moved to its final number.
    const Result<> outcome = entered.ok() ? build_and_enter(mine, control) : entered;
    init::Reply reply{};
    reply.event = init::Event::broken;
    std::strncpy(reply.stage, outcome.error().message.c_str(), sizeof reply.stage - 1);
    (void)send_packet(control, std::string_view(reinterpret_cast<const char*>(&reply), sizeof reply), {}).ok();
    ::_exit(1);
}

std::vector<std::string> masked_proc_entries() {
    std::vector<std::string> present;
    for (const char* name :
         {"acpi",       "asound",       "buddyinfo",   "bus",         "cmdline",    "config.gz",  "driver",
          "fs",         "interrupts",   "iomem",       "ioports",     "irq",        "kallsyms",   "kcore",
          "key-users",  "keys",         "kmsg",        "kpagecgroup", "kpagecount", "kpageflags", "latency_stats",
          "modules",    "pagetypeinfo", "sched_debug", "scsi",        "slabinfo",   "softirqs",   "sysrq-trigger",
          "timer_list", "timer_stats",  "tty",         "vmallocinfo", "zoneinfo"})
        // Root of the host is not mapped in the sandbox: what only root may open is shut already, and a mask would be
        // one mount more for nothing.
        if (struct stat status{};
            ::stat((std::string("/proc/") + name).c_str(), &status) == 0 && (status.st_mode & 0007) != 0)
            present.emplace_back(name);
    return present;
}

} // namespace hone::sandbox
