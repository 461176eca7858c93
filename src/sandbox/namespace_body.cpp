// The `ns` tier: kernel namespaces, pid 1 is hone-init.
#include "sandbox/body.h"

#include "base/text.h"
#include "init/wire.h"
#include "sandbox/base_root.h"
#include "sandbox/channel.h"
#include "sandbox/kernel.h"
#include "sandbox/launch.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

namespace hone::sandbox {

namespace {

// Bytes passed to write calls by pid 1 and everything it reaped; readable while it is a zombie.
int64_t written_bytes(pid_t pid) {
    const auto table = read_file("/proc/" + std::to_string(pid) + "/io", 4096);
    if (!table.ok()) return 0;
    for (const std::string_view line : split(table.value(), '\n'))
        if (line.starts_with("wchar: ")) {
            const auto number = parse_integer(line.substr(7));
            return number.ok() ? number.value() : 0;
        }
    return 0;
}

class NamespaceBody final : public Body {
public:
    NamespaceBody(const BodyPlan& plan, BodyListener& listener) : m_plan(plan), m_listener(listener) {}

    Result<> start() override {
        LaunchPlan plan;
        plan.enter = TRY(enter_plan());
        plan.host_uid = m_plan.host_uid;
        plan.as_root = m_plan.machine.as_root;
        Fd volume;
        if (m_plan.volume != nullptr) volume = std::move(m_plan.volume->mount);
        m_launched = TRY(launch(plan, m_plan.cgroup, std::move(volume)));
        return {};
    }

    void watch(std::vector<Watch>& watches) override {
        if (m_launched.control.is_open()) watches.push_back({m_launched.control.get(), POLLIN, [this] { hear(); }});
        if (m_launched.process.is_open()) watches.push_back({m_launched.process.get(), POLLIN, [this] { bury(); }});
    }

    Result<> execute(const RunningCommand& command, const std::map<std::string, std::string>& environment,
                     Fd (&stdio)[3]) override {
        std::string payload = *command.command.cwd + '\0';
        for (const std::string& argument : command.command.argv) payload += argument + '\0';
        for (const auto& [name, value] : environment) payload += name + "=" + value + '\0';
        if (payload.size() > init::max_payload_bytes) return too_large("arguments and environment are over 4 MiB");
        const Fd file = TRY(sealed_memory_file("hone-command", payload));
        init::Request request{};
        request.verb = init::Verb::run;
        request.command = static_cast<uint32_t>(command.number);
        request.flags = command.command.pty ? init::flag_pty : 0;
        request.argument_count = static_cast<uint32_t>(command.command.argv.size());
        request.environment_count = static_cast<uint32_t>(environment.size());
        request.rows = static_cast<uint16_t>(*command.command.rows);
        request.columns = static_cast<uint16_t>(*command.command.columns);
        request.payload_bytes = static_cast<uint32_t>(payload.size());
        std::vector<int> descriptors{file.get()};
        if (!command.command.pty)
            for (const Fd& each : stdio) descriptors.push_back(each.get());
        return send_packet(m_launched.control.get(),
                           std::string_view(reinterpret_cast<const char*>(&request), sizeof request), descriptors);
    }

    void signal(int64_t number, int signal) override {
        init::Request request{};
        request.verb = init::Verb::signal;
        request.command = static_cast<uint32_t>(number);
        request.number = signal;
        (void)send_packet(m_launched.control.get(),
                          std::string_view(reinterpret_cast<const char*>(&request), sizeof request), {})
            .ok();
    }

    void kill() override {
        // The death of pid 1 takes the whole pid namespace with it.
        if (m_launched.process.is_open()) kernel::signal_process(m_launched.process.get(), SIGKILL);
    }

    pid_t pid() const override { return m_launched.process.is_open() ? m_launched.pid : 0; }
    int scratch() const override { return m_launched.scratch.get(); }
    const std::vector<Fd>& listeners() const override { return m_launched.listeners; }

    Result<Fd> workspace() const override {
        if (m_plan.volume != nullptr) return Fd(::fcntl(m_plan.volume->files.get(), F_DUPFD_CLOEXEC, 0));
        Fd directory = kernel::open_beneath(m_launched.scratch.get(), "upper/workspace", O_RDONLY | O_DIRECTORY);
        if (!directory.is_open()) return not_found("anything in /workspace");
        return directory;
    }

private:
    Result<EnterPlan> enter_plan() const {
        const SandboxSpec& spec = m_plan.spec;
        const Machine& machine = m_plan.machine;
        EnterPlan plan;
        plan.maker = machine.as_root ? MountMaker::shim : MountMaker::child;
        const RootLayers layers = TRY(root_layers(m_plan.store, spec));
        for (const std::string& directory : layers.directories)
            plan.lowers.push_back({directory, "", true, machine.as_root, false});
        if (spec.capture) plan.capture.push_back({*spec.capture, "", false, machine.as_root, false});
        if (m_plan.volume != nullptr)
            plan.others.push_back({m_plan.volume->directory, "workspace", false, machine.as_root, false});
        const auto add = [&](std::vector<TreeMount> mounts) {
            for (TreeMount& mount : mounts) plan.others.push_back(std::move(mount));
        };
        add(device_mounts());
        if (layers.host) add(host_mounts());
        for (const Mount& mount : *spec.mounts)
            plan.others.push_back(
                {mount.source, mount.target.substr(1), mount.read_only, machine.as_root && !mount.read_only, false});
        plan.masks = machine.masks;
        plan.limits = *spec.limits;
        plan.limits_by = machine.cgroups.keeper();
        plan.network = spec.network;
        plan.landlock_version = machine.landlock_version;
        plan.filter = spec.allow_ptrace ? &*machine.filter_with_ptrace : &*machine.filter;
        plan.init_program = machine.init_program.get();
        return plan;
    }

    void hear() {
        auto received = receive_packet(m_launched.control.get(), sizeof(init::Reply));
        init::Reply reply{};
        if (!received.ok() || received.value().text.size() != sizeof reply) {
            // Pid 1 has gone or was replaced by something else: either way it is over.
            m_launched.control.reset();
            kill();
            return;
        }
        std::memcpy(&reply, received.value().text.data(), sizeof reply);
        Fd terminal;
        if (!received.value().descriptors.empty()) terminal = std::move(received.value().descriptors[0]);
        switch (reply.event) {
        case init::Event::started:
            return m_listener.command_started(reply.command, std::move(terminal));
        case init::Event::failed:
            return m_listener.command_failed(reply.command, system_error("start the command", reply.status));
        case init::Event::exited:
            return m_listener.command_ended(reply.command, reply.status);
        case init::Event::ready:
        case init::Event::broken:
            return;
        }
    }

    void bury() {
        // Last words first: a command may have ended just before.
        while (m_launched.control.is_open()) {
            pollfd wait{m_launched.control.get(), POLLIN, 0};
            if (::poll(&wait, 1, 0) <= 0) break;
            hear();
        }
        const int64_t written = written_bytes(m_launched.pid);
        int status = 0;
        rusage usage{};
        while (::wait4(m_launched.pid, &status, 0, &usage) < 0 && errno == EINTR) {
        }
        m_launched.process.reset();
        m_launched.control.reset();
        m_launched.listeners.clear(); // an open one would keep the network namespace
        const auto nanoseconds = [](timeval time) { return time.tv_sec * 1'000'000'000 + time.tv_usec * 1000; };
        m_listener.body_ended(nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime), written);
    }

    const BodyPlan m_plan;
    BodyListener& m_listener;
    Launched m_launched;
};

} // namespace

std::unique_ptr<Body> make_namespace_body(const BodyPlan& plan, BodyListener& listener) {
    return std::make_unique<NamespaceBody>(plan, listener);
}

Result<RootLayers> root_layers(const Store& store, const SandboxSpec& spec) {
    RootLayers layers;
    for (auto layer = spec.layers.value.rbegin(); layer != spec.layers.value.rend(); ++layer) {
        const std::string directory = store.layers() + "/" + *layer + "/upper";
        if (!file_exists(directory)) return not_found("layer " + *layer);
        layers.directories.push_back(directory);
    }
    if (spec.root.value == "host") {
        layers.host = true;
        layers.directories.push_back(store.base() + "/host");
        return layers;
    }
    const bool path = spec.root.value[0] == '/';
    const std::string directory = path ? *spec.root : store.images() + "/" + *spec.root + "/root";
    struct stat status {};
    if (::stat(directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return not_found("root " + *spec.root);
    layers.directories.push_back(store.base() + "/frame");
    layers.directories.push_back(directory);
    return layers;
}

} // namespace hone::sandbox
