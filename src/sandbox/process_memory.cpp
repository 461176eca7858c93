#include "sandbox/process_memory.h"

#include "base/file.h"
#include "base/text.h"

#include <dirent.h>
#include <memory>
#include <string>
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

void add_children(const std::string& directory, std::vector<std::string>& waiting) {
    const std::unique_ptr<DIR, int (*)(DIR*)> threads(::opendir((directory + "/task").c_str()), ::closedir);
    if (!threads) return;
    while (const dirent* thread = ::readdir(threads.get())) {
        if (thread->d_name[0] == '.') continue;
        const auto children = read_file(directory + "/task/" + thread->d_name + "/children", 1 << 20);
        if (!children.ok()) continue;
        for (const std::string_view pid : split(trim(children.value()), ' '))
            if (!pid.empty()) waiting.push_back("/proc/" + std::string(pid));
    }
}

} // namespace

int64_t process_tree_memory(pid_t root) {
    int64_t sum = 0;
    std::vector<std::string> waiting{"/proc/" + std::to_string(root)};
    while (!waiting.empty()) {
        const std::string directory = std::move(waiting.back());
        waiting.pop_back();
        sum += process_memory(directory);
        add_children(directory, waiting);
    }
    return sum;
}

} // namespace hone::sandbox
