// A helper without namespaces (helper/helper.h): the commands are children of the shim, in a folder of the machine that
// plays the root. The shim adopts what they leave behind, so that everything can be ended and waited for; each command
// is a process group that nothing in it can leave. The broker's ports are two unix sockets of the shim: a socket of a
// command is one end of a connection that the shim made.
#include "sandbox/shim/body.h"

#include "sandbox/helper/helper.h"
#include "sandbox/wall/channel.h"
#include "sandbox/wall/enter.h"
#include "sandbox/wall/kernel.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <list>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hone::sandbox {

namespace {

constexpr int64_t most_handed_over = 256;
constexpr size_t longest_reason = 1000;

std::string broker_socket(int port) {
    return "broker-" + std::to_string(port);
}

// Relative: the shim works in the sandbox's folder, and the full path may be too long for an address.
sockaddr_un address_of(const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, sizeof address.sun_path - 1);
    return address;
}

class HelperBody final : public Body {
public:
    HelperBody(const BodyPlan& plan, BodyListener& listener)
        : m_plan(plan),
          m_listener(listener),
          m_root(*plan.spec.without_namespaces),
          m_network(plan.spec.network.value == NetworkMode::broker ? HelperFilter::Network::handed_over
                                                                   : HelperFilter::Network::none),
          m_filter(HelperFilter::build(m_network)) {}

    Result<> start() override {
        TRY(helpers_possible());
        m_folder = Fd(::open(m_root.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!m_folder.is_open()) return system_error("open " + m_root, errno);
        m_workspace = TRY(make_folder("workspace"));
        TRY(make_folder("tmp"));
        m_rules = helper_rules();
        m_rules.writable.push_back(m_root);
        for (const Mount& mount : *m_plan.spec.mounts) TRY(place(mount));
        // The shim leads a session, which no command leaves: how they are found when this process is killed.
        const Fd session(::open(std::string(session_file).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        TRY(write_all(session.get(), std::to_string(::getpid())));
        // Orphans become its children, not those of the machine's first process.
        if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return system_error("adopt orphans", errno);
        m_over = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        if (!m_over.is_open()) return system_error("create an event", errno);
        if (m_network == HelperFilter::Network::handed_over) TRY(open_helper_listeners());
        m_alive = true;
        return {};
    }

    Result<> settle() override { return {}; }
    void release() override {}

    void watch(std::vector<Watch>& watches) override {
        for (HelperProcess& process : m_processes) {
            if (!process.has_ended)
                watches.push_back({process.descriptor.get(), POLLIN, [this, &process] { note_exit(process); }});
            if (process.notices.is_open())
                watches.push_back({process.notices.get(), POLLIN, [this, &process] { hand_over(process); }});
        }
        if (m_killed) watches.push_back({m_over.get(), POLLIN, [this] { collect_all(); }});
    }

    Result<> execute(const RunningCommand& command, const std::map<std::string, std::string>& environment,
                     Fd (&stdio)[3], bool) override {
        if (command.command.pty) return unavailable("there are no terminals without namespaces");
        if (m_killed) return conflict("the sandbox is not running");
        auto [ours, theirs] = TRY(Channel::make_pair());
        const pid_t pid = ::fork(); // where namespaces are forbidden, clone3 often is, too
        if (pid == 0) become(command.command, environment, stdio, theirs.descriptor());
        if (pid < 0) return system_error("start a helper", errno);
        ::setpgid(pid, pid); // here and in the child: the order is open
        HelperProcess& process = m_processes.emplace_back();
        process.command = command.number;
        process.pid = pid;
        process.descriptor = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
        if (!process.descriptor.is_open()) return system_error("watch a helper", errno);
        theirs.close();
        TRY(await_start(ours, process));
        m_listener.command_started(command.number, Fd());
        return {};
    }

    void signal(int64_t number, int signal) override {
        for (const HelperProcess& process : m_processes)
            if (process.command == number && !process.has_ended)
                kernel::signal_process(process.descriptor.get(), signal);
    }

    void kill() override {
        m_killed = true;
        kill_groups();
        const uint64_t one = 1;
        (void)!::write(m_over.get(), &one, sizeof one);
    }

    pid_t pid() const override { return m_alive ? ::getpid() : 0; }
    int scratch() const override { return m_folder.get(); }
    const std::vector<Fd>& listeners() const override { return m_listeners; }
    Result<Fd> workspace() const override { return Fd(::fcntl(m_workspace.get(), F_DUPFD_CLOEXEC, 0)); }

private:
    // Its first process is not waited for before the end: as long as it is a zombie, no other process gets its number,
    // and so no other group.
    struct HelperProcess {
        int64_t command = 0;
        pid_t pid = 0;
        Fd descriptor;
        Fd notices; // of sockets that its processes wait for
        bool has_ended = false;
    };

    Result<Fd> make_folder(const std::string& name) const {
        if (::mkdirat(m_folder.get(), name.c_str(), 0700) != 0 && errno != EEXIST)
            return system_error("create " + m_root + "/" + name, errno);
        Fd folder = kernel::open_beneath(m_folder.get(), name.c_str(), O_RDONLY | O_DIRECTORY);
        if (!folder.is_open()) return system_error("open " + m_root + "/" + name, errno);
        return folder;
    }

    // What the server put there already, a view of the source, stays.
    Result<> place(const Mount& mount) {
        if (!mount.read_only) return unavailable("without namespaces a helper changes no folder but its own");
        m_rules.readable.push_back(mount.source);
        const std::string target = m_root + mount.target;
        TRY(make_directories(target.substr(0, target.rfind('/'))));
        if (::symlink(mount.source.c_str(), target.c_str()) != 0 && errno != EEXIST)
            return system_error("create " + target, errno);
        return {};
    }

    Result<> open_helper_listeners() {
        for (const int port : broker_ports) {
            const sockaddr_un address = address_of(broker_socket(port));
            Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
            if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
                ::listen(listener.get(), 256) != 0)
                return system_error("listen for the broker", errno);
            m_listeners.push_back(std::move(listener));
        }
        return {};
    }

    // Without waiting: a broker that does not accept is an error for the helper.
    Result<Fd> connect_to_broker() {
        if (++m_handed_over > most_handed_over) return busy("too many connections");
        const sockaddr_un address = address_of(broker_socket(broker_ports[0]));
        Fd connection(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
            return system_error("connect to the broker", errno);
        ::fcntl(connection.get(), F_SETFL, 0);
        return connection;
    }

    void hand_over(HelperProcess& process) {
        pollfd state{process.notices.get(), POLLIN, 0};
        ::poll(&state, 1, 0);
        if ((state.revents & POLLIN) != 0)
            return HandOver::serve(process.notices, [this] { return connect_to_broker(); });
        if (state.revents != 0) process.notices.reset(); // no process is left that could ask
    }

    // The child's side. Never returns.
    [[noreturn]] void become(const Command& command, const std::map<std::string, std::string>& environment,
                             const Fd (&stdio)[3], int report) const {
        const Result<> failed = enter_and_execute(command, environment, stdio, report);
        const std::string& why = failed.error().message; // sendmsg may be refused by now
        (void)!::write(report, why.data(), std::min(why.size(), longest_reason));
        ::_exit(127);
    }

    Result<> enter_and_execute(const Command& command, const std::map<std::string, std::string>& environment,
                               const Fd (&stdio)[3], int report) const {
        ::setpgid(0, 0);
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) ::signal(number, SIG_DFL); // the shim ignores them
        ::umask(077);
        int lifted[3];
        for (int i = 0; i < 3; ++i) lifted[i] = ::fcntl(stdio[i].get(), F_DUPFD_CLOEXEC, 10);
        for (int i = 0; i < 3; ++i)
            if (::dup2(lifted[i], i) != i) return system_error("arrange descriptors", errno);
        if (::close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) != 0) return system_error("close descriptors", errno);
        const Fd notices = TRY(wall_in_helper(m_rules, *m_plan.spec.limits, m_network));
        const std::string folder = m_root + *command.cwd;
        if (::chdir(folder.c_str()) != 0) return system_error("enter " + *command.cwd, errno);
        std::vector<std::string> texts;
        for (const auto& [name, value] : environment) texts.push_back(name + "=" + value);
        std::vector<char*> arguments, variables;
        for (const std::string& word : command.argv) arguments.push_back(const_cast<char*>(word.c_str()));
        for (std::string& text : texts) variables.push_back(text.data());
        arguments.push_back(nullptr);
        variables.push_back(nullptr);
        if (notices.is_open()) TRY(send_packet(report, "notices", std::vector<int>{notices.get()}));
        ::fcntl(report, F_SETFL, O_NONBLOCK);
        TRY(lock_helper(m_filter));
        ::execve(arguments[0], arguments.data(), variables.data());
        return system_error("execute " + command.argv[0], errno);
    }

    // Until the program is executed, which closes the child's end, or it is known why it is not.
    Result<> await_start(Channel& ours, HelperProcess& process) const {
        for (;;) {
            auto message = receive_packet(ours.descriptor(), 4096);
            if (!message.ok()) break;
            if (message.value().text != "notices")
                return unavailable("could not start a helper: " + message.value().text);
            if (message.value().descriptors.size() == 1) process.notices = std::move(message.value().descriptors[0]);
        }
        if (m_network == HelperFilter::Network::handed_over && !process.notices.is_open())
            return internal("a helper started without its network");
        return {};
    }

    void note_exit(HelperProcess& process) {
        siginfo_t end{};
        if (::waitid(P_PID, static_cast<id_t>(process.pid), &end, WEXITED | WNOWAIT | WNOHANG) != 0 || end.si_pid == 0)
            return;
        process.has_ended = true;
        const int status = end.si_code == CLD_EXITED ? end.si_status << 8 : end.si_status;
        m_listener.command_ended(process.command, status);
    }

    void kill_groups() const {
        for (const HelperProcess& process : m_processes) ::kill(-process.pid, SIGKILL);
    }

    // A fork that a group's end meets either belongs to the group already or does not take place.
    void collect_all() {
        kill_groups();
        int64_t written = 0;
        for (;;) {
            siginfo_t end{};
            const int waited = ::waitid(P_ALL, 0, &end, WEXITED | WNOWAIT);
            if (waited != 0 && errno == EINTR) continue;
            if (waited != 0) break;
            written += written_bytes(end.si_pid);
            ::waitpid(end.si_pid, nullptr, 0);
        }
        m_processes.clear();
        m_listeners.clear();
        m_alive = m_killed = false;
        rusage usage{};
        ::getrusage(RUSAGE_CHILDREN, &usage);
        const auto nanoseconds = [](timeval time) { return time.tv_sec * 1'000'000'000 + time.tv_usec * 1000; };
        m_listener.body_ended(nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime), written);
    }

    const BodyPlan m_plan;
    BodyListener& m_listener;
    const std::string m_root;
    const HelperFilter::Network m_network;
    const HelperFilter m_filter;
    FolderRules m_rules;
    Fd m_folder, m_workspace, m_over;
    std::vector<Fd> m_listeners;
    std::list<HelperProcess> m_processes;
    int64_t m_handed_over = 0;
    bool m_alive = false;
    bool m_killed = false;
};

} // namespace

std::unique_ptr<Body> make_helper_body(const BodyPlan& plan, BodyListener& listener) {
    return std::make_unique<HelperBody>(plan, listener);
}

} // namespace hone::sandbox
