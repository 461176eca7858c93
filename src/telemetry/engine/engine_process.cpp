#include "telemetry/engine/engine_process.h"

#include "base/log.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hone::telemetry {

namespace {

using std::chrono::steady_clock;

std::vector<std::string> find_program() {
    std::error_code failed;
    if (const char* named = std::getenv("HONE_ENGINE_PROGRAM"))
        return {std::filesystem::absolute(named, failed).string()};
    const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
    // Nowhere else: a folder above ours may be writable by all users.
    if (const std::string program = (self.parent_path() / "hone-engine").string(); file_exists(program))
        return {program};
    return {};
}

// A unix socket's address holds 107 bytes, and our URLs part its path at a colon: by the descriptor of its folder every
// folder will do.
std::string address_of(const std::string& socket, const Fd& folder) {
    if (!folder.is_open()) return socket;
    return "/proc/self/fd/" + std::to_string(folder.get()) + socket.substr(socket.rfind('/'));
}

Fd open_folder_of(const std::string& socket) {
    const size_t slash = socket.rfind('/');
    if (slash == std::string::npos) return Fd();
    return Fd(::open(socket.substr(0, slash + 1).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

// What the engine wrote to its standard output before it ended.
std::string read_report(int report) {
    char text[1000];
    const ssize_t count = ::read(report, text, sizeof text);
    return count > 0 ? std::string(text, static_cast<size_t>(count)) : std::string();
}

std::string end_of_process(int status) {
    if (WIFSIGNALED(status)) return "it was ended by signal " + std::to_string(WTERMSIG(status));
    return "it ended with status " + std::to_string(WEXITSTATUS(status)) + "; see the server's log";
}

} // namespace

EngineProcess::EngineProcess(EngineProcessOptions options)
    : m_options(std::move(options)),
      m_folder(open_folder_of(m_options.socket)),
      m_address(address_of(m_options.socket, m_folder)),
      m_watcher({"engine watch", m_options.ping_interval}, [this] { return watch(); }) {
    if (m_options.program.empty()) m_options.program = find_program();
    if (const char* named = std::getenv("HONE_CHDB_LIBRARY"); named && m_options.library.empty()) {
        std::error_code failed;
        m_options.library = std::filesystem::absolute(named, failed).string();
    }
    m_watcher.start();
}

EngineProcess::~EngineProcess() {
    m_watcher.stop();
    stop();
}

Result<EngineProcess::Use> EngineProcess::use() {
    Lock lock(m_mutex);
    if (m_pid > 0 && ::waitpid(m_pid, nullptr, WNOHANG) == m_pid) {
        log(Level::warning, "engine ended by itself", {{"pid", m_pid.load()}});
        m_pid = 0;
    }
    if (m_pid == 0) TRY(start());
    ++m_uses;
    m_last_use = steady_clock::now();
    return Use(*this);
}

void EngineProcess::end_use() {
    Lock lock(m_mutex);
    --m_uses;
    m_last_use = steady_clock::now();
}

Result<> EngineProcess::start() {
    if (steady_clock::now() < m_not_before) return not_started(m_why_not);
    if (m_options.program.empty()) return unavailable("there is no engine program: set HONE_ENGINE_PROGRAM");
    m_not_before = steady_clock::now() + std::chrono::seconds(1);
    int lifeline[2], report[2];
    if (::pipe2(lifeline, O_CLOEXEC) != 0) return system_error("pipe", errno);
    const Fd reading(lifeline[0]);
    m_lifeline = Fd(lifeline[1]);
    if (::pipe2(report, O_CLOEXEC) != 0) return system_error("pipe", errno);
    const Fd said(report[0]);
    ::fcntl(said.get(), F_SETFL, O_NONBLOCK);
    Fd saying(report[1]);
    std::vector<std::string> words = m_options.program;
    for (const auto& word : {std::string("--directory"), m_options.directory, std::string("--socket"), m_options.socket,
                             std::string("--memory-bytes"), std::to_string(m_options.memory_bytes)})
        words.push_back(word);
    if (m_options.reads_files) words.insert(words.end(), {"--reads-files", "1"});
    if (m_options.unconfined) words.insert(words.end(), {"--unconfined", "1"});
    if (!m_options.library.empty()) words.insert(words.end(), {"--library", m_options.library});
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::vector<std::string> kept; // nothing of our environment but what the clock needs
    for (const char* name : {"TZ", "LANG"})
        if (const char* value = std::getenv(name)) kept.push_back(std::string(name) + "=" + value);
    std::vector<char*> environment;
    for (std::string& entry : kept) environment.push_back(entry.data());
    environment.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, reading.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, saying.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    pid_t pid = 0;
    const int failed = ::posix_spawn(&pid, arguments[0], &actions, nullptr, arguments.data(), environment.data());
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) return not_started(system_error("start " + words[0], failed).message);
    saying.reset();
    m_pid = pid;
    ++m_starts;
    log(Level::info, "engine starts", {{"pid", pid}, {"directory", m_options.directory}});
    return wait_until_ready(said.get());
}

Error EngineProcess::not_started(std::string why) {
    m_why_not = std::move(why);
    return unavailable("the span engine does not start: " + m_why_not);
}

bool EngineProcess::ping(Duration timeout) {
    net::ClientRequest request;
    request.url = "unix:" + m_address + ":/ping";
    request.total_timeout = timeout;
    const auto response = m_client.send(request);
    return response.ok() && response.value().status == 200;
}

Result<> EngineProcess::wait_until_ready(int report) {
    const auto until = steady_clock::now() + m_options.start_timeout;
    while (steady_clock::now() < until) {
        if (ping(std::chrono::milliseconds(500))) {
            m_not_before = {};
            return {};
        }
        int status = 0;
        if (::waitpid(m_pid, &status, WNOHANG) == m_pid) {
            m_pid = 0;
            const std::string said = read_report(report);
            return not_started(said.empty() ? end_of_process(status) : said);
        }
        ::poll(nullptr, 0, 20); // its socket appears when it accepts requests; there is no other notification
    }
    reap(true);
    return not_started(
        "it was not ready after " +
        std::to_string(std::chrono::duration_cast<std::chrono::seconds>(m_options.start_timeout).count()) + " s");
}

void EngineProcess::reap(bool kill) {
    if (m_pid == 0) return;
    m_lifeline.reset(); // ends it
    if (kill) ::kill(m_pid, SIGKILL);
    ::waitpid(m_pid, nullptr, 0);
    m_pid = 0;
}

void EngineProcess::stop() {
    Lock lock(m_mutex);
    reap(false);
}

Result<> EngineProcess::watch() {
    constexpr auto never = steady_clock::time_point::max();
    int pid = 0;
    {
        Lock lock(m_mutex);
        const bool is_idle =
            m_uses == 0 && m_options.idle_stop.count() > 0 && steady_clock::now() - m_last_use > m_options.idle_stop;
        if (m_pid > 0 && is_idle) {
            log(Level::info, "engine stopped: idle", {{"pid", m_pid.load()}});
            reap(false);
        }
        if (m_uses == 0 || m_pid == 0) {
            m_silent_since = never;
            return {};
        }
        pid = m_pid;
    }
    if (ping(m_options.ping_interval)) {
        m_silent_since = never;
        return {};
    }
    m_silent_since = std::min(m_silent_since, steady_clock::now());
    Lock lock(m_mutex);
    if (m_pid != pid || steady_clock::now() - m_silent_since < m_options.hang_timeout) return {};
    log(Level::error, "engine does not respond and is killed", {{"pid", pid}});
    reap(true);
    m_silent_since = never;
    return {};
}

} // namespace hone::telemetry
