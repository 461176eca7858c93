#include "sandbox/launch.h"

#include "init/wire.h"
#include "sandbox/channel.h"
#include "sandbox/kernel.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>

namespace hone::sandbox {

namespace {

// The cgroup namespace comes later, when the process is in its final group.
constexpr uint64_t namespaces =
    CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | 0x80 /* CLONE_NEWTIME */;

constexpr int set_up_timeout_ms = 30'000;

Result<> write_process_file(pid_t pid, const char* name, const std::string& content) {
    const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
    const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.is_open() || ::write(file.get(), content.data(), content.size()) < 0)
        return system_error("write " + path, errno);
    return {};
}

Result<> map_ids(pid_t pid, unsigned host_uid) {
    const std::string map = std::to_string(inside_uid) + " " + std::to_string(host_uid) + " 1\n";
    TRY(write_process_file(pid, "setgroups", "deny"));
    // An ordinary user may map only its own ids.
    const std::string group_map =
        ::geteuid() == 0 ? map : std::to_string(inside_uid) + " " + std::to_string(::getegid()) + " 1\n";
    TRY(write_process_file(pid, "gid_map", group_map));
    return write_process_file(pid, "uid_map", map);
}

// In root mode: every mount of the plan, made here with the right to do so, in the order the child expects.
Result<std::vector<Fd>> make_mounts(const EnterPlan& plan, pid_t pid, Fd volume) {
    const std::string path = "/proc/" + std::to_string(pid) + "/ns/user";
    const Fd user_namespace(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!user_namespace.is_open()) return system_error("open " + path, errno);
    std::vector<Fd> mounts;
    for (const auto* list : {&plan.lowers, &plan.capture}) {
        for (const TreeMount& mount : *list) mounts.push_back(TRY(open_tree_mount(mount, user_namespace.get())));
    }
    for (size_t i = 0; i < plan.others.size(); ++i) {
        if (i == 0 && volume.is_open()) {
            if (kernel::set_mount_attributes(volume.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, user_namespace.get(),
                                             false) != 0)
                return system_error("map the ids of the thread volume", errno);
            mounts.push_back(std::move(volume));
        } else {
            mounts.push_back(TRY(open_tree_mount(plan.others[i], user_namespace.get())));
        }
    }
    return mounts;
}

Result<> give_the_word(const LaunchPlan& plan, const Cgroup& cgroup, Launched& launched, Fd volume) {
    TRY(map_ids(launched.pid, plan.host_uid));
    TRY(write_process_file(launched.pid, "oom_score_adj", "500")); // rather this than the server
    TRY(cgroup.attach(launched.pid));
    std::vector<Fd> mounts;
    if (plan.enter.maker == MountMaker::shim) mounts = TRY(make_mounts(plan.enter, launched.pid, std::move(volume)));
    std::vector<int> numbers;
    for (const Fd& mount : mounts) numbers.push_back(mount.get());
    return send_packet(launched.control.get(), "go", numbers);
}

// Two packets: what was made, then hone-init's greeting. Anything else is the reason why not.
Result<> await_ready(Launched& launched) {
    for (;;) {
        pollfd wait{launched.control.get(), POLLIN, 0};
        if (::poll(&wait, 1, set_up_timeout_ms) == 0) return unavailable("the sandbox was not set up in time");
        auto received = receive_packet(launched.control.get(), sizeof(init::Reply));
        if (!received.ok()) return unavailable("the sandbox ended while it was set up");
        Message& message = received.value();
        if (message.text == "made" && !message.descriptors.empty()) {
            launched.scratch = std::move(message.descriptors[0]);
            for (size_t i = 1; i < message.descriptors.size(); ++i)
                launched.listeners.push_back(std::move(message.descriptors[i]));
            continue;
        }
        init::Reply reply{};
        if (message.text.size() != sizeof reply) return corrupt("hone-init said something unknown");
        std::memcpy(&reply, message.text.data(), sizeof reply);
        reply.stage[sizeof reply.stage - 1] = 0;
        if (reply.event == init::Event::broken)
            return unavailable(std::string("could not set up the sandbox: ") + reply.stage);
        return {};
    }
}

} // namespace

Result<Launched> launch(const LaunchPlan& plan, const Cgroup& cgroup, Fd volume) {
    auto [ours, theirs] = TRY(Channel::make_pair());
    Launched launched;
    int process = -1;
    launched.pid = kernel::clone_into_namespaces(namespaces, process, cgroup.clone_descriptor());
    if (launched.pid == 0) {
        ours.close();
        // Out of the way of the numbers that hone-init expects.
        enter_sandbox(plan.enter, ::fcntl(theirs.descriptor(), F_DUPFD_CLOEXEC, 50));
    }
    if (launched.pid < 0) {
        return unavailable(std::string("could not create the namespaces: ") + std::strerror(errno) +
                           " (are unprivileged user namespaces allowed on this machine?)");
    }
    launched.process = Fd(process);
    launched.control = ours.release();
    theirs.close();
    Result<> outcome = give_the_word(plan, cgroup, launched, std::move(volume));
    if (outcome.ok()) outcome = await_ready(launched);
    if (outcome.ok()) return launched;
    kernel::signal_process(process, SIGKILL);
    launched.control.reset();
    ::waitpid(launched.pid, nullptr, 0);
    return std::move(outcome).error();
}

} // namespace hone::sandbox
