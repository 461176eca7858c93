#include "sandbox/wall/program.h"

#include "base/text.h"

#include <cerrno>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hone::sandbox {

Result<> run_program(const std::vector<std::string>& argv) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("run " + argv[0], errno);
    const Fd reader(ends[0]);
    Fd writer(ends[1]);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, writer.get(), 2);
    std::vector<char*> arguments;
    for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
    char* environment[] = {path, nullptr};
    pid_t pid = 0;
    const int failed = ::posix_spawn(&pid, argv[0].c_str(), &actions, nullptr, arguments.data(), environment);
    ::posix_spawn_file_actions_destroy(&actions);
    writer.reset();
    if (failed != 0) return system_error("run " + argv[0], failed);
    std::string said;
    char buffer[4096];
    for (ssize_t count; (count = ::read(reader.get(), buffer, sizeof buffer)) != 0;) {
        if (count < 0 && errno != EINTR) break;
        if (count > 0) said.append(buffer, static_cast<size_t>(count));
        if (said.size() > 16384) said.erase(0, said.size() - 4096);
    }
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    return internal(argv[0] + " failed: " + repair_utf8(trim(said)));
}

Result<std::string> find_init_program() {
    return find_beside("hone-init");
}

Result<std::string> find_beside(const std::string& name) {
    char path[4096];
    const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) return system_error("find this executable", errno);
    std::string directory(path, static_cast<size_t>(length));
    directory.resize(directory.rfind('/'));
    const std::string beside = directory + "/" + name;
    if (::access(beside.c_str(), X_OK) == 0) return beside;
    // Test programs are in the folder `tests` of the build tree. No other folder above is searched: it may be one that
    // every user can write to.
    const std::string above = directory + "/../" + name;
    struct stat found {};
    const bool is_ours = directory.ends_with("/tests") && ::lstat(above.c_str(), &found) == 0 &&
                         S_ISREG(found.st_mode) && (found.st_uid == ::geteuid() || found.st_uid == 0);
    if (is_ours && ::access(above.c_str(), X_OK) == 0) return above;
    return not_found(name + " in " + directory);
}

} // namespace hone::sandbox
