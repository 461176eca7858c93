#include "run/harnesses/npm.h"

#include "base/file.h"
#include "run/harnesses/harness_store.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hone::run {

namespace {

constexpr int64_t npm_watch_ms = 250;

// Everything else of the environment, secrets of the server among it, stays here.
constexpr const char* npm_variables[] = {"npm_config_registry",
                                         "NPM_CONFIG_REGISTRY",
                                         "npm_config_cafile",
                                         "NPM_CONFIG_CAFILE",
                                         "npm_config_proxy",
                                         "HTTP_PROXY",
                                         "HTTPS_PROXY",
                                         "NO_PROXY",
                                         "http_proxy",
                                         "https_proxy",
                                         "no_proxy",
                                         "NODE_EXTRA_CA_CERTS",
                                         "SSL_CERT_FILE",
                                         "npm_config_userconfig",
                                         "NPM_CONFIG_USERCONFIG",
                                         "npm_config_https_proxy"};

// The exit code, as a shell has it. A cancelled program is ended with everything that it started.
Result<int> wait_for_end(pid_t pid, const std::string& name, const InstallWatch& watch) {
    const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    int status = 0;
    bool cancelled = false;
    for (;;) {
        const bool watches = watch.cancelled && !cancelled;
        const pid_t ended = ::waitpid(pid, &status, watches ? WNOHANG : 0);
        if (ended == pid) break;
        if (ended < 0 && errno != EINTR) return system_error("wait for " + name, errno);
        if (ended != 0 || !watches) continue;
        cancelled = watch.is_cancelled();
        if (cancelled) ::kill(-pid, SIGKILL);
        pollfd end{process.get(), POLLIN, 0};
        if (!cancelled) ::poll(&end, 1, static_cast<int>(npm_watch_ms));
    }
    if (cancelled) return conflict("the installation was cancelled");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace

std::vector<std::string> npm_environment(const std::string& home) {
    const char* path = std::getenv("PATH");
    std::vector<std::string> environment{"PATH=" + std::string(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path),
                                         "HOME=" + home, "LANG=C.UTF-8"};
    bool has_settings = false;
    for (const char* name : npm_variables)
        if (const char* value = std::getenv(name)) {
            environment.push_back(std::string(name) + "=" + value);
            has_settings = has_settings || std::string_view(name).ends_with("serconfig") ||
                           std::string_view(name).ends_with("USERCONFIG");
        }
    // A private registry and its key: npm reads them from there, packages never see the file.
    const char* own_home = std::getenv("HOME");
    if (!has_settings && own_home != nullptr && file_exists(std::string(own_home) + "/.npmrc"))
        environment.push_back("npm_config_userconfig=" + std::string(own_home) + "/.npmrc");
    return environment;
}

Result<int> run_npm(const std::vector<std::string>& argv, const std::string& directory, const std::string& log,
                    const InstallWatch& watch) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    std::vector<char*> arguments, variables;
    for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    const std::vector<std::string> environment = npm_environment(directory + "/.home");
    for (const std::string& variable : environment) variables.push_back(const_cast<char*>(variable.c_str()));
    variables.push_back(nullptr);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    // What can be cancelled has a process group of its own, which is ended as a whole. Threads of the server block
    // signals that npm needs.
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | (watch.cancelled ? POSIX_SPAWN_SETPGROUP : 0)));
    pid_t pid = 0;
    const int failed = posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), variables.data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (failed == ENOENT) return 127; // as in a shell
    if (failed != 0) return system_error("start " + argv[0], failed);
    return wait_for_end(pid, argv[0], watch);
}

bool names_network_failure(std::string_view output) {
    // As Node.js and npm name them.
    constexpr std::string_view names[] = {"ENOTFOUND",    "EAI_AGAIN",  "ECONNREFUSED", "ETIMEDOUT",  "ENETUNREACH",
                                          "EHOSTUNREACH", "ECONNRESET", "ERR_SOCKET",   "ENOTCACHED", "EIDLETIMEOUT"};
    return std::any_of(std::begin(names), std::end(names),
                       [&](std::string_view name) { return output.find(name) != output.npos; });
}

} // namespace hone::run
