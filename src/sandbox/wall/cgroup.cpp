#include "sandbox/wall/cgroup.h"

#include "base/text.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <thread>
#include <unistd.h>

namespace hone::sandbox {

namespace {

// Files of a cgroup take one write and may refuse it; no temporary file, no sync.
Result<> write_control(const std::string& path, std::string_view content) {
    const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.is_open()) return system_error("open " + path, errno);
    if (::write(file.get(), content.data(), content.size()) < 0) return system_error("write " + path, errno);
    return {};
}

std::string read_control(const std::string& path) {
    auto content = read_file(path, 1 << 20);
    return content.ok() ? std::string(trim(content.value())) : std::string();
}

// The number after `name` in lines of "name number".
int64_t count_in(std::string_view content, std::string_view name) {
    for (const std::string_view line : split(content, '\n')) {
        const auto words = split(line, ' ');
        if (words.size() == 2 && words[0] == name) {
            const auto number = parse_integer(words[1]);
            return number.ok() ? number.value() : 0;
        }
    }
    return 0;
}

int64_t read_count(const std::string& path, std::string_view name) {
    return count_in(read_control(path), name);
}

int64_t read_number(const std::string& path) {
    const auto number = parse_integer(read_control(path));
    return number.ok() ? number.value() : 0;
}

bool has_word(std::string_view list, std::string_view word, char separator) {
    const auto words = split(list, separator);
    return std::find(words.begin(), words.end(), word) != words.end();
}

// Where a hierarchy is mounted, from a line of mountinfo: "… root mountpoint options - type source super-options".
struct Hierarchy {
    std::string point;
    std::string root;
    std::string type;
    std::string controllers;
};

std::vector<Hierarchy> mounted_hierarchies() {
    std::vector<Hierarchy> found;
    const std::string table = read_control("/proc/self/mountinfo");
    for (const std::string_view line : split(table, '\n')) {
        const auto words = split(line, ' ');
        const auto dash = std::find(words.begin(), words.end(), "-");
        if (words.size() < 10 || words.end() - dash < 4) continue;
        if (dash[1] == "cgroup" || dash[1] == "cgroup2")
            found.push_back({std::string(words[4]), std::string(words[3]), std::string(dash[1]), std::string(dash[3])});
    }
    return found;
}

// Our own group's directory in a hierarchy, given its line "N:controllers:path" of /proc/self/cgroup.
std::string own_directory(const Hierarchy& hierarchy, std::string_view group) {
    std::string_view below = group;
    if (hierarchy.root != "/" && below.starts_with(hierarchy.root)) below.remove_prefix(hierarchy.root.size());
    const std::string directory = hierarchy.point + (below == "/" ? "" : std::string(below));
    struct stat status {};
    return ::stat(directory.c_str(), &status) == 0 ? directory : hierarchy.point;
}

bool can_create_in(const std::string& directory) {
    return !directory.empty() && ::access(directory.c_str(), W_OK | X_OK) == 0;
}

// Moves all processes of a group to a leaf below it. Processes that fork meanwhile are found by the next round.
bool move_to_leaf(const std::string& directory) {
    const std::string leaf = directory + "/hone-server";
    if (::mkdir(leaf.c_str(), 0755) != 0 && errno != EEXIST) return false;
    const std::string processes = read_control(directory + "/cgroup.procs");
    for (const std::string_view pid : split(processes, '\n')) {
        if (pid.empty()) continue;
        const auto moved = write_control(leaf + "/cgroup.procs", pid);
        const auto number = parse_integer(pid);
        // One that has ended since is as good as moved.
        if (!moved.ok() && number.ok() && ::kill(static_cast<pid_t>(number.value()), 0) == 0) return false;
    }
    return true;
}

// A group with processes in it cannot hand down controllers, unless it is the root of the machine, where nothing needs
// to move, and nothing should.
bool hand_down_controllers(const std::string& directory) {
    const std::string switches = directory + "/cgroup.subtree_control";
    const std::string enabled = read_control(switches);
    if (has_word(enabled, "memory", ' ') && has_word(enabled, "pids", ' ') && has_word(enabled, "cpu", ' '))
        return true;
    for (int round = 0; round < 5; ++round) {
        if (write_control(switches, "+memory +pids +cpu").ok()) return true;
        if (!move_to_leaf(directory)) return false;
    }
    return false;
}

// Version 2 lets a process be moved only by someone who may write the common ancestor: the server's own group.
void probe_unified(CgroupHost& host, const Hierarchy& hierarchy, std::string_view group, bool prepare) {
    std::string directory = own_directory(hierarchy, group);
    if (directory.ends_with("/hone-server")) directory.resize(directory.size() - 12);
    if (!can_create_in(directory) || ::access((directory + "/cgroup.procs").c_str(), W_OK) != 0) return;
    const std::string controllers = read_control(directory + "/cgroup.controllers");
    const bool complete =
        has_word(controllers, "memory", ' ') && has_word(controllers, "pids", ' ') && has_word(controllers, "cpu", ' ');
    host.unified = directory;
    host.unified_limits = complete && (!prepare || hand_down_controllers(directory));
    host.unified_io = host.unified_limits && has_word(controllers, "io", ' ') &&
                      (!prepare || write_control(directory + "/cgroup.subtree_control", "+io").ok());
}

Result<> set_unified_limits(const std::string& directory, const Limits& limits) {
    TRY(write_control(directory + "/memory.max", std::to_string(*limits.memory_bytes)));
    if (file_exists(directory + "/memory.swap.max")) TRY(write_control(directory + "/memory.swap.max", "0"));
    TRY(write_control(directory + "/memory.oom.group", "1"));
    TRY(write_control(directory + "/pids.max", std::to_string(*limits.pids + 1))); // and pid 1
    const auto quota = static_cast<int64_t>(limits.cpus.value * 100'000);
    return write_control(directory + "/cpu.max", std::to_string(std::max(int64_t{1000}, quota)) + " 100000");
}

Result<> set_memory_limit(const std::string& directory, const Limits& limits) {
    const std::string bytes = std::to_string(*limits.memory_bytes);
    TRY(write_control(directory + "/memory.limit_in_bytes", bytes));
    if (file_exists(directory + "/memory.memsw.limit_in_bytes"))
        TRY(write_control(directory + "/memory.memsw.limit_in_bytes", bytes));
    return write_control(directory + "/memory.swappiness", "0");
}

bool is_empty(const std::string& directory) {
    return read_control(directory + "/cgroup.procs").empty();
}

// The first ten characters of an id are milliseconds.
Time made_at(const SandboxId& id) {
    static constexpr std::string_view digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    int64_t milliseconds = 0;
    for (const char digit : id.text().substr(SandboxTag::kind.size() + 1, 10))
        milliseconds = milliseconds << 5 | static_cast<int64_t>(digits.find(digit) & 31);
    return from_ns(milliseconds * 1'000'000);
}

} // namespace

LimitKeeper CgroupHost::keeper() const {
    if (unified_limits) return LimitKeeper::cgroup2;
    if (!memory.empty() && !pids.empty() && !cpu.empty()) return LimitKeeper::cgroup1;
    return LimitKeeper::rlimit;
}

CgroupHost CgroupHost::probe(bool prepare) {
    CgroupHost host;
    const auto hierarchies = mounted_hierarchies();
    const std::string groups = read_control("/proc/self/cgroup");
    for (const std::string_view line : split(groups, '\n')) {
        const size_t first = line.find(':');
        const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
        if (second == std::string_view::npos) continue;
        const std::string_view controllers = line.substr(first + 1, second - first - 1);
        const std::string_view group = line.substr(second + 1);
        for (const Hierarchy& hierarchy : hierarchies) {
            if (controllers.empty()) {
                if (hierarchy.type == "cgroup2") probe_unified(host, hierarchy, group, prepare);
                continue;
            }
            if (hierarchy.type != "cgroup") continue;
            const auto take = [&](std::string_view controller, std::string& into) {
                if (!has_word(controllers, controller, ',') || !has_word(hierarchy.controllers, controller, ','))
                    return;
                const std::string directory = own_directory(hierarchy, group);
                if (can_create_in(directory)) into = directory;
            };
            take("memory", host.memory);
            take("pids", host.pids);
            take("cpu", host.cpu);
            take("freezer", host.freezer);
            take("blkio", host.blkio);
        }
    }
    if (!file_exists(host.blkio + "/blkio.throttle.read_bps_device")) host.blkio.clear();
    if (host.keeper() == LimitKeeper::rlimit)
        host.advice = "no writable cgroup with memory, pids and cpu: start Hone as root, or as a systemd service with "
                      "Delegate=yes";
    return host;
}

std::vector<std::string> Cgroup::plan(const CgroupHost& host, const SandboxId& id) {
    std::vector<std::string> directories;
    const auto add = [&](const std::string& parent) {
        const std::string directory = parent + "/" + id.text();
        if (!parent.empty() && std::find(directories.begin(), directories.end(), directory) == directories.end())
            directories.push_back(directory);
    };
    add(host.unified);
    if (host.keeper() == LimitKeeper::cgroup1) {
        add(host.memory);
        add(host.pids);
        add(host.cpu);
        add(host.blkio);
    }
    if (host.unified.empty()) add(host.freezer);
    return directories;
}

Cgroup Cgroup::adopt(std::vector<std::string> directories) {
    Cgroup group;
    group.m_directories = std::move(directories);
    return group;
}

int64_t remove_empty_groups(const CgroupHost& host, Time before) {
    int64_t removed = 0;
    for (const std::string* parent : {&host.unified, &host.memory, &host.pids, &host.cpu, &host.freezer, &host.blkio}) {
        if (parent->empty()) continue;
        const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(parent->c_str()), ::closedir);
        while (const dirent* entry = stream ? ::readdir(stream.get()) : nullptr) {
            const auto id = parse_id<SandboxTag>(entry->d_name);
            if (!id.ok() || made_at(id.value()) >= before) continue;
            if (::rmdir((*parent + "/" + entry->d_name).c_str()) == 0) ++removed;
        }
    }
    return removed;
}

std::string Cgroup::find(std::string_view file) const {
    for (const std::string& directory : m_directories) {
        std::string path = directory + "/" + std::string(file);
        if (file_exists(path)) return path;
    }
    return {};
}

Result<Cgroup> Cgroup::create(const CgroupHost& host, std::vector<std::string> directories) {
    Cgroup group = adopt(std::move(directories));
    for (const std::string& directory : group.m_directories) {
        // A group that ever saw cgroup.kill kills its next member too: never take over an old one.
        if (::mkdir(directory.c_str(), 0755) != 0) return system_error("create " + directory, errno);
        if (!host.unified.empty() && directory.starts_with(host.unified + "/") &&
            file_exists(directory + "/cgroup.freeze")) {
            group.m_clone_directory = Fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        }
    }
    if (host.keeper() == LimitKeeper::cgroup2) group.m_memory_events = EventFile(group.find("memory.events"));
    if (host.keeper() != LimitKeeper::cgroup1) return group;

    const std::string memory = group.find("memory.limit_in_bytes");
    const std::string memory_directory = memory.substr(0, memory.rfind('/'));
    group.m_oom_file = Fd(::open((memory_directory + "/memory.oom_control").c_str(), O_RDONLY | O_CLOEXEC));
    group.m_oom = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    TRY(write_control(memory_directory + "/cgroup.event_control",
                      std::to_string(group.m_oom.get()) + " " + std::to_string(group.m_oom_file.get())));
    return group;
}

Result<> Cgroup::limit(const CgroupHost& host, const Limits& limits) const {
    if (host.keeper() == LimitKeeper::rlimit) return {};
    const std::string memory = find(host.unified_limits ? "memory.max" : "memory.limit_in_bytes");
    const std::string directory = memory.substr(0, memory.rfind('/'));
    if (host.unified_limits) return set_unified_limits(directory, limits);
    TRY(set_memory_limit(directory, limits));
    TRY(write_control(find("pids.max"), std::to_string(*limits.pids + 1))); // and pid 1
    // A quota of every processor there is limits nothing, and setting one is not cheap.
    if (limits.cpus.value >= static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN))) return {};
    const auto quota = static_cast<int64_t>(limits.cpus.value * 100'000);
    return write_control(find("cpu.cfs_quota_us"), std::to_string(std::max(int64_t{1000}, quota)));
}

Result<> Cgroup::limit_io(const CgroupHost& host, const std::vector<std::string>& devices,
                          int64_t bytes_per_second) const {
    if (!host.can_limit_io() || host.keeper() == LimitKeeper::rlimit || devices.empty())
        return unavailable("this machine cannot limit disk throughput");
    const std::string number = std::to_string(bytes_per_second);
    for (const std::string& device : devices) {
        if (host.unified_limits) {
            TRY(write_control(find("io.max"), device + " rbps=" + number + " wbps=" + number));
            continue;
        }
        TRY(write_control(find("blkio.throttle.read_bps_device"), device + " " + number));
        TRY(write_control(find("blkio.throttle.write_bps_device"), device + " " + number));
    }
    return {};
}

std::string block_device(dev_t device) {
    const std::string number = std::to_string(major(device)) + ":" + std::to_string(minor(device));
    const std::string folder = "/sys/dev/block/" + number;
    if (major(device) == 0 || !file_exists(folder)) return {};
    if (!file_exists(folder + "/partition")) return number;
    return read_control(folder + "/../dev"); // limits are kept per disk, not per partition
}

bool Cgroup::is_named_by_clone(const std::string& directory) const {
    return m_clone_directory.is_open() && file_exists(directory + "/cgroup.freeze");
}

Result<> Cgroup::attach(pid_t pid) const {
    for (const std::string& directory : m_directories)
        if (!is_named_by_clone(directory)) TRY(write_control(directory + "/cgroup.procs", std::to_string(pid)));
    return {};
}

Result<std::vector<Fd>> Cgroup::entrances() const {
    std::vector<Fd> files;
    for (const std::string& directory : m_directories) {
        if (is_named_by_clone(directory)) continue;
        // Version 1 has `tasks`, which moves one thread: the kernel then need not keep all others from forking, which
        // is what the grace period is for.
        Fd file(::open((directory + "/tasks").c_str(), O_WRONLY | O_CLOEXEC));
        if (!file.is_open()) file = Fd(::open((directory + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
        if (!file.is_open()) return system_error("open " + directory + "/cgroup.procs", errno);
        files.push_back(std::move(file));
    }
    return files;
}

bool Cgroup::take_oom() const {
    if (oom_is_urgent_event()) return count_in(m_memory_events.read(), "oom_kill") > 0;
    eventfd_t ignored = 0;
    (void)::eventfd_read(m_oom.get(), &ignored);
    // Version 1 notifies before it kills and counts: the event is gone then, so the count is waited for.
    for (int wait = 0; wait < 200; ++wait) {
        if (use().oom_kills > 0) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
}

Result<> Cgroup::freeze(bool frozen) const {
    if (const std::string file = find("cgroup.freeze"); !file.empty()) return write_control(file, frozen ? "1" : "0");
    if (const std::string file = find("freezer.state"); !file.empty())
        return write_control(file, frozen ? "FROZEN" : "THAWED");
    return unavailable("this machine has no cgroup that can freeze");
}

bool Cgroup::is_frozen() const {
    if (const std::string file = find("cgroup.freeze"); !file.empty())
        return read_count(find("cgroup.events"), "frozen") == 1;
    return read_control(find("freezer.state")) == "FROZEN";
}

void Cgroup::kill() const {
    if (const std::string file = find("cgroup.kill"); !file.empty() && write_control(file, "1").ok()) return;
    for (const std::string& directory : m_directories) {
        const std::string processes = read_control(directory + "/cgroup.procs");
        for (const std::string_view line : split(processes, '\n')) {
            const auto pid = parse_integer(line);
            if (pid.ok() && pid.value() > 1) ::kill(static_cast<pid_t>(pid.value()), SIGKILL);
        }
    }
    // A version 1 freezer holds even SIGKILL back until it thaws.
    if (const std::string file = find("freezer.state"); !file.empty()) (void)write_control(file, "THAWED").ok();
}

CgroupUse Cgroup::use() const {
    CgroupUse use;
    // Of version 1 or of version 2: a machine has the memory controller once.
    std::string peak = find("memory.max_usage_in_bytes"), kills = find("memory.oom_control");
    if (kills.empty()) peak = find("memory.peak"), kills = find("memory.events");
    if (!peak.empty()) use.peak_memory_bytes = read_number(peak);
    if (!kills.empty()) use.oom_kills = read_count(kills, "oom_kill");
    if (const std::string file = find("pids.events"); !file.empty()) use.pids_refused = read_count(file, "max");
    if (const std::string file = find("cpu.stat"); !file.empty()) use.cpu_ns = read_count(file, "usage_usec") * 1000;
    return use;
}

Result<> enter_groups(const std::vector<Fd>& entrances) {
    for (const Fd& entrance : entrances)
        if (::write(entrance.get(), "0", 1) != 1) return system_error("enter a cgroup", errno);
    return {};
}

Result<> Cgroup::remove() {
    m_clone_directory.reset();
    m_memory_events.close();
    m_oom.reset();
    m_oom_file.reset();
    Result<> outcome;
    for (const std::string& directory : m_directories) {
        // Dying processes leave their group a moment after they are waited for.
        int left = 500;
        while (::rmdir(directory.c_str()) != 0 && errno != ENOENT) {
            if (errno != EBUSY || left-- == 0) {
                outcome = system_error("remove " + directory, errno);
                break;
            }
            if (!is_empty(directory)) kill();
            ::poll(nullptr, 0, left > 480 ? 1 : 10);
        }
    }
    return outcome;
}

} // namespace hone::sandbox
