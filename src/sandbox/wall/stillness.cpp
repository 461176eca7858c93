#include "sandbox/wall/stillness.h"

#include "base/text.h"
#include "sandbox/wall/process_memory.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <dirent.h>
#include <memory>
#include <poll.h>

namespace hone::sandbox {

namespace {

// How long the kernel may take until all of a group are frozen. Those that are late wait inside one system call.
constexpr int freeze_patience_ms = 200;
// A worker can let stopped processes continue as long as one of its processes runs: stopping is repeated.
constexpr int most_rounds = 50;

// What follows `name` in a file of lines "name: value".
std::string_view value_in(std::string_view facts, std::string_view name) {
    for (const std::string_view line : split(facts, '\n'))
        if (line.starts_with(name)) return trim(line.substr(name.size()));
    return {};
}

bool is_stop_pending(std::string_view facts) {
    constexpr uint64_t stop = uint64_t{1} << (SIGSTOP - 1);
    uint64_t signals = 0;
    const std::string_view mask = value_in(facts, "ShdPnd:");
    (void)std::from_chars(mask.data(), mask.data() + mask.size(), signals, 16);
    return (signals & stop) != 0;
}

// Whether no thread of the process executes an instruction of its program any more, until it is continued: it has
// ended, one of its threads is stopped (then the others stop before they leave the kernel), or the signal waits for all
// of them.
bool is_still(pid_t pid) {
    const std::string folder = "/proc/" + std::to_string(pid) + "/task";
    const std::unique_ptr<DIR, int (*)(DIR*)> threads(::opendir(folder.c_str()), ::closedir);
    bool has_ended = true;
    while (const dirent* thread = threads ? ::readdir(threads.get()) : nullptr) {
        if (thread->d_name[0] == '.') continue;
        const auto facts = read_file(folder + "/" + thread->d_name + "/status", 65536);
        if (!facts.ok()) continue;
        const std::string_view state = value_in(facts.value(), "State:");
        if (state.starts_with('T') || is_stop_pending(facts.value())) return true;
        has_ended = has_ended && (state.starts_with('Z') || state.starts_with('X'));
    }
    return has_ended;
}

} // namespace

Stillness::Stillness(const Cgroup& group, pid_t root) : m_group(group), m_root(root) {
    m_by_group = group.freeze(true).ok();
    if (!m_by_group) {
        m_all_stopped = stop_descendants();
        return;
    }
    for (int waited = 0; waited < freeze_patience_ms && !group.is_frozen(); ++waited) ::poll(nullptr, 0, 1);
}

// Parents before their children, and the other way round at the end: so a parent that waits for stopped children never
// sees one.
bool Stillness::stop_descendants() {
    for (int round = 0; round < most_rounds; ++round) {
        bool changed = false;
        for (const pid_t pid : process_descendants(m_root)) {
            if (is_still(pid)) continue;
            changed = true;
            if (::kill(pid, SIGSTOP) != 0) continue;
            if (std::find(m_stopped.begin(), m_stopped.end(), pid) == m_stopped.end()) m_stopped.push_back(pid);
        }
        if (!changed) return true;
        ::poll(nullptr, 0, 1); // until the others have seen the signal
    }
    return false;
}

// Of a frozen group at most those run that finish a system call.
bool Stillness::holds() const {
    if (m_by_group) return true;
    const std::vector<pid_t> pids = process_descendants(m_root);
    return m_all_stopped && std::all_of(pids.begin(), pids.end(), is_still);
}

Stillness::~Stillness() {
    if (m_by_group) (void)m_group.freeze(false).ok();
    for (auto pid = m_stopped.rbegin(); pid != m_stopped.rend(); ++pid) ::kill(*pid, SIGCONT);
}

} // namespace hone::sandbox
