// The `ns` tier: kernel namespaces, pid 1 is hone-init.
#include "sandbox/shim/body.h"

#include "base/text.h"
#include "init/wire.h"
#include "sandbox/wall/base_root.h"
#include "sandbox/wall/channel.h"
#include "sandbox/wall/kernel.h"
#include "sandbox/wall/launch.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

namespace hone::sandbox {

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

namespace {

class NamespaceBody final : public Body {
public:
    NamespaceBody(const BodyPlan& plan, BodyListener& listener, Launched launched)
        : m_plan(plan),
          m_listener(listener),
          m_launched(std::move(launched)) {}

    Result<> start() override {
        const RootLayers layers = TRY(root_layers(m_plan.store, m_plan.spec));
        const Claim claim = make_claim(layers);
        Fd volume;
        if (m_plan.volume != nullptr) volume = std::move(m_plan.volume->mount);
        const MountMaker maker = m_plan.machine.as_root ? MountMaker::shim : MountMaker::child;
        auto outcome = admit(m_launched, maker, claim, std::move(volume));
        if (outcome.ok() && !m_plan.machine.filter &&
            !claim.allow_ptrace) // needed last, while the child finishes the root
            outcome =
                send_packet(m_launched.control.get(), SyscallFilter::build(SyscallFilter::Ptrace::refused).bytes(), {});
        return explain(std::move(outcome));
    }

    Result<> settle() override {
        auto outcome = await_ready(m_launched);
        m_settled = outcome.ok();
        if (!m_settled) abandon(m_launched);
        return outcome;
    }

    void watch(std::vector<Watch>& watches) override {
        if (m_launched.control.is_open())
            watches.push_back({m_launched.control.get(), POLLIN, [this] { receive_event(); }});
        if (m_launched.process.is_open())
            watches.push_back({m_launched.process.get(), POLLIN, [this] { collect_exit(); }});
    }

    Result<> execute(const RunningCommand& command, const std::map<std::string, std::string>& environment,
                     Fd (&stdio)[3], bool last) override {
        std::string payload = *command.command.cwd + '\0';
        for (const std::string& argument : command.command.argv) payload += argument + '\0';
        for (const auto& [name, value] : environment) payload += name + "=" + value + '\0';
        if (payload.size() > init::max_payload_bytes) return too_large("arguments and environment are over 4 MiB");
        const Fd file = TRY(sealed_memory_file("hone-command", payload));
        init::Request request{};
        request.verb = init::Verb::run;
        request.command = static_cast<uint32_t>(command.number);
        request.flags = (command.command.pty ? init::flag_pty : 0) | (last ? init::flag_last : 0);
        request.argument_count = static_cast<uint32_t>(command.command.argv.size());
        request.environment_count = static_cast<uint32_t>(environment.size());
        request.rows = static_cast<uint16_t>(*command.command.rows);
        request.columns = static_cast<uint16_t>(*command.command.columns);
        request.payload_bytes = static_cast<uint32_t>(payload.size());
        std::vector<int> descriptors{file.get()};
        if (!command.command.pty)
            for (const Fd& each : stdio) descriptors.push_back(each.get());
        auto sent = send_packet(m_launched.control.get(),
                                std::string_view(reinterpret_cast<const char*>(&request), sizeof request), descriptors);
        return m_settled ? std::move(sent) : explain(std::move(sent));
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

    void release() override { m_launched.mount_namespace.reset(); }

    pid_t pid() const override { return m_launched.process.is_open() ? m_launched.pid : 0; }
    int scratch() const override { return m_launched.scratch.get(); }
    const std::vector<Fd>& listeners() const override { return m_launched.listeners; }

    Result<Fd> workspace() const override {
        if (m_plan.volume != nullptr) return Fd(::fcntl(m_plan.volume->files.get(), F_DUPFD_CLOEXEC, 0));
        Fd directory;
        for (const char* place : {"own-upper/workspace", "root-upper/workspace"})
            if (!directory.is_open())
                directory = kernel::open_beneath(m_launched.scratch.get(), place, O_RDONLY | O_DIRECTORY);
        if (!directory.is_open()) return not_found("anything in /workspace");
        return directory;
    }

private:
    Claim make_claim(const RootLayers& layers) const {
        const SandboxSpec& spec = m_plan.spec;
        const bool as_root = m_plan.machine.as_root;
        Claim claim;
        if (m_plan.volume != nullptr)
            claim.others.push_back({m_plan.volume->directory, "workspace", false, as_root, false});
        if (!layers.is_plain(spec)) {
            for (const std::string& directory : layers.directories)
                claim.lowers.push_back({directory, "", true, as_root, false});
            if (spec.capture) claim.capture.push_back({*spec.capture, "", false, as_root, false});
            for (TreeMount& mount : device_mounts()) claim.others.push_back(std::move(mount));
            if (layers.host)
                for (TreeMount& mount : host_mounts()) claim.others.push_back(std::move(mount));
        }
        for (const Mount& mount : *spec.mounts)
            claim.others.push_back(
                {mount.source, mount.target.substr(1), mount.read_only, as_root && !mount.read_only, false});
        claim.limits = *spec.limits;
        claim.network = spec.network;
        claim.allow_ptrace = spec.allow_ptrace;
        claim.keep_home = spec.keep_home && m_plan.volume != nullptr;
        return claim;
    }

    // A child that ends while it is set up closes its socket, and may have sent the reason just before.
    Result<> explain(Result<> outcome) {
        if (outcome.ok()) return outcome;
        if (outcome.error().code == Code::unavailable && m_launched.control.is_open()) {
            auto why = await_ready(m_launched);
            if (!why.ok() && why.error().message.starts_with("could not")) outcome = std::move(why);
        }
        abandon(m_launched);
        return outcome;
    }

    void receive_event() {
        auto received = receive_packet(m_launched.control.get(), sizeof(init::Reply));
        init::Reply reply{};
        if (!received.ok() || received.value().text.size() != sizeof reply) {
            // Pid 1 has ended or was replaced: the sandbox is over in both cases.
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

    void collect_exit() {
        // Last words first: a command may have ended just before.
        while (m_launched.control.is_open()) {
            pollfd wait{m_launched.control.get(), POLLIN, 0};
            if (::poll(&wait, 1, 0) <= 0) break;
            receive_event();
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
    bool m_settled = false; // hone-init runs
};

} // namespace

std::unique_ptr<Body> make_namespace_body(const BodyPlan& plan, BodyListener& listener, Launched launched) {
    return std::make_unique<NamespaceBody>(plan, listener, std::move(launched));
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
    if (::stat(directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
        return not_found((path ? "root directory " : "image ") + *spec.root);
    layers.directories.push_back(store.base() + "/frame");
    layers.directories.push_back(directory);
    return layers;
}

} // namespace hone::sandbox
