#include "sandbox/wall/process_memory.h"

#include "base/file.h"
#include "base/text.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <sys/stat.h>
#include <sys/sysmacros.h>
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

constexpr int64_t most_descriptors = 200'000;

class UnlinkedMeter {
public:
    explicit UnlinkedMeter(const std::vector<dev_t>& memory_devices) : m_memory_devices(memory_devices) {}

    void inspect(const std::string& process) {
        count_file(process + "/exe");
        count_descriptors(process);
        count_mappings(process);
    }

    UnlinkedUse finish() {
        for (const auto& [file, bytes] : m_files) m_use.bytes += bytes;
        return m_use;
    }

private:
    using File = std::pair<dev_t, ino_t>;

    bool takes_disk(dev_t device) const {
        return std::find(m_memory_devices.begin(), m_memory_devices.end(), device) == m_memory_devices.end();
    }

    void add(const File& file, int64_t bytes) {
        int64_t& known = m_files[file];
        known = std::max(known, bytes);
    }

    // True when it is a socket.
    bool count_file(const std::string& path) {
        struct stat status {};
        if (::stat(path.c_str(), &status) != 0) {
            if (errno == EACCES || errno == EPERM) m_use.complete = false;
            return false;
        }
        if (S_ISREG(status.st_mode) && status.st_nlink == 0 && takes_disk(status.st_dev))
            add({status.st_dev, status.st_ino}, status.st_blocks * 512);
        return S_ISSOCK(status.st_mode);
    }

    void count_descriptors(const std::string& process) {
        const std::unique_ptr<DIR, int (*)(DIR*)> descriptors(::opendir((process + "/fd").c_str()), ::closedir);
        if (!descriptors && errno != ENOENT && errno != ESRCH) m_use.complete = false;
        while (const dirent* entry = descriptors ? ::readdir(descriptors.get()) : nullptr) {
            if (entry->d_name[0] == '.') continue;
            if (++m_descriptors > most_descriptors) {
                m_use.complete = false;
                return;
            }
            if (count_file(process + "/fd/" + entry->d_name)) look_into_socket(process + "/fdinfo/" + entry->d_name);
        }
    }

    void look_into_socket(const std::string& path) {
        const auto facts = read_file(path, 4096);
        if (!facts.ok()) return;
        for (const std::string_view line : split(facts.value(), '\n'))
            if (line.starts_with("scm_fds:") && trim(line.substr(8)) != "0") m_use.complete = false;
    }

    // A mapping keeps a file after its descriptor was closed. Only the mapped part is known then.
    void count_mappings(const std::string& process) {
        const auto maps = read_file(process + "/maps", 64 << 20);
        if (!maps.ok()) return;
        for (const std::string_view line : split(maps.value(), '\n')) {
            if (!line.ends_with(" (deleted)")) continue;
            unsigned long long from = 0, to = 0, offset = 0, inode = 0;
            unsigned major_number = 0, minor_number = 0;
            if (std::sscanf(std::string(line.substr(0, 200)).c_str(), "%llx-%llx %*s %llx %x:%x %llu", &from, &to,
                            &offset, &major_number, &minor_number, &inode) != 6)
                continue;
            const dev_t device = makedev(major_number, minor_number);
            if (takes_disk(device) && major_number + minor_number != 0)
                add({device, static_cast<ino_t>(inode)}, static_cast<int64_t>(offset + to - from));
        }
    }

    const std::vector<dev_t>& m_memory_devices;
    UnlinkedUse m_use;
    int64_t m_descriptors = 0;
    std::map<File, int64_t> m_files;
};

} // namespace

UnlinkedUse unlinked_use(pid_t root, const std::vector<dev_t>& memory_devices) {
    UnlinkedMeter meter(memory_devices);
    bool at_root = true;
    std::vector<std::string> waiting{"/proc/" + std::to_string(root)};
    while (!waiting.empty()) {
        const std::string process = std::move(waiting.back());
        waiting.pop_back();
        add_children(process, waiting);
        if (!at_root) meter.inspect(process);
        at_root = false;
    }
    return meter.finish();
}

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
