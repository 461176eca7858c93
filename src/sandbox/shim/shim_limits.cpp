// The clock and the limits of a sandbox as its shim keeps them, and what of it is written to the audit log.
#include "sandbox/image/tree.h"
#include "sandbox/shim/shim_keeper.h"
#include "sandbox/shim/unlinked_files.h"
#include "sandbox/wall/process_memory.h"
#include "sandbox/wall/stillness.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <functional>
#include <linux/magic.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <type_traits>
#include <unistd.h>

namespace hone::sandbox {

namespace {
constexpr Duration grace = std::chrono::seconds(2);
// How long a finished sandbox waits for a server to come back and ask.
constexpr Duration linger = std::chrono::hours(24);
// How long slow unmounting is put off, so that requests about the end are served first.
constexpr Duration pause_after_end = std::chrono::milliseconds(50);
// A watched place is measured with all processes stopped at least this often, plus 50 times what it takes (10 times
// when entries vanish while it is measured), so that they are stopped for little of the time.
constexpr Duration still_every = std::chrono::seconds(5);
constexpr Duration still_every_when_changed = std::chrono::seconds(1);
constexpr int still_attempts = 3;
constexpr unsigned longest_inspection_s = 20;
} // namespace

Duration boot_time() {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return std::chrono::seconds(now.tv_sec) + Duration(now.tv_nsec);
}

int64_t milliseconds(Duration duration) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

Duration Shim::next_deadline() const {
    Duration next = m_stopped != Duration{} ? m_stopped + linger
                                            : m_created + std::chrono::milliseconds(*m_spec.limits.value.wall_clock_ms);
    const auto sooner = [&](Duration time) {
        if (time != Duration{} && time < next) next = time;
    };
    for (const RunningCommand& command : m_commands) {
        if (command.result.finished) continue;
        sooner(command.kill_at != Duration{} ? command.kill_at : command.deadline);
    }
    for (const Connection& connection : m_connections)
        if (connection.pending) sooner(connection.pending_until);
    if (alive()) sooner(m_next_watch);
    if (m_slow_left) sooner(m_stopped + pause_after_end);
    return next;
}

void Shim::keep_time() {
    const Duration now = boot_time();
    if (m_stopped != Duration{}) {
        if (m_slow_left && now >= m_stopped + pause_after_end) release_slowly();
        if (now >= m_stopped + linger) leave();
        return;
    }
    if (now >= m_created + std::chrono::milliseconds(*m_spec.limits.value.wall_clock_ms) && !m_stopping) {
        hit(LimitHit::timeout);
        stop();
    }
    for (RunningCommand& command : m_commands) {
        if (command.exited || m_stopping) continue;
        if (command.kill_at != Duration{} && now >= command.kill_at) {
            command.kill_at = now + grace;
            m_body->signal(command.number, SIGKILL);
            // Whatever left its process group goes with the sandbox, when this command is what the sandbox is for.
            if (ends_with(command)) stop();
        } else if (command.kill_at == Duration{} && command.deadline != Duration{} && now >= command.deadline) {
            hit(command, LimitHit::timeout);
            m_body->signal(command.number, SIGTERM);
            command.kill_at = now + grace;
        }
    }
    if (m_next_watch != Duration{} && now >= m_next_watch) watch_limits();
}

// What the kernel does not limit by itself on this machine is measured from time to time.
void Shim::watch_limits() {
    m_spare.reset(); // not on the way of a start: unmounting waits for the disk
    if (m_view.limits_by != LimitKeeper::rlimit && !is_on_disk() && !m_volume) {
        m_next_watch = {};
        return;
    }
    const Duration begun = boot_time();
    measure();
    measure_tree_use();
    const Limits& limits = *m_spec.limits;
    if (m_view.limits_by == LimitKeeper::rlimit && m_memory_bytes > limits.memory_bytes) {
        hit(LimitHit::oom);
        stop();
    }
    measure_watched();
    const auto is_hit = [this](LimitHit limit) {
        return std::find(m_view.limits_hit.begin(), m_view.limits_hit.end(), limit) != m_view.limits_hit.end();
    };
    // The kernel counts the processes of a helper together with others of its user, and lets more begin.
    if ((is_watched() && is_hit(LimitHit::disk)) || (m_start.is_helper && is_hit(LimitHit::pids))) stop();
    // A large tree takes long to read: this process must not do nothing else.
    const Duration now = boot_time();
    m_next_watch = now + std::max(watch_every, 2 * (now - begun));
}

// Without cgroups: how much the processes use now. The kernel refuses what is over RLIMIT_NPROC without any event, so
// that many tasks count as the limit being hit.
void Shim::measure_tree_use() {
    if (m_view.limits_by != LimitKeeper::rlimit || !alive() || m_body->pid() == 0) return;
    const TreeUse use = process_tree_use(m_body->pid());
    m_memory_bytes = use.memory_bytes;
    struct statfs status {};
    if (!is_on_disk() && m_body->scratch() >= 0 && ::fstatfs(m_body->scratch(), &status) == 0)
        m_memory_bytes += static_cast<int64_t>(status.f_blocks - status.f_bfree) * status.f_bsize;
    m_view.peak_memory_bytes = std::max(m_view.peak_memory_bytes, m_memory_bytes);
    if (use.tasks > m_spec.limits.value.pids) hit(LimitHit::pids); // pid 1 is one more
}

namespace {

// Measures in a child process. With `namespace_of`, it has the rights of the user namespace of that process, in which
// an ordinary user's shim is the owner: the shim itself cannot read a directory of mode 000, and must not change the
// mode while the worker runs; nor can it inspect a process that is not dumpable.
template <class Measured>
std::optional<Measured> measure_apart(std::optional<pid_t> namespace_of, const std::function<Measured()>& measure) {
    static_assert(std::is_trivially_copyable_v<Measured>);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
    const Fd reader(ends[0]);
    Fd writer(ends[1]);
    const pid_t child = ::fork();
    if (child < 0) return std::nullopt;
    if (child == 0) {
        if (namespace_of) {
            const Fd owner(::open(("/proc/" + std::to_string(*namespace_of) + "/ns/user").c_str(), O_RDONLY));
            if (!owner.is_open() || ::setns(owner.get(), CLONE_NEWUSER) != 0) ::_exit(1);
        }
        const Measured measured = measure();
        ::_exit(::write(writer.get(), &measured, sizeof measured) == sizeof measured ? 0 : 1);
    }
    writer.reset();
    Measured measured;
    const bool whole = ::read(reader.get(), &measured, sizeof measured) == sizeof measured;
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return whole ? std::optional(measured) : std::nullopt;
}

int64_t free_bytes(int directory) {
    struct statfs status {};
    if (::fstatfs(directory, &status) != 0) return 0;
    return static_cast<int64_t>(status.f_bavail) * status.f_bsize;
}

// Of the file system that holds watched places: what a sandbox that hides its files well must leave to others.
int64_t reserved_bytes(int directory) {
    struct statfs status {};
    if (::fstatfs(directory, &status) != 0) return 0;
    return std::min(int64_t{1} << 30, static_cast<int64_t>(status.f_blocks) * status.f_bsize / 20);
}

} // namespace

// Tmpfs and memory files: what lies there counts as memory.
std::vector<dev_t> Shim::memory_devices() const {
    std::vector<dev_t> devices;
    struct stat status {};
    const Fd memory_file(::memfd_create("hone-device", MFD_CLOEXEC));
    if (::fstat(memory_file.get(), &status) == 0) devices.push_back(status.st_dev);
    if (!is_on_disk() && m_body->scratch() >= 0 && ::fstat(m_body->scratch(), &status) == 0)
        devices.push_back(status.st_dev);
    return devices;
}

// Before the worker runs: what it writes later must not be part of what is compared with.
void Shim::note_free_space() {
    if (!is_watched()) return;
    Fd folder;
    const auto& place = m_spec.capture ? m_spec.capture : m_spec.without_namespaces;
    if (!m_volume) folder = Fd(::open(place->c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    m_free_at_start = m_free_when_still = free_bytes(m_volume ? m_volume->files.get() : folder.get());
}

WatchedUse Shim::read_watched(int place, bool running) const {
    const int64_t most_files = *m_spec.limits.value.disk_inodes;
    WatchedUse use;
    use.size = measure_tree(place, most_files, running ? Unreadable::report : Unreadable::open);
    if (!running) return use;
    const pid_t root = m_body->pid();
    const auto owner = m_start.machine->as_root || m_start.is_helper ? std::nullopt : std::optional(root);
    if (use.size.denied)
        if (const auto size = measure_apart<TreeSize>(owner, [&] { return measure_tree(place, most_files); }))
            use.size = *size;
    const std::vector<dev_t> memory = memory_devices();
    UnlinkedUse unlinked = unlinked_use(root, memory, Inspection::listed);
    if (!unlinked.complete) {
        const auto inspect = [&] {
            ::alarm(longest_inspection_s);
            return unlinked_use(root, memory, Inspection::taken);
        };
        unlinked = measure_apart<UnlinkedUse>(owner, inspect).value_or(unlinked);
    }
    use.size.bytes += unlinked.bytes;
    use.may_hide_files = !unlinked.complete;
    return use;
}

bool Shim::is_over(const WatchedUse& use, int64_t free) const {
    const Limits& limits = *m_spec.limits;
    const int place = m_volume ? m_volume->files.get() : m_body->scratch();
    const int64_t reserved = reserved_bytes(place);
    const bool host_is_full = free < reserved && m_free_at_start >= reserved;
    // When not even a copy of every descriptor shows what they hold, the host's own growth is what can be measured,
    // with what others write.
    const bool hidden_growth = use.may_hide_files && m_free_at_start - free - use.size.bytes >= limits.disk_bytes;
    return use.size.bytes >= limits.disk_bytes || use.size.files > limits.disk_inodes || !use.size.complete ||
           host_is_full || hidden_growth;
}

// While processes run, they can move files from directories that are not read yet to those that were, and back. So a
// measurement that would end the sandbox, or that does not explain where the host's free space went, is repeated with
// all of them stopped; and so is one from time to time, more often when entries vanished.
bool Shim::needs_stillness(const WatchedUse& use, int64_t free) const {
    const int64_t unexplained = (m_free_when_still - free) - (use.size.bytes - m_still_bytes);
    const Duration next =
        use.size.changed ? m_next_still - (still_every - still_every_when_changed) - 40 * m_still_took : m_next_still;
    return is_over(use, free) || unexplained >= *m_spec.limits.value.disk_bytes / 4 || boot_time() >= next;
}

// Where the kernel cannot cap a place, it is measured. What could not be measured to the end counts as over the limit:
// otherwise a worker would only have to make measuring hard.
void Shim::measure_watched() {
    if (!is_watched()) return;
    const int place = m_volume ? m_volume->files.get() : m_body->scratch();
    const bool running = m_body->pid() != 0;
    WatchedUse use = read_watched(place, running);
    int64_t free = free_bytes(place);
    if (running && !m_stopping && m_view.state == State::running && needs_stillness(use, free)) {
        const Duration begun = boot_time();
        // A process that escaped being stopped makes the measurement as doubtful as the one before.
        bool is_certain = false;
        for (int attempt = 0; attempt < still_attempts && !is_certain; ++attempt) {
            const Stillness stillness(m_cgroup, m_body->pid());
            use = read_watched(place, running);
            free = free_bytes(place);
            is_certain = stillness.holds() && !use.size.changed;
        }
        use.size.complete = use.size.complete && is_certain;
        m_still_bytes = use.size.bytes;
        m_free_when_still = free;
        const Duration now = boot_time();
        m_still_took = now - begun;
        m_next_still = now + still_every + 50 * m_still_took;
    }
    m_view.disk_bytes = use.size.bytes;
    if (is_over(use, free)) hit(LimitHit::disk);
}

// A file system without a free block or inode has refused something, or is about to.
void Shim::measure() {
    const int sources[] = {m_body ? m_body->scratch() : -1,
                           m_volume && m_volume->directory.empty() ? m_volume->files.get() : -1};
    int64_t used = 0;
    for (const int source : sources) {
        struct statfs status {};
        if (source < 0 || is_on_disk() || ::fstatfs(source, &status) != 0) continue;
        used += static_cast<int64_t>(status.f_blocks - status.f_bfree) * status.f_bsize;
        // ext4 refuses a large write while a little is still free; tmpfs fills to the last page.
        const int64_t size = static_cast<int64_t>(status.f_blocks) * status.f_bsize;
        const int64_t little = status.f_type == EXT4_SUPER_MAGIC ? std::min<int64_t>(2 << 20, size / 10) : 65536;
        if (static_cast<int64_t>(status.f_bavail) * status.f_bsize < little || status.f_ffree < 2) hit(LimitHit::disk);
    }
    m_view.disk_bytes = std::max(m_view.disk_bytes, used);
}

void Shim::hit(LimitHit limit) {
    if (std::find(m_view.limits_hit.begin(), m_view.limits_hit.end(), limit) == m_view.limits_hit.end())
        m_view.limits_hit.push_back(limit);
}

void Shim::hit(RunningCommand& command, LimitHit limit) {
    auto& hits = command.result.limits_hit;
    if (std::find(hits.begin(), hits.end(), limit) == hits.end()) hits.push_back(limit);
    hit(limit);
}

const SandboxView& Shim::view() {
    m_view.commands.clear();
    for (RunningCommand& command : m_commands) {
        m_view.commands.push_back(command.result);
        if (!command.result.finished) m_view.commands.back().duration_ms = milliseconds(boot_time() - command.started);
    }
    if (alive()) {
        const CgroupUse use = m_cgroup.use();
        m_view.peak_memory_bytes = std::max(m_view.peak_memory_bytes, use.peak_memory_bytes);
        m_view.cpu_ns = std::max(m_view.cpu_ns, use.cpu_ns);
    }
    return m_view;
}

void Shim::collect_note(EventKind kind, const RunningCommand* command, const std::optional<Error>& error) {
    SandboxEvent event;
    event.time = m_clock.now();
    event.kind = kind;
    event.sandbox = m_view.id;
    event.labels = m_view.labels;
    if (error) event.error = error->message;
    if (kind == EventKind::start || kind == EventKind::refused) {
        if (!m_start.is_helper) event.tier = m_view.tier;
        if (m_start.is_helper) event.without_namespaces = true;
        event.limits_by = m_view.limits_by;
        event.host_uid = m_view.host_uid;
        event.root = *m_spec.root;
        event.thread = m_spec.thread;
        event.network = *m_spec.network;
        event.environment_names.emplace();
        for (const auto& [name, value] : *m_spec.env) event.environment_names->push_back(name);
    }
    if (command != nullptr) {
        event.command = command->number;
        event.argv = shorten(command->command.argv);
        event.cwd = *command->command.cwd;
    }
    if (kind == EventKind::command_end) {
        event.exit_code = command->result.exit_code;
        event.signal = command->result.signal;
        event.error = command->result.error;
        event.duration_ms = command->result.duration_ms;
        event.limits_hit = command->result.limits_hit;
        event.output_bytes = command->result.output_bytes;
    }
    if (kind == EventKind::teardown) {
        event.duration_ms = milliseconds(boot_time() - m_created);
        event.limits_hit = m_view.limits_hit;
        event.written_bytes = m_view.written_bytes;
        event.peak_memory_bytes = m_view.peak_memory_bytes;
        event.cpu_ns = m_view.cpu_ns;
    }
    m_notes.push_back(std::move(event));
}

Result<> Shim::note(EventKind kind, const RunningCommand* command, const std::optional<Error>& error) {
    collect_note(kind, command, error);
    return write_notes();
}

Result<> Shim::write_notes() {
    const std::vector<SandboxEvent> events = std::exchange(m_notes, {});
    return append_events(m_start.store->audit(), events);
}

} // namespace hone::sandbox
