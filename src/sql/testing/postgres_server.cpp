#include "sql/testing.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <grp.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace hone::sql::testing {

namespace {

[[noreturn]] void give_up(const std::string& why) {
    std::fprintf(stderr, "the tests need a PostgreSQL server: %s\n", why.c_str());
    std::abort();
}

// Debian keeps the server's programs off the PATH: /usr/lib/postgresql/15/bin.
std::string find_program(const std::string& name) {
    const std::filesystem::path root = "/usr/lib/postgresql";
    std::string found;
    std::error_code ignored;
    for (const auto& version : std::filesystem::directory_iterator(root, ignored))
        if (const auto path = version.path() / "bin" / name; std::filesystem::exists(path)) found = path.string();
    if (found.empty()) give_up("no " + name + " under " + root.string() + " (Debian package postgresql-15)");
    return found;
}

// PostgreSQL refuses to run as root.
const passwd* unprivileged_user() {
    if (::geteuid() != 0) return nullptr;
    const passwd* user = ::getpwnam("postgres");
    if (user == nullptr) give_up("no user \"postgres\" to run it as");
    return user;
}

// In the child: drops root, ends with the parent, becomes the program.
[[noreturn]] void become(const passwd* user, const std::vector<std::string>& command, const std::string& log_path) {
    if (user != nullptr && (::setgroups(0, nullptr) != 0 || ::setgid(user->pw_gid) != 0 || ::setuid(user->pw_uid) != 0))
        ::_exit(126);
    ::prctl(PR_SET_PDEATHSIG, SIGQUIT); // after setuid, which clears it; SIGQUIT: immediate shutdown
    if (::chdir("/") != 0) ::_exit(126);
    const int output = ::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (output < 0 || ::dup2(output, STDOUT_FILENO) < 0 || ::dup2(output, STDERR_FILENO) < 0) ::_exit(126);
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
}

int spawn(const std::vector<std::string>& command, const std::string& log_path) {
    const passwd* user = unprivileged_user();
    const int process = ::fork();
    if (process < 0) give_up("fork failed");
    if (process == 0) become(user, command, log_path);
    return process;
}

int wait_for_end(int process) {
    int status = 0;
    while (::waitpid(process, &status, 0) < 0)
        if (errno != EINTR) give_up("waitpid failed");
    return status;
}

} // namespace

PostgresServer::PostgresServer() {
    if (const passwd* user = unprivileged_user())
        if (::chown(m_directory.path().c_str(), user->pw_uid, user->pw_gid) != 0) give_up("chown failed");
    const std::string log_path = m_directory.path() + "/log";
    const int process = spawn({find_program("initdb"), "--no-sync", "--auth=trust", "--username=hone",
                               "--encoding=UTF8", "--locale=C", "--pgdata=" + m_directory.path() + "/data"},
                              log_path);
    if (wait_for_end(process) != 0) give_up("initdb failed, see " + log_path);
    start();
}

void PostgresServer::start() {
    // Nothing here must survive a power cut, so it need not wait for the disk.
    m_process = spawn({find_program("postgres"), "-D", m_directory.path() + "/data", "-k", m_directory.path(), "-c",
                       "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=80", "-c", "shared_buffers=16MB"},
                      m_directory.path() + "/log");
    const SystemClock clock;
    const Duration deadline = clock.steady() + std::chrono::seconds(60);
    while (PQping(url("postgres").c_str()) != PQPING_OK) {
        if (clock.steady() > deadline) give_up("it does not answer after a minute, see " + m_directory.path() + "/log");
        if (::waitpid(m_process, nullptr, WNOHANG) == m_process)
            give_up("it ended, see " + m_directory.path() + "/log");
        std::this_thread::sleep_for(std::chrono::milliseconds(10)); // between polls, with a deadline
    }
}

void PostgresServer::stop() {
    if (m_process < 0) return;
    ::kill(m_process, SIGINT); // fast shutdown
    wait_for_end(m_process);
    m_process = -1;
}

PostgresServer::~PostgresServer() {
    stop();
}

std::string PostgresServer::url(const std::string& database) const {
    return "postgres:///" + database + "?host=" + m_directory.path() + "&user=hone";
}

void PostgresServer::administrate(const std::string& sql) const {
    PGconn* connection = PQconnectdb(url("postgres").c_str());
    PGresult* result = PQexec(connection, sql.c_str());
    if (PQresultStatus(result) != PGRES_COMMAND_OK) give_up(sql + ": " + PQerrorMessage(connection));
    PQclear(result);
    PQfinish(connection);
}

PostgresServer& shared_postgres() {
    static PostgresServer server; // started by the first test that needs it, stopped when the process ends
    return server;
}

} // namespace hone::sql::testing
