#include "sandbox/wall/launch.h"

#include "init/wire.h"
#include "sandbox/wall/channel.h"
#include "sandbox/wall/kernel.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>

namespace hone::sandbox {

namespace {

// The cgroup namespace comes later, when the process has entered its groups.
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

// In root mode: mounts made here with the right to do so, in the order the child expects.
class MountBatch {
public:
    static Result<MountBatch> open(pid_t pid) {
        const std::string path = "/proc/" + std::to_string(pid) + "/ns/user";
        MountBatch batch;
        batch.m_user_namespace = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        if (!batch.m_user_namespace.is_open()) return system_error("open " + path, errno);
        return batch;
    }
    Result<> add(const std::vector<TreeMount>& mounts) {
        for (const TreeMount& mount : mounts) m_mounts.push_back(TRY(open_tree_mount(mount, m_user_namespace.get())));
        return {};
    }
    Result<> add_volume(Fd volume) {
        if (kernel::set_mount_attributes(volume.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, m_user_namespace.get(),
                                         false) != 0)
            return system_error("map the ids of the thread volume", errno);
        m_mounts.push_back(std::move(volume));
        return {};
    }
    std::vector<int> numbers() const {
        std::vector<int> list;
        for (const Fd& mount : m_mounts) list.push_back(mount.get());
        return list;
    }

private:
    Fd m_user_namespace;
    std::vector<Fd> m_mounts;
};

Result<> give_the_word(const LaunchPlan& plan, const Launched& launched) {
    TRY(map_ids(launched.pid, plan.host_uid));
    TRY(write_process_file(launched.pid, "oom_score_adj", "500")); // rather this than the server
    TRY(send_packet(launched.control.get(), "go", {}));
    if (plan.ground.maker == MountMaker::child || plan.ground.lowers.empty()) return {};
    // Made while the child makes its scratch.
    MountBatch batch = TRY(MountBatch::open(launched.pid));
    TRY(batch.add(plan.ground.lowers));
    TRY(batch.add(plan.ground.others));
    return send_packet(launched.control.get(), "mounts", batch.numbers());
}

// The next packet of the child; one with the reason of a failure is an error.
Result<Message> next_packet(Launched& launched) {
    pollfd wait{launched.control.get(), POLLIN, 0};
    if (::poll(&wait, 1, set_up_timeout_ms) == 0) return unavailable("the sandbox was not set up in time");
    auto received = receive_packet(launched.control.get(), sizeof(init::Reply));
    if (!received.ok()) return unavailable("the sandbox ended while it was set up: " + received.error().message);
    init::Reply reply{};
    if (received.value().text.size() != sizeof reply) return received;
    std::memcpy(&reply, received.value().text.data(), sizeof reply);
    reply.stage[sizeof reply.stage - 1] = 0;
    if (reply.event == init::Event::broken)
        return unavailable(std::string("could not set up the sandbox: ") + reply.stage);
    return received;
}

} // namespace

Result<Launched> launch(const LaunchPlan& plan, const Cgroup& cgroup) {
    auto [ours, theirs] = TRY(Channel::make_pair());
    const std::vector<Fd> entrances = TRY(cgroup.entrances());
    Launched launched;
    int process = -1;
    launched.pid = kernel::clone_into_namespaces(namespaces, process, cgroup.clone_descriptor());
    if (launched.pid == 0) {
        ours.close();
        // Out of the way of the numbers that hone-init expects.
        enter_sandbox(plan.ground, entrances, ::fcntl(theirs.descriptor(), F_DUPFD_CLOEXEC, 50));
    }
    if (launched.pid < 0) {
        return unavailable(std::string("could not create the namespaces: ") + std::strerror(errno) +
                           " (are unprivileged user namespaces allowed on this machine?)");
    }
    launched.process = Fd(process);
    launched.control = ours.release();
    theirs.close();
    Result<> outcome = give_the_word(plan, launched);
    if (outcome.ok()) return launched;
    abandon(launched);
    return std::move(outcome).error();
}

Result<> await_waiting(Launched& launched) {
    const Message message = TRY(next_packet(launched));
    if (message.text != "waiting") return corrupt("the sandbox sent an unknown message");
    return {};
}

Result<> admit(Launched& launched, MountMaker maker, const Claim& claim, Fd volume) {
    Channel channel(std::move(launched.control));
    const auto send = [&]() -> Result<> {
        if (maker == MountMaker::child) return channel.send(json::write(claim));
        MountBatch batch = TRY(MountBatch::open(launched.pid));
        TRY(batch.add(claim.lowers));
        TRY(batch.add(claim.capture));
        std::vector<TreeMount> others = claim.others;
        if (volume.is_open() && !others.empty()) {
            TRY(batch.add_volume(std::move(volume)));
            others.erase(others.begin());
        }
        TRY(batch.add(others));
        return channel.send(json::write(claim), batch.numbers());
    };
    auto outcome = send();
    launched.control = channel.release();
    return outcome;
}

Result<> await_ready(Launched& launched) {
    for (;;) {
        Message message = TRY(next_packet(launched));
        if (message.text == "waiting") continue;
        if (message.text == "made" && message.descriptors.size() >= 2) {
            launched.scratch = std::move(message.descriptors[0]);
            launched.mount_namespace = std::move(message.descriptors[1]);
            for (size_t i = 2; i < message.descriptors.size(); ++i)
                launched.listeners.push_back(std::move(message.descriptors[i]));
            continue;
        }
        if (message.text.size() != sizeof(init::Reply)) return corrupt("hone-init sent an unknown message");
        return {};
    }
}

void abandon(Launched& launched) {
    if (!launched.process.is_open()) return;
    kernel::signal_process(launched.process.get(), SIGKILL);
    launched.control.reset();
    ::waitpid(launched.pid, nullptr, 0);
    launched.process.reset();
}

} // namespace hone::sandbox
