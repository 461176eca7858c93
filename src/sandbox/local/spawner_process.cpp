#include "sandbox/local/spawner_process.h"

#include "sandbox/image/volume.h"
#include "sandbox/wall/program.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <linux/capability.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace hone::sandbox {

namespace {

constexpr int child_socket = 3;

Result<pid_t> execute_role(const std::string& wanted_program, const std::string& data_directory, int socket,
                           bool is_launcher) {
    const std::string program = wanted_program.empty() ? TRY(find_beside("hone")) : wanted_program;
    std::vector<std::string> texts{"hone",         "spawner",  "--data-dir",
                                   data_directory, "--socket", std::to_string(child_socket)};
    if (is_launcher) texts.emplace_back("--launcher");
    std::vector<char*> arguments;
    for (std::string& text : texts) arguments.push_back(text.data());
    arguments.push_back(nullptr);
    char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
    char* environment[] = {path, nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, socket, child_socket);
    ::posix_spawn_file_actions_addclosefrom_np(&actions, child_socket + 1);
    pid_t pid = 0;
    const int failed = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, arguments.data(), environment);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) return system_error("start the spawner", failed);
    return pid;
}

// Files in the data directory belong to the uids of sandboxes; a server may listen on 443.
constexpr std::array kept_capabilities{CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_NET_BIND_SERVICE};

uint64_t kept_bits() {
    uint64_t bits = 0;
    for (const int capability : kept_capabilities) bits |= uint64_t{1} << static_cast<unsigned>(capability);
    return bits;
}

} // namespace

Result<pid_t> execute_spawner(const std::string& program, const std::string& data_directory, int socket) {
    return execute_role(program, data_directory, socket, false);
}

Result<std::unique_ptr<Launcher>> Launcher::open(const std::string& data_directory) {
    auto [ours, theirs] = TRY(Channel::make_pair());
    const pid_t pid = TRY(execute_role("", data_directory, theirs.descriptor(), true));
    return std::unique_ptr<Launcher>(new Launcher(std::move(ours), pid));
}

Launcher::~Launcher() {
    {
        const Lock lock(m_mutex);
        m_channel.close();
    }
    if (m_pid > 0) ::waitpid(m_pid, nullptr, 0);
}

Result<Message> Launcher::request(std::string_view act, int descriptor) {
    const Lock lock(m_mutex);
    const std::array descriptors{descriptor};
    auto sent = m_channel.send(act, descriptors);
    auto reply = sent.ok() ? m_channel.receive() : Result<Message>(sent.error());
    if (!reply.ok()) return unavailable("the launcher of sandboxes ended; restart the server");
    if (!reply.value().text.empty()) return unavailable(reply.value().text);
    return reply;
}

Result<> Launcher::start_spawner(int socket) {
    TRY(request("start", socket));
    return {};
}

Result<Fd> Launcher::mount(int image) {
    Message reply = TRY(request("mount", image));
    if (reply.descriptors.size() != 1) return corrupt("the launcher sent no mount");
    return std::move(reply.descriptors[0]);
}

void run_launcher(const std::string& data_directory, Channel server) {
    ::prctl(PR_SET_NAME, "hone-launcher");
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_IGN); // ends with its server, not before
    for (;;) {
        auto message = server.receive();
        if (!message.ok()) break;
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        std::string problem = "the request has no descriptor, or is not known";
        Fd mounted;
        const bool has_one = message.value().descriptors.size() == 1;
        const int descriptor = has_one ? message.value().descriptors[0].get() : -1;
        if (has_one && message.value().text == "start") {
            const auto started = execute_spawner("", data_directory, descriptor);
            problem = started.ok() ? "" : "the spawner was not started: " + started.error().message;
        } else if (has_one && message.value().text == "mount") {
            auto made = mount_for_reading(descriptor);
            problem = made.ok() ? "" : made.error().message;
            if (made.ok()) mounted = std::move(made).value();
        }
        std::vector<int> reply;
        if (mounted.is_open()) reply.push_back(mounted.get());
        if (!server.send(problem, reply).ok()) break;
    }
    server.close();
    while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
}

Result<> drop_unneeded_capabilities() {
    if (::geteuid() != 0) return {};
    const uint64_t kept = kept_bits();
    if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
        return system_error("clear ambient capabilities", errno);
    // Without the bounding set a program that the server starts could get them back: it runs as root too.
    for (unsigned long capability = 0; capability < 64; ++capability) {
        if ((kept >> capability & 1U) != 0 || ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) != 1) continue;
        if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return system_error("drop a capability", errno);
    }
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct words[2] = {};
    if (::syscall(SYS_capget, &header, words) != 0) return system_error("read capabilities", errno);
    for (unsigned index = 0; index < 2; ++index) {
        const auto part = static_cast<uint32_t>(kept >> (32 * index));
        words[index].permitted &= part; // a container may have given less
        words[index].effective = words[index].permitted;
        words[index].inheritable = 0;
    }
    if (::syscall(SYS_capset, &header, words) != 0) return system_error("drop capabilities", errno);
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return system_error("set no_new_privs", errno);
    return {};
}

} // namespace hone::sandbox
