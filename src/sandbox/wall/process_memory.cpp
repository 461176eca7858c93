#include "sandbox/wall/process_memory.h"

#include "base/file.h"
#include "base/text.h"

#include <dirent.h>
#include <memory>
#include <set>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace hone::sandbox {

namespace {

int64_t process_memory(const std::string& directory) {
    auto table = read_file(directory + "/smaps_rollup", 65536);
    if (!table.ok()) return 0;
    for (const std::string_view line : split(table.value(), '\n')) {
        if (!line.starts_with("Pss:")) continue;
        const std::string_view rest = trim(line.substr(4));
        const auto kibibytes = parse_integer(rest.substr(0, rest.find(' ')));
        return kibibytes.ok() ? kibibytes.value() * 1024 : 0;
    }
    return 0;
}

// Memory files that no process has mapped count in no process's set.
int64_t memory_files(const std::string& directory, std::set<ino_t>& counted) {
    int64_t sum = 0;
    const std::unique_ptr<DIR, int (*)(DIR*)> descriptors(::opendir((directory + "/fd").c_str()), ::closedir);
    while (const dirent* entry = descriptors ? ::readdir(descriptors.get()) : nullptr) {
        const std::string path = directory + "/fd/" + entry->d_name;
        char target[16] = {};
        struct stat status {};
        if (::readlink(path.c_str(), target, sizeof target - 1) <= 0 ||
            std::string_view(target).substr(0, 7) != "/memfd:")
            continue;
        if (::stat(path.c_str(), &status) == 0 && counted.insert(status.st_ino).second) sum += status.st_blocks * 512;
    }
    return sum;
}

// Returns the number of threads.
int64_t add_children(const std::string& directory, std::vector<std::string>& waiting) {
    int64_t count = 0;
    const std::unique_ptr<DIR, int (*)(DIR*)> threads(::opendir((directory + "/task").c_str()), ::closedir);
    if (!threads) return 0;
    while (const dirent* thread = ::readdir(threads.get())) {
        if (thread->d_name[0] == '.') continue;
        ++count;
        const auto children = read_file(directory + "/task/" + thread->d_name + "/children", 1 << 20);
        if (!children.ok()) continue;
        for (const std::string_view pid : split(trim(children.value()), ' '))
            if (!pid.empty()) waiting.push_back("/proc/" + std::string(pid));
    }
    return count;
}

} // namespace

std::vector<pid_t> process_descendants(pid_t root) {
    constexpr std::string_view folder = "/proc/";
    std::vector<pid_t> found;
    std::vector<std::string> waiting;
    add_children(std::string(folder) + std::to_string(root), waiting);
    while (!waiting.empty()) {
        const std::string process = std::move(waiting.back());
        waiting.pop_back();
        const auto pid = parse_integer(std::string_view(process).substr(folder.size()));
        if (pid.ok()) found.push_back(static_cast<pid_t>(pid.value()));
        add_children(process, waiting);
    }
    return found;
}

TreeUse process_tree_use(pid_t root) {
    TreeUse use;
    std::set<ino_t> counted;
    std::vector<std::string> waiting{"/proc/" + std::to_string(root)};
    while (!waiting.empty()) {
        const std::string directory = std::move(waiting.back());
        waiting.pop_back();
        use.memory_bytes += process_memory(directory) + memory_files(directory, counted);
        use.tasks += add_children(directory, waiting);
    }
    return use;
}

} // namespace hone::sandbox
