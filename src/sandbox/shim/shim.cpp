#include "sandbox/shim/shim_keeper.h"

#include "base/log.h"
#include "sandbox/image/image.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace hone::sandbox {

Result<> Shim::open_listener() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy_n("shim.sock", 10, address.sun_path); // relative: the full path may be too long for an address
    m_listener = Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (::bind(m_listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(m_listener.get(), 16) != 0)
        return system_error("listen on shim.sock", errno);
    return {};
}

// What lies on disk and must not go while it is mounted.
Result<> Shim::open_places() {
    const Store& store = *m_start.store;
    for (const std::string& layer : *m_spec.layers) m_held.push_back(TRY(store.hold(store.layers() + "/" + layer)));
    if (*m_spec.root != "host" && m_spec.root.value[0] != '/')
        m_held.push_back(TRY(store.hold(store.images() + "/" + *m_spec.root)));
    if (m_slot) m_spare = std::exchange(m_slot->volume, std::nullopt);
    if (m_spec.thread) {
        m_volume = TRY(Volumes(store, m_start.machine->as_root)
                           .open(*m_spec.thread, *m_spec.limits, std::exchange(m_spare, std::nullopt)));
        m_view.disk_by = m_volume->directory.empty() ? "tmpfs, ext4 image" : "tmpfs, watched directory";
    } else {
        m_view.disk_by = is_on_disk() ? "watched directory" : "tmpfs";
        if (m_start.tier == Tier::gvisor) m_view.disk_by = "tmpfs of gVisor, each place";
    }
    return {};
}

// The groups and the first process, which mounts the root while this one continues. A slot has both already.
Result<> Shim::begin() {
    if (m_slot) {
        m_cgroup = std::move(m_slot->cgroup);
        return {};
    }
    if (m_start.is_helper) return {}; // in the groups of the spawner
    const Machine& machine = *m_start.machine;
    m_cgroup = TRY(Cgroup::create(machine.cgroups, m_start.journal.cgroups));
    if (m_start.tier != Tier::ns) return {};
    const bool plain = TRY(root_layers(*m_start.store, m_spec)).is_plain(m_spec);
    m_slot.emplace();
    m_slot->launched = TRY(launch(ground_plan(machine, *m_start.store, m_start.host_uid, plain), m_cgroup));
    return {};
}

Result<> Shim::set_limits() {
    const CgroupHost& host = m_start.machine->cgroups;
    const Limits& limits = *m_spec.limits;
    if (!m_start.is_helper) TRY(m_cgroup.limit(host, limits));
    if (*limits.io_bytes_per_second == 0) return {};
    std::vector<std::string> devices;
    const auto add = [&](int descriptor) {
        struct stat status {};
        if (descriptor < 0 || ::fstat(descriptor, &status) != 0) return;
        if (std::string device = block_device(status.st_dev); !device.empty()) devices.push_back(std::move(device));
    };
    const Fd here(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)); // its folder, on the disk of the data directory
    add(here.get());
    if (m_volume && m_volume->directory.empty()) add(m_volume->files.get());
    if (m_start.is_helper || !m_cgroup.limit_io(host, devices, *limits.io_bytes_per_second).ok())
        m_view.not_limited.emplace_back("io");
    return {};
}

Result<> Shim::start() {
    const Machine& machine = *m_start.machine;
    if (m_spec.limits.value.require_cgroup && m_view.limits_by == LimitKeeper::rlimit)
        return unavailable("limits.require_cgroup: " + machine.cgroups.advice);
    TRY(begin());
    TRY(open_places());
    const BodyPlan plan{
        machine, *m_start.store, m_spec, m_view.id, m_cgroup, m_start.host_uid, m_volume ? &*m_volume : nullptr};
    if (m_start.tier == Tier::gvisor) {
        TRY(set_limits());
        m_body = make_gvisor_body(plan, *this);
    } else if (m_start.is_helper) {
        m_body = make_helper_body(plan, *this);
    } else {
        m_body = make_namespace_body(plan, *this, std::move(m_slot->launched));
    }
    m_slot.reset();
    TRY(m_body->start());
    m_view.state = State::running;
    m_view.pid = m_body->pid();
    // From here on the child finishes the root while this process does the rest; nothing of the worker runs before it
    // is handed over below, and by then the limits hold.
    if (m_start.tier == Tier::ns) TRY(set_limits());
    TRY(open_listener());
    note_free_space();
    // Without its line in the log nothing of the worker runs. Pid 1 takes the command up
    // when it is there.
    collect_note(EventKind::start, nullptr);
    if (m_spec.command)
        TRY(execute(*m_spec.command));
    else
        TRY(write_notes());
    TRY(m_body->settle());
    send(m_connections.front(), ShimReply());
    return {};
}

void Shim::refuse(const Error& error) {
    (void)note(EventKind::refused, nullptr, error).ok();
    m_view.error = error.message;
    if (m_slot) abandon(m_slot->launched);
    if (m_body && m_body->pid() != 0) {
        m_body->kill();
        while (m_body->pid() != 0) {
            std::vector<Watch> watches;
            m_body->watch(watches);
            std::vector<pollfd> polls;
            for (const Watch& watch : watches) polls.push_back({watch.descriptor, watch.events, 0});
            ::poll(polls.data(), polls.size(), 1000);
            for (size_t i = 0; i < polls.size(); ++i)
                if (polls[i].revents != 0) {
                    watches[i].act();
                    break;
                }
        }
    }
    if (auto removed = Cgroup::adopt(m_start.journal.cgroups).remove(); !removed.ok())
        log(Level::error, "cgroup not removed", {{"error", removed.error().message}});
    m_body.reset();
    release();
    (void)m_start.store->forget(m_view.id).ok();
    send(m_connections.front(), refusal<ShimReply>(error));
}

// --- commands

Result<int64_t> Shim::execute(const Command& command) {
    if (!alive() || m_stopping) return conflict("the sandbox is not running");
    const auto number = static_cast<int64_t>(m_commands.size());
    if (number >= 10'000) return too_large("a sandbox runs at most 10000 commands");
    Fd stdio[3];
    m_commands.push_back(TRY(RunningCommand::open(number, command, stdio)));
    RunningCommand& running = m_commands.back();
    running.started = boot_time();
    if (*command.timeout_ms > 0) running.deadline = running.started + std::chrono::milliseconds(*command.timeout_ms);
    std::map<std::string, std::string> environment{{"PATH", std::string(worker_path)},
                                                   {"HOME", std::string(worker_home)},
                                                   {"USER", "worker"},
                                                   {"LOGNAME", "worker"},
                                                   {"SHELL", "/bin/sh"},
                                                   {"TMPDIR", "/tmp"},
                                                   {"LANG", "C.UTF-8"}};
    if (command.pty) environment["TERM"] = "xterm-256color";
    const auto of_image = image_environment(*m_start.store, *m_spec.root);
    for (const auto* source : {&of_image, &*m_spec.env, &*command.env})
        for (const auto& [name, value] : *source) environment[name] = value;
    Result<> begun = note(EventKind::command_start, &running);
    if (begun.ok())
        begun =
            m_body->execute(running, environment, stdio, ends_with(running) && m_view.limits_by != LimitKeeper::rlimit);
    if (!begun.ok()) {
        command_failed(number, begun.error());
        return std::move(begun).error();
    }
    return number;
}

// Whether the sandbox is there for this command only.
bool Shim::ends_with(const RunningCommand& command) const {
    return command.number == 0 && m_spec.command && !m_spec.keep;
}

void Shim::command_started(int64_t number, Fd terminal) {
    for (RunningCommand& command : m_commands)
        if (command.number == number && terminal.is_open()) {
            ::fcntl(terminal.get(), F_SETFL, O_NONBLOCK);
            command.input = Fd(::fcntl(terminal.get(), F_DUPFD_CLOEXEC, 0));
            command.out = std::move(terminal);
            return;
        }
}

void Shim::command_failed(int64_t number, const Error& why) {
    for (RunningCommand& command : m_commands) {
        if (command.number != number || command.exited) continue;
        command.result.error = why.message;
        command.exited = true;
        close_if_done(command);
        if (ends_with(command)) stop();
    }
}

void Shim::command_ended(int64_t number, int wait_status) {
    for (RunningCommand& command : m_commands) {
        if (command.number != number || command.exited) continue;
        command.exited = true;
        if (WIFEXITED(wait_status)) command.result.exit_code = WEXITSTATUS(wait_status);
        if (WIFSIGNALED(wait_status)) command.result.signal = WTERMSIG(wait_status);
        command.result.duration_ms = milliseconds(boot_time() - command.started);
        // The sandbox ends with its first command, whatever it left in the background.
        if (ends_with(command))
            stop();
        else
            close_if_done(command);
    }
}

// A command is done when its first process has ended; in a sandbox that stays, its children may hold the pipes: what
// is in them now belongs to it, what comes later does not.
void Shim::finish(RunningCommand& command) {
    for (const Stream stream : {Stream::out, Stream::err}) {
        Fd& source = stream == Stream::out ? command.out : command.err;
        while (source.is_open()) {
            pollfd ready{source.get(), POLLIN, 0};
            if (::poll(&ready, 1, 0) <= 0) break;
            take_output(command, stream);
        }
        source.reset();
    }
    command.input.reset();
    command.result.finished = true;
    if (command.result.duration_ms == 0) command.result.duration_ms = milliseconds(boot_time() - command.started);
    collect_note(EventKind::command_end, &command);
}

void Shim::close_if_done(RunningCommand& command) {
    if (!command.exited || command.result.finished) return;
    finish(command);
    if (auto noted = write_notes(); !noted.ok()) {
        hit(LimitHit::audit);
        stop();
    }
}

void Shim::take_output(RunningCommand& command, Stream stream) {
    auto within = command.take_output(stream, *m_spec.limits.value.output_bytes, m_clock.now());
    if (within.ok() && within.value()) return;
    if (!within.ok()) { // the spool's disk is full: as good as over the limit
        log(Level::error, "spool not written", {{"error", within.error().message}});
        command.full = true;
    }
    hit(command, LimitHit::output);
    m_body->signal(command.number, SIGKILL);
    if (ends_with(command)) stop();
}

// --- the end

void Shim::stop() {
    if (m_stopping || !alive()) return;
    measure_tree_use(); // the last chance to see them
    m_stopping = true;
    if (m_view.state == State::frozen) (void)m_cgroup.freeze(false).ok();
    m_view.state = State::running;
    m_body->kill();
}

void Shim::body_ended(int64_t cpu_ns, int64_t written_bytes) {
    // In the tier `ns` all ended with pid 1, and a group that is not empty is killed when it is to be removed.
    if (m_start.tier == Tier::gvisor) m_cgroup.kill();
    measure();
    measure_watched();
    const CgroupUse use = m_cgroup.use();
    m_view.cpu_ns = std::max(cpu_ns, use.cpu_ns);
    m_view.written_bytes = written_bytes;
    m_view.peak_memory_bytes = std::max(m_view.peak_memory_bytes, use.peak_memory_bytes);
    if (use.oom_kills > 0) hit(LimitHit::oom);
    if (use.pids_refused > 0) hit(LimitHit::pids);
    m_view.pid = 0;
    for (RunningCommand& command : m_commands) {
        if (command.result.finished) continue;
        if (!command.exited) command.result.signal = SIGKILL;
        command.exited = true;
        for (const LimitHit limit : m_view.limits_hit) hit(command, limit);
        finish(command);
    }
    m_view.state = State::stopped;
    m_stopped = boot_time();
    if (auto noted = note(EventKind::teardown, nullptr); !noted.ok()) hit(LimitHit::audit);
}

// Empty groups are removed after those who wait for the end got their reply, and before the end is reported as
// complete.
void Shim::remove_groups() {
    if (m_groups_removed) return;
    m_groups_removed = true;
    if (auto removed = m_cgroup.remove(); !removed.ok())
        log(Level::error, "cgroup not removed", {{"error", removed.error().message}});
    m_cgroup = Cgroup();
    m_slow_left = true;
    // The next sandbox may need the volume or the layers that are mounted in there.
    if (m_volume || !m_held.empty()) release_slowly();
}

// What the kernel removes slowly, and nothing waits for.
void Shim::release_slowly() {
    m_slow_left = false;
    m_body->release();
    m_spare.reset();
}

// Releases what others may need next, before the end is reported.
void Shim::release() {
    m_held.clear();
    if (m_volume) {
        // A run that is reported as done keeps its workspace also when the power fails. Behind an image this reaches
        // its file system alone, and the loop device syncs the file that it is in.
        if (m_volume->files.is_open()) {
            if (::syncfs(m_volume->files.get()) != 0)
                log(Level::error, "thread volume not synced", {{"error", system_error("sync", errno).message}});
            if (const auto named = sync_directory(m_start.store->threads()); !named.ok())
                log(Level::error, "thread volume not synced", {{"error", named.error().message}});
        }
        m_volume->mount.reset();
        m_volume->files.reset();
        m_volume->lock.reset();
    }
}

void Shim::leave() {
    remove_groups();
    release();
    (void)m_start.store->forget(m_view.id).ok();
    m_leaving = true;
}

// --- the loop

void Shim::serve() {
    if (m_view.limits_by == LimitKeeper::rlimit || is_on_disk() || m_volume || m_spare)
        m_next_watch = boot_time() + watch_every;
    while (!m_leaving) {
        std::vector<Watch> watches;
        watches.push_back({m_listener.get(), POLLIN, [this] { accept_connection(); }});
        for (Connection& connection : m_connections)
            watches.push_back(
                {connection.channel.descriptor(), POLLIN, [this, &connection] { receive_request(connection); }});
        for (RunningCommand& command : m_commands) {
            if (command.must_wait(*m_spec.limits.value.output_window_bytes)) continue;
            if (command.out.is_open())
                watches.push_back({command.out.get(), POLLIN, [this, &command] { take_output(command, Stream::out); }});
            if (command.err.is_open())
                watches.push_back({command.err.get(), POLLIN, [this, &command] { take_output(command, Stream::err); }});
        }
        if (alive()) {
            if (m_cgroup.oom_descriptor() >= 0 && !m_stopping)
                watches.push_back({m_cgroup.oom_descriptor(),
                                   m_cgroup.oom_is_urgent_event() ? short{POLLPRI} : short{POLLIN}, [this] {
                                       if (!m_cgroup.take_oom()) return;
                                       hit(LimitHit::oom);
                                       stop(); // version 1 kills one process; a half-killed tree is useless
                                   }});
            m_body->watch(watches);
        }
        std::vector<pollfd> polls;
        for (const Watch& watch : watches) polls.push_back({watch.descriptor, watch.events, 0});
        const int64_t wait_ms = milliseconds(std::max(Duration{}, next_deadline() - boot_time())) + 1;
        ::poll(polls.data(), polls.size(), static_cast<int>(std::min<int64_t>(wait_ms, 3'600'000)));
        for (size_t i = 0; i < polls.size(); ++i)
            if (polls[i].revents != 0) watches[i].act();
        keep_time();
        reply_pending();
        if (m_view.state == State::stopped) remove_groups();
        forget_connections();
    }
}

void Shim::forget_connections() {
    for (const Connection& connection : m_connections)
        if (connection.gone && connection.creator && !m_spec.detached) m_orphaned = true;
    m_connections.remove_if([](const Connection& connection) { return connection.gone; });
    if (!m_orphaned) return;
    // No client is left.
    if (m_view.state == State::stopped)
        leave();
    else
        stop();
}

namespace {

constexpr off_t longest_notes = 1 << 20;

// Keeps 0-2 (on nothing, nothing and the log of all shims) and the given ones; everything else belonged to the spawner.
void close_other_descriptors(std::vector<int> kept, const std::string& log_path) {
    const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    const Fd notes(::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    struct stat status {};
    if (::fstat(notes.get(), &status) == 0 && status.st_size > longest_notes) (void)!::ftruncate(notes.get(), 0);
    ::dup2(null.get(), 0);
    ::dup2(null.get(), 1);
    ::dup2(notes.get(), 2);
    std::sort(kept.begin(), kept.end());
    unsigned next = 3;
    for (const int descriptor : kept) {
        if (descriptor < 3) continue;
        if (static_cast<unsigned>(descriptor) > next) ::close_range(next, static_cast<unsigned>(descriptor) - 1, 0);
        next = static_cast<unsigned>(descriptor) + 1;
    }
    ::close_range(next, ~0u, 0);
}

} // namespace

void run_shim(ShimStart start_info) {
    ::setsid();
    ::prctl(PR_SET_NAME, "hone-shim");
    ::signal(SIGCHLD, SIG_DFL);
    ::signal(SIGPIPE, SIG_IGN);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::signal(signal, SIG_IGN); // it ends when its sandbox does
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    if (::chdir(start_info.store->live(start_info.journal.id).c_str()) != 0) ::_exit(1);
    const auto at_the_end = std::move(start_info.at_the_end);
    close_other_descriptors({start_info.lock.get(), start_info.creator.descriptor(),
                             start_info.machine->init_program.get(), start_info.lifeline.get()},
                            start_info.store->notes());
    {
        std::optional<Slot> slot;
        if (!start_info.spec) {
            slot = wait_for_claim(start_info);
            if (!slot) ::_exit(0);
        }
        Shim shim(std::move(start_info), std::move(slot));
        if (auto started = shim.start(); started.ok())
            shim.serve();
        else
            shim.refuse(started.error());
    }
    if (at_the_end) at_the_end();
    ::_exit(0);
}

} // namespace hone::sandbox
