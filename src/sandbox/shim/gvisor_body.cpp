// The `gvisor` tier: the same spec as an OCI bundle for runsc. Each command is a runsc process of the host, which runs
// in the sandbox's cgroups; its children are the user-space kernel and the file server. The broker's ports are served
// inside by hone-inside, which passes connections on to unix sockets in a folder of the host. Root only.
#include "sandbox/shim/body.h"

#include "base/text.h"
#include "sandbox/wall/base_root.h"
#include "sandbox/wall/enter.h"
#include "sandbox/wall/kernel.h"
#include "sandbox/wall/program.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

namespace hone::sandbox {

namespace {

using json::Array;
using json::Object;

Array strings(const std::vector<std::string>& texts) {
    Array list;
    for (const std::string& text : texts) list.emplace_back(text);
    return list;
}

Object bind_mount(const std::string& source, const std::string& target, bool read_only) {
    return {{"destination", target},
            {"type", "bind"},
            {"source", source},
            {"options", strings({"rbind", "nosuid", "nodev", read_only ? "ro" : "rw"})}};
}

// Each place has the whole of the disk limit: one file system for all of them is more than a bundle can say.
Object memory_mount(const std::string& target, int64_t bytes) {
    return {{"destination", target},
            {"type", "tmpfs"},
            {"source", "tmpfs"},
            {"options", strings({"nosuid", "nodev", "mode=1777", "size=" + std::to_string(bytes)})}};
}

// Colons part the directories of an overlay and commas its options.
std::string escape_overlay(const std::string& path) {
    std::string out;
    for (const char letter : path) {
        if (letter == ':' || letter == ',' || letter == '\\') out += '\\';
        out += letter;
    }
    return out;
}

// Numbers of processes that are no commands.
constexpr int64_t pause_process = -1;
constexpr int64_t relay_process = -2;
constexpr std::string_view network_folder = "/hone-network";
constexpr std::string_view relay_program = "/hone-relay";
constexpr int relay_uid = 65534; // not the worker's: it cannot be stopped from inside
constexpr int relay_start_ms = 60'000;
constexpr int runsc_failed = 128; // its exit code; with the number of a signal added: what ended the command
constexpr int signal_count = 64;
constexpr int number_patience_ms = 2000, number_step_ms = 20;
constexpr size_t most_words = 500; // of runsc

class GvisorBody final : public Body {
public:
    GvisorBody(const BodyPlan& plan, BodyListener& listener) : m_plan(plan), m_listener(listener) {}

    ~GvisorBody() override { unmount_root(); }

    Result<> start() override {
        const SandboxSpec& spec = m_plan.spec;
        if (!m_plan.machine.as_root) return unavailable("tier gvisor needs a spawner that runs as root");
        if (spec.capture) return unavailable("tier gvisor builds no layers");
        if (spec.command && spec.command->pty) return unavailable("tier gvisor has no terminals");
        m_folder = m_plan.store.live(m_plan.id);
        TRY(make_directories(m_folder + "/bundle/rootfs", 0755));
        m_layers = TRY(root_layers(m_plan.store, spec));
        const bool broker = spec.network.value == NetworkMode::broker;
        if (broker) TRY(open_listeners());
        TRY(mount_root());
        TRY(mount_volume());
        // A sandbox that stays, or that needs the relay, needs a first process that stays; otherwise the command is the
        // first process.
        m_waiting = spec.keep || !spec.command || broker;
        if (!m_waiting) return {};
        Command pause;
        pause.argv = {"/bin/sh", "-c", "while :; do sleep 3600; done"};
        Fd none[3];
        for (Fd& descriptor : none) descriptor = Fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
        TRY(run_first(pause_process, pause, {{"PATH", "/usr/bin:/bin"}}, none));
        TRY(await_container());
        return broker ? start_relay() : Result<>();
    }

    void watch(std::vector<Watch>& watches) override {
        for (const Process& process : m_processes)
            watches.push_back({process.descriptor.get(), POLLIN, [this, pid = process.pid] { collect_exit(pid); }});
    }

    Result<> settle() override { return {}; }
    void release() override {}

    Result<> execute(const RunningCommand& command, const std::map<std::string, std::string>& environment,
                     Fd (&stdio)[3], bool) override {
        if (command.command.pty) return unavailable("tier gvisor has no terminals");
        if (!m_waiting && command.number == 0) return run_first(0, command.command, environment, stdio);
        // Every user of the host can read the arguments of a process, so variables and arguments are in a file.
        const Fd process = TRY(process_file(command.command, environment));
        const std::string path = "/proc/self/fd/" + std::to_string(process.get());
        return spawn(
            command.number, command.command.argv.front(),
            runsc({"exec", "--process", path, "--internal-pid-file", pid_file(command.number), m_plan.id.text()},
                  log_file(command.number)),
            stdio, process.get());
    }

    void signal(int64_t number, int signal) override {
        if (signal < 1 || signal > signal_count) return;
        for (Process& process : m_processes) {
            if (process.command != number) continue;
            process.signals |= uint64_t{1} << (signal - 1);
            // `runsc exec` is only the host's end of the command: it passes nothing on when it is killed itself.
            const std::string inside = number_inside(process);
            if (!inside.empty()) signal_inside(inside, std::to_string(signal));
            if (inside.empty() || signal == SIGKILL) kernel::signal_process(process.descriptor.get(), signal);
        }
    }

    void kill() override {
        m_killed = true;
        // The user-space kernel and everything in it are ordinary processes in our cgroup.
        m_plan.cgroup.kill();
        for (const Process& process : m_processes) kernel::signal_process(process.descriptor.get(), SIGKILL);
    }

    pid_t pid() const override { return m_processes.empty() ? 0 : m_processes.front().pid; }
    int scratch() const override { return -1; }
    const std::vector<Fd>& listeners() const override { return m_listeners; }
    Result<Fd> workspace() const override {
        if (m_plan.volume != nullptr) return Fd(::fcntl(m_plan.volume->files.get(), F_DUPFD_CLOEXEC, 0));
        return unavailable("tier gvisor keeps a /workspace without a thread in its own memory");
    }

private:
    struct Process {
        int64_t command;
        pid_t pid;
        Fd descriptor;
        std::string program = {};
        uint64_t signals = 0; // a bit for each that was sent to it
    };

    // `log`: the file for the errors of runsc; empty: that of the sandbox.
    std::vector<std::string> runsc(std::vector<std::string> rest, const std::string& log = {}) const {
        std::vector<std::string> argv{m_plan.machine.gvisor_program,
                                      "--root",
                                      m_folder + "/runsc",
                                      "--platform=ptrace",
                                      "--network=none",
                                      "--ignore-cgroups",
                                      "--overlay2=root:memory",
                                      "--host-uds=open",
                                      "--log",
                                      log.empty() ? m_folder + "/runsc.log" : log};
        argv.insert(argv.end(), rest.begin(), rest.end());
        return argv;
    }

    std::string pid_file(int64_t number) const { return m_folder + "/pid-" + std::to_string(number); }
    std::string log_file(int64_t number) const { return m_folder + "/runsc-" + std::to_string(number) + ".log"; }

    // Of a command's first process, as gVisor counts. A command that has just been handed over has none yet: without a
    // wait its signal would end the host's end alone. Empty: it has ended, or is the first process of the sandbox.
    std::string number_inside(const Process& process) const {
        if (!m_waiting || process.command < 0) return {};
        for (int waited = 0; waited < number_patience_ms; waited += number_step_ms) {
            const auto inside = read_file(pid_file(process.command), 32);
            if (inside.ok() && !trim(inside.value()).empty()) return std::string(trim(inside.value()));
            pollfd ended{process.descriptor.get(), POLLIN, 0};
            if (::poll(&ended, 1, number_step_ms) != 0) return {};
        }
        return {};
    }

    // To its process group, as in the other tiers: `runsc kill` reaches one process alone. By the shell of the root,
    // which nothing inside can replace, with the rights of the worker.
    void signal_inside(const std::string& number, const std::string& signal) const {
        const std::string user = std::to_string(inside_uid) + ":" + std::to_string(inside_uid);
        if (run_program(runsc({"exec", "--user", user, m_plan.id.text(), "/bin/sh", "-c", "kill -\"$1\" -\"$2\"", "sh",
                               signal, number}))
                .ok())
            return;
        (void)run_program(runsc({"kill", "--pid", number, m_plan.id.text(), signal})).ok(); // it has left its group
    }

    // Relative names: the full path may be too long for an address, and the shim works in the sandbox's folder.
    Result<> open_listeners() {
        TRY(make_directories(m_folder + "/network", 0755));
        for (const int port : broker_ports) {
            sockaddr_un address{};
            address.sun_family = AF_UNIX;
            const std::string name = "network/" + std::to_string(port);
            name.copy(address.sun_path, sizeof address.sun_path - 1);
            Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
            if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
                ::chmod(name.c_str(), 0666) != 0 || ::listen(listener.get(), 256) != 0)
                return system_error("listen for the broker", errno);
            m_listeners.push_back(std::move(listener));
        }
        return {};
    }

    // Runs beside the worker's commands, as another user. Until it listens, nothing else is started.
    Result<> start_relay() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("create a pipe", errno);
        const Fd reader(ends[0]);
        Fd stdio[3];
        stdio[0] = Fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
        stdio[1] = Fd(ends[1]);
        stdio[2] = Fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
        const std::string user = std::to_string(relay_uid) + ":" + std::to_string(relay_uid);
        TRY(spawn(relay_process, std::string(relay_program),
                  runsc({"exec", "--user", user, m_plan.id.text(), std::string(relay_program), "relay",
                         std::string(network_folder)}),
                  stdio));
        stdio[1].reset();
        pollfd ready{reader.get(), POLLIN, 0};
        char word[8];
        if (::poll(&ready, 1, relay_start_ms) != 1 || ::read(reader.get(), word, sizeof word) <= 0)
            return unavailable("the broker's ports could not be opened inside gVisor");
        return {};
    }

    // The thread's volume, in this shim's mount namespace only.
    Result<> mount_volume() {
        if (m_plan.volume == nullptr) return {};
        m_workspace = m_plan.volume->directory;
        if (!m_plan.volume->mount.is_open()) return {};
        m_workspace = m_folder + "/bundle/workspace";
        TRY(make_directories(m_workspace, 0755));
        if (::move_mount(m_plan.volume->mount.get(), "", AT_FDCWD, m_workspace.c_str(), MOVE_MOUNT_F_EMPTY_PATH) != 0)
            return system_error("mount the thread volume", errno);
        m_plan.volume->mount.reset();
        return {};
    }

    // The root for runsc is a directory; layers are joined by an overlay that lives in this shim's mount namespace
    // only.
    Result<> mount_root() {
        if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
            return system_error("enter a mount namespace", errno);
        // The root is read-only, so places to mount on must be there before: in a lower directory of their own.
        std::string lower = m_folder + "/bundle/points";
        TRY(make_directories(lower, 0755));
        const Fd points(::open(lower.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        for (const Mount& mount : *m_plan.spec.mounts) {
            struct stat status {};
            if (::stat(mount.source.c_str(), &status) != 0) return system_error("mount " + mount.source, errno);
            TRY(open_mount_point(points.get(), mount.target.substr(1), !S_ISDIR(status.st_mode)));
        }
        if (!m_listeners.empty()) {
            TRY(open_mount_point(points.get(), std::string(network_folder.substr(1)), false));
            TRY(open_mount_point(points.get(), std::string(relay_program.substr(1)), true));
        }
        lower = escape_overlay(lower);
        for (const std::string& directory : m_layers.directories) lower += ":" + escape_overlay(directory);
        const std::string target = m_folder + "/bundle/rootfs";
        if (::mount("root", target.c_str(), "overlay", MS_RDONLY | MS_NOSUID | MS_NODEV,
                    ("lowerdir=" + lower + ",userxattr").c_str()) != 0)
            return system_error("mount the root", errno);
        return {};
    }

    // Else the sandbox's folder cannot be removed.
    void unmount_root() const {
        if (m_folder.empty()) return;
        ::umount2((m_folder + "/bundle/rootfs").c_str(), MNT_DETACH);
        ::umount2((m_folder + "/bundle/workspace").c_str(), MNT_DETACH);
    }

    static Object process_of(const Command& command, const std::map<std::string, std::string>& environment) {
        Array variables;
        for (const auto& [name, value] : environment) variables.emplace_back(name + "=" + value);
        if (!environment.contains("PATH")) variables.emplace_back("PATH=/usr/bin:/bin");
        const Array none;
        const Object capabilities{
            {"bounding", none}, {"effective", none}, {"inheritable", none}, {"permitted", none}, {"ambient", none}};
        return {{"terminal", false},
                {"user", Object{{"uid", inside_uid}, {"gid", inside_uid}}},
                {"args", strings(command.argv)},
                {"env", variables},
                {"cwd", *command.cwd},
                {"capabilities", capabilities},
                {"noNewPrivileges", true}};
    }

    // In memory, and in no folder: it ends with the process that reads it.
    static Result<Fd> process_file(const Command& command, const std::map<std::string, std::string>& environment) {
        Fd file(::memfd_create("hone-process", MFD_CLOEXEC));
        if (!file.is_open()) return system_error("create a file in memory", errno);
        TRY(write_all(file.get(), json::print(process_of(command, environment))));
        return file;
    }

    Result<> write_bundle(const Command& command, const std::map<std::string, std::string>& environment) const {
        const Limits& limits = *m_plan.spec.limits;
        Array rlimits;
        const auto limit = [&](const char* type, int64_t value) {
            rlimits.push_back(Object{{"type", type}, {"hard", value}, {"soft", value}});
        };
        limit("RLIMIT_CORE", 0);
        limit("RLIMIT_NOFILE", *limits.open_files);
        Array mounts{Object{{"destination", "/proc"},
                            {"type", "proc"},
                            {"source", "proc"},
                            {"options", strings({"ro", "nosuid", "noexec", "nodev"})}},
                     Object{{"destination", "/dev"},
                            {"type", "tmpfs"},
                            {"source", "tmpfs"},
                            {"options", strings({"nosuid", "noexec", "mode=755"})}}};
        for (const char* place : {"/dev/shm", "/tmp", "/var/tmp", "/run", "/home/worker"})
            mounts.push_back(memory_mount(place, *limits.disk_bytes));
        mounts.push_back(m_workspace.empty() ? memory_mount("/workspace", *limits.disk_bytes)
                                             : bind_mount(m_workspace, "/workspace", false));
        if (m_layers.host)
            for (const TreeMount& mount : host_mounts())
                mounts.push_back(bind_mount(mount.source, "/" + mount.target, true));
        for (const Mount& mount : *m_plan.spec.mounts)
            mounts.push_back(bind_mount(mount.source, mount.target, mount.read_only));
        if (!m_listeners.empty()) {
            mounts.push_back(bind_mount(m_folder + "/network", std::string(network_folder), true));
            mounts.push_back(bind_mount(TRY(find_beside("hone-inside")), std::string(relay_program), true));
        }
        Object process = process_of(command, environment);
        process["rlimits"] = rlimits;
        Array namespaces;
        for (const char* type : {"pid", "network", "ipc", "uts", "mount"}) namespaces.push_back(Object{{"type", type}});
        const Object config{
            {"ociVersion", "1.0.2"}, {"hostname", "sandbox"},
            {"process", process},    {"root", Object{{"path", "rootfs"}, {"readonly", true}}},
            {"mounts", mounts},      {"linux", Object{{"namespaces", namespaces}}},
        };
        return write_file(m_folder + "/bundle/config.json", json::print(config));
    }

    Result<> run_first(int64_t number, const Command& command, const std::map<std::string, std::string>& environment,
                       Fd (&stdio)[3]) {
        TRY(write_bundle(command, environment));
        return spawn(number, command.argv.front(),
                     runsc({"run", "--bundle", m_folder + "/bundle", m_plan.id.text()},
                           number < 0 ? std::string() : log_file(number)),
                     stdio);
    }

    // `kept`: a descriptor that the program reads; -1: none.
    Result<> spawn(int64_t number, const std::string& program, const std::vector<std::string>& argv,
                   const Fd (&stdio)[3], int kept = -1) {
        std::vector<char*> arguments;
        for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
        arguments.push_back(nullptr);
        char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
        char* environment[] = {path, nullptr};
        int go[2];
        if (::pipe2(go, O_CLOEXEC) != 0) return system_error("start runsc", errno);
        const Fd reader(go[0]);
        Fd writer(go[1]);
        int descriptor = -1;
        const pid_t pid = kernel::clone_into_namespaces(0, descriptor, m_plan.cgroup.clone_descriptor());
        if (pid == 0) {
            char word;
            ::setsid();
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (int i = 0; i < 3; ++i) ::dup2(stdio[i].get(), i);
            if (kept >= 0) ::fcntl(kept, F_SETFD, 0);
            if (::read(reader.get(), &word, 1) != 1) ::_exit(127); // not in its cgroups: do not run
            ::execve(arguments[0], arguments.data(), environment);
            ::_exit(127);
        }
        if (pid < 0) return system_error("start runsc", errno);
        m_processes.push_back({number, pid, Fd(descriptor), program});
        TRY(m_plan.cgroup.attach(pid));
        TRY(write_all(writer.get(), "g"));
        if (number >= 0) m_listener.command_started(number, Fd());
        return {};
    }

    // `runsc exec` works once the container is running.
    Result<> await_container() {
        for (int i = 0; i < 1000; ++i) {
            if (run_program(runsc({"exec", "--user", "1000:1000", m_plan.id.text(), "/bin/true"})).ok()) return {};
            if (m_processes.empty() || ::waitpid(m_processes.front().pid, nullptr, WNOHANG) != 0) break;
            ::poll(nullptr, 0, 20);
        }
        const auto said = read_file(m_folder + "/runsc.log", 1 << 20);
        return unavailable("runsc did not start: " + (said.ok() ? std::string(truncate_utf8(said.value(), 500)) : ""));
    }

    // Why runsc did not start this command; nothing when it did.
    std::optional<Error> start_error(const Process& process) const {
        if (m_killed || ::access(pid_file(process.command).c_str(), F_OK) == 0) return std::nullopt;
        const auto said = read_file(log_file(process.command), 1 << 20);
        if (!said.ok()) return std::nullopt;
        const std::string_view lines = trim(said.value());
        const auto line = json::parse(lines.substr(lines.rfind('\n') + 1)); // npos + 1: all of it
        if (!line.ok() || !line.value().is_object()) return std::nullopt;
        const json::Value* message = line.value().as_object().if_contains("msg");
        if (message == nullptr || !message->is_string()) return std::nullopt;
        const std::string_view text = message->get_string();
        // `runsc run` may fail after the start as well.
        if (!m_waiting && text.find("starting container") == std::string_view::npos) return std::nullopt;
        // "…: failed to load PROGRAM: no such file or directory": its end is the error of a system call.
        const size_t colon = text.rfind(": ");
        std::string why(text.substr(colon == std::string_view::npos ? 0 : colon + 2));
        if (!why.empty() && why[0] >= 'a' && why[0] <= 'z') why[0] = static_cast<char>(why[0] - 'a' + 'A');
        const bool of_folder = text.find("failed to find initial working directory") != std::string_view::npos;
        return unavailable((of_folder ? "enter the folder of " : "start ") +
                           std::string(truncate_utf8(process.program, most_words)) + ": " +
                           std::string(truncate_utf8(why, most_words)));
    }

    void report_end(const Process& ended, int status) {
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
        if (code == runsc_failed)
            if (const auto why = start_error(ended)) return m_listener.command_failed(ended.command, *why);
        // Only where it was sent from here: a command may also end with such a code by itself.
        const int signal = code - runsc_failed;
        const bool is_signal =
            signal >= 1 && signal <= signal_count && (ended.signals >> (signal - 1) & uint64_t{1}) != 0;
        m_listener.command_ended(ended.command, is_signal ? signal : status);
    }

    void collect_exit(pid_t pid) {
        for (auto process = m_processes.begin(); process != m_processes.end(); ++process) {
            if (process->pid != pid) continue;
            int status = 0;
            rusage usage{};
            while (::wait4(pid, &status, 0, &usage) < 0 && errno == EINTR) {
            }
            const int64_t number = process->command;
            const bool first = number <= 0 && (number < 0 || !m_waiting);
            const Process ended = std::move(*process);
            m_processes.erase(process);
            if (number >= 0) report_end(ended, status);
            if (first) kill();
            if (!m_processes.empty()) return;
            unmount_root();
            return m_listener.body_ended(0, 0);
        }
    }

    const BodyPlan m_plan;
    BodyListener& m_listener;
    RootLayers m_layers;
    std::string m_folder;
    std::string m_workspace; // the thread's volume; empty: none
    bool m_waiting = false;
    bool m_killed = false;
    std::vector<Process> m_processes;
    std::vector<Fd> m_listeners;
};

} // namespace

std::unique_ptr<Body> make_gvisor_body(const BodyPlan& plan, BodyListener& listener) {
    return std::make_unique<GvisorBody>(plan, listener);
}

} // namespace hone::sandbox
