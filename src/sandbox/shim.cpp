#include "sandbox/shim.h"

#include "base/log.h"
#include "sandbox/audit.h"
#include "sandbox/body.h"
#include "sandbox/process_memory.h"
#include "sandbox/protocol.h"
#include "sandbox/tree.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <linux/magic.h>
#include <list>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hone::sandbox {

namespace {

constexpr Duration grace = std::chrono::seconds(2);
// How long a finished sandbox waits for a server to come back and ask.
constexpr Duration linger = std::chrono::hours(24);
constexpr Duration watch_every = std::chrono::milliseconds(250);
constexpr size_t most_connections = 32;

// Runs on while the machine sleeps, and cannot be set.
Duration boot_time() {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return std::chrono::seconds(now.tv_sec) + Duration(now.tv_nsec);
}

int64_t milliseconds(Duration duration) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

struct Connection {
    Channel channel;
    std::optional<ShimRequest> pending; // asked to wait
    Duration pending_until{};           // 0: for ever
    bool creator = false;
    bool gone = false;
};

class Shim final : public BodyListener {
public:
    explicit Shim(ShimBirth birth) : m_birth(std::move(birth)), m_spec(m_birth.spec), m_created(boot_time()) {
        m_view.id = m_birth.journal.id;
        m_view.created = m_birth.journal.created;
        m_view.deadline = m_view.created + std::chrono::milliseconds(*m_spec.limits.value.wall_clock_ms);
        m_view.tier = m_birth.tier;
        m_view.limits_by = m_birth.machine->cgroups.keeper();
        m_view.host_uid = m_birth.host_uid;
        m_view.thread = m_spec.thread;
        m_view.labels = *m_spec.labels;
        m_connections.push_back({std::move(m_birth.creator), std::nullopt, {}, true, false});
    }

    Result<> start();
    void serve();
    void refuse(const Error& error);

private:
    // BodyListener
    void command_started(int64_t number, Fd terminal) override;
    void command_failed(int64_t number, const Error& why) override;
    void command_ended(int64_t number, int wait_status) override;
    void body_ended(int64_t cpu_ns, int64_t written_bytes) override;

    Result<int64_t> execute(const Command& command);
    void take_output(RunningCommand& command, Stream stream);
    void close_if_done(RunningCommand& command);
    void stop();
    void leave();
    bool alive() const { return m_view.state == State::running || m_view.state == State::frozen; }

    // Requests
    void accept_connection();
    void forget_connections();
    void hear(Connection& connection);
    void answer(Connection& connection, const ShimRequest& request);
    bool answer_waiting(Connection& connection, const ShimRequest& request);
    void answer_pending();
    Result<ShimReply> act(const ShimRequest& request, std::vector<int>& descriptors, std::vector<Fd>& made);
    Result<RunningCommand*> find(const std::optional<int64_t>& number);
    void send(Connection& connection, const ShimReply& reply, const std::vector<int>& descriptors = {});

    // Time
    Duration next_deadline() const;
    void keep_time();
    void look_after_limits();
    void measure();
    void measure_watched();
    bool is_watched() const { return (m_volume && !m_volume->directory.empty()) || m_spec.capture; }
    void remove_groups();
    void release();

    void hit(LimitHit limit);
    void hit(RunningCommand& command, LimitHit limit);
    Result<> note(EventKind kind, const RunningCommand* command, const std::optional<Error>& error = std::nullopt);
    const SandboxView& view();

    ShimBirth m_birth;
    const SandboxSpec& m_spec;
    const Duration m_created;
    SystemClock m_clock;
    SandboxView m_view;
    Cgroup m_cgroup;
    std::optional<Volume> m_volume;
    std::unique_ptr<Body> m_body;
    std::list<RunningCommand> m_commands;
    std::list<Connection> m_connections;
    std::vector<Fd> m_held; // locks on layers and the image: they must not go while they are mounted
    Fd m_listener;
    Duration m_next_watch{};
    Duration m_stopped{};
    bool m_stopping = false;
    bool m_orphaned = false;
    bool m_leaving = false;
};

Result<> Shim::start() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy_n("shim.sock", 10, address.sun_path); // relative: the full path may be too long for an address
    m_listener = Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (::bind(m_listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(m_listener.get(), 16) != 0)
        return system_error("listen on shim.sock", errno);
    const Machine& machine = *m_birth.machine;
    if (m_spec.limits.value.require_cgroup && machine.cgroups.keeper() == LimitKeeper::rlimit)
        return unavailable("limits.require_cgroup: " + machine.cgroups.advice);
    for (const std::string& layer : *m_spec.layers)
        m_held.push_back(TRY(m_birth.store->hold(m_birth.store->layers() + "/" + layer)));
    if (*m_spec.root != "host" && m_spec.root.value[0] != '/')
        m_held.push_back(TRY(m_birth.store->hold(m_birth.store->images() + "/" + *m_spec.root)));
    if (m_spec.thread) {
        m_volume = TRY(Volumes(*m_birth.store, machine.as_root).open(*m_spec.thread, *m_spec.limits));
        m_view.disk_by = m_volume->directory.empty() ? "tmpfs, ext4 image" : "tmpfs, watched directory";
    } else {
        m_view.disk_by = m_spec.capture ? "watched directory" : "tmpfs";
    }
    m_cgroup = TRY(Cgroup::create(machine.cgroups, m_birth.journal.cgroups, *m_spec.limits));
    const BodyPlan plan{
        machine, *m_birth.store, m_spec, m_view.id, m_cgroup, m_birth.host_uid, m_volume ? &*m_volume : nullptr};
    m_body = m_birth.tier == Tier::gvisor ? make_gvisor_body(plan, *this) : make_namespace_body(plan, *this);
    TRY(m_body->start());
    m_view.state = State::running;
    m_view.pid = m_body->pid();
    // Not written down is not done: without its line in the log nothing of the worker runs.
    TRY(note(EventKind::start, nullptr));
    if (m_spec.command) TRY(execute(*m_spec.command));
    ShimReply ready;
    ready.view = view();
    send(m_connections.front(), ready);
    return {};
}

void Shim::refuse(const Error& error) {
    (void)note(EventKind::refused, nullptr, error).ok();
    m_view.error = error.message;
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
    if (auto removed = m_cgroup.remove(); !removed.ok())
        log(Level::error, "cgroup not removed", {{"error", removed.error().message}});
    m_body.reset();
    release();
    (void)m_birth.store->forget(m_view.id).ok();
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
    std::map<std::string, std::string> environment{{"PATH", "/home/worker/.local/bin:/usr/local/bin:/usr/bin:/bin"},
                                                   {"HOME", "/home/worker"},
                                                   {"USER", "worker"},
                                                   {"LOGNAME", "worker"},
                                                   {"SHELL", "/bin/sh"},
                                                   {"TMPDIR", "/tmp"},
                                                   {"LANG", "C.UTF-8"}};
    if (command.pty) environment["TERM"] = "xterm-256color";
    for (const auto* source : {&*m_spec.env, &*command.env})
        for (const auto& [name, value] : *source) environment[name] = value;
    Result<> begun = note(EventKind::command_start, &running);
    if (begun.ok()) begun = m_body->execute(running, environment, stdio);
    if (!begun.ok()) {
        command_failed(number, begun.error());
        return std::move(begun).error();
    }
    return number;
}

void Shim::command_started(int64_t number, Fd terminal) {
    for (RunningCommand& command : m_commands)
        if (command.number == number && terminal.is_open()) {
            ::fcntl(terminal.get(), F_SETFL, O_NONBLOCK);
            command.input = Fd(::fcntl(terminal.get(), F_DUPFD_CLOEXEC, 0));
            command.out = std::move(terminal);
        }
}

void Shim::command_failed(int64_t number, const Error& why) {
    for (RunningCommand& command : m_commands) {
        if (command.number != number || command.exited) continue;
        command.result.error = why.message;
        command.exited = true;
        close_if_done(command);
        if (number == 0 && m_spec.command && !m_spec.keep) stop();
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
        if (number == 0 && m_spec.command && !m_spec.keep)
            stop();
        else
            close_if_done(command);
    }
}

// A command is done when its first process has ended; in a sandbox that goes on, its children may hold the pipes: what
// is in them now belongs to it, what comes later does not.
void Shim::close_if_done(RunningCommand& command) {
    if (!command.exited || command.result.finished) return;
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
    if (auto noted = note(EventKind::command_end, &command); !noted.ok()) {
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
    if (command.number == 0 && m_spec.command && !m_spec.keep) stop();
}

// --- the end

void Shim::stop() {
    if (m_stopping || !alive()) return;
    m_stopping = true;
    if (m_view.state == State::frozen) (void)m_cgroup.freeze(false).ok();
    m_view.state = State::running;
    m_body->kill();
}

void Shim::body_ended(int64_t cpu_ns, int64_t written_bytes) {
    m_cgroup.kill(); // nothing should be left; make sure
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
        close_if_done(command);
    }
    m_view.state = State::stopped;
    m_stopped = boot_time();
    (void)note(EventKind::teardown, nullptr).ok();
}

// Empty groups are removed after whoever waits for the end has been told, and before anybody hears that all is gone.
void Shim::remove_groups() {
    if (auto removed = m_cgroup.remove(); !removed.ok())
        log(Level::error, "cgroup not removed", {{"error", removed.error().message}});
    m_cgroup = Cgroup();
}

// Lets go of what others may want next, before anybody is told that it is over.
void Shim::release() {
    m_held.clear();
    if (m_volume) {
        m_volume->mount.reset();
        m_volume->files.reset();
        m_volume->lock.reset();
    }
}

void Shim::leave() {
    remove_groups();
    release();
    (void)m_birth.store->forget(m_view.id).ok();
    m_leaving = true;
}

// --- requests

void Shim::accept_connection() {
    Fd socket(::accept4(m_listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (socket.is_open() && m_connections.size() < most_connections)
        m_connections.push_back({Channel(std::move(socket)), std::nullopt, {}, false, false});
}

void Shim::send(Connection& connection, const ShimReply& reply, const std::vector<int>& descriptors) {
    if (!connection.channel.send(json::write(reply), descriptors).ok()) connection.gone = true;
}

void Shim::hear(Connection& connection) {
    auto message = connection.channel.receive();
    if (!message.ok()) {
        connection.gone = true;
        return;
    }
    const auto request = json::read<ShimRequest>(message.value().text);
    if (!request.ok()) return send(connection, refusal<ShimReply>(request.error()));
    answer(connection, request.value());
}

void Shim::answer(Connection& connection, const ShimRequest& request) {
    const bool may_wait = request.verb == ShimVerb::wait || request.verb == ShimVerb::output ||
                          request.verb == ShimVerb::stop || request.verb == ShimVerb::destroy;
    if (request.verb == ShimVerb::stop || request.verb == ShimVerb::destroy) stop();
    if (may_wait) {
        if (answer_waiting(connection, request)) return;
        connection.pending = request;
        connection.pending_until =
            request.timeout_ms ? boot_time() + std::chrono::milliseconds(*request.timeout_ms) : Duration{};
        return;
    }
    std::vector<int> descriptors;
    std::vector<Fd> made;
    auto reply = act(request, descriptors, made);
    send(connection, reply.ok() ? reply.value() : refusal<ShimReply>(reply.error()), descriptors);
}

// Answers when the time has come; false while it has not.
bool Shim::answer_waiting(Connection& connection, const ShimRequest& request) {
    const bool late =
        connection.pending && connection.pending_until != Duration{} && boot_time() >= connection.pending_until;
    ShimReply reply;
    std::vector<int> descriptors;
    Fd spool;
    if (request.verb == ShimVerb::stop || request.verb == ShimVerb::destroy ||
        (request.verb == ShimVerb::wait && !request.number)) {
        if (m_view.state != State::stopped && !late) return false;
        reply.view = view();
        reply.finished = m_view.state == State::stopped;
        if (request.verb == ShimVerb::destroy && m_view.state == State::stopped) leave();
    } else {
        auto found = find(request.number);
        if (!found.ok()) return send(connection, refusal<ShimReply>(found.error())), true;
        RunningCommand& command = *found.value();
        // Who asks for more has read what was there before.
        if (request.verb == ShimVerb::output)
            command.acknowledged = std::max(command.acknowledged, request.offset.value_or(0));
        const bool more = request.verb == ShimVerb::output && command.spool_bytes > request.offset.value_or(-1);
        if (!command.result.finished && !more && !late) return false;
        reply.size = command.spool_bytes;
        reply.finished = command.result.finished;
        reply.result = command.result;
        if (request.verb == ShimVerb::output && !request.offset) {
            spool = Fd(::open(command.spool_path.c_str(), O_RDONLY | O_CLOEXEC));
            if (spool.is_open()) descriptors.push_back(spool.get());
        }
    }
    send(connection, reply, descriptors);
    return true;
}

void Shim::answer_pending() {
    for (Connection& connection : m_connections) {
        if (!connection.pending || connection.gone) continue;
        const ShimRequest request = *connection.pending;
        if (answer_waiting(connection, request)) connection.pending.reset();
    }
}

Result<RunningCommand*> Shim::find(const std::optional<int64_t>& number) {
    for (RunningCommand& command : m_commands)
        if (command.number == number.value_or(0)) return &command;
    return not_found("command " + std::to_string(number.value_or(0)));
}

Result<ShimReply> Shim::act(const ShimRequest& request, std::vector<int>& descriptors, std::vector<Fd>& made) {
    ShimReply reply;
    switch (request.verb) {
    case ShimVerb::view:
        reply.view = view();
        return reply;
    case ShimVerb::execute:
        if (!request.command) return invalid("execute needs a command");
        TRY(validate(*request.command));
        if (m_view.state == State::frozen) return conflict("the sandbox is frozen");
        reply.number = TRY(execute(*request.command));
        return reply;
    case ShimVerb::signal: {
        RunningCommand* command = TRY(find(request.number));
        const int64_t signal = request.value.value_or(SIGTERM);
        if (signal < 1 || signal > 64) return invalid("not a signal");
        if (alive() && !command->exited) m_body->signal(command->number, static_cast<int>(signal));
        return reply;
    }
    case ShimVerb::resize: {
        RunningCommand* command = TRY(find(request.number));
        const winsize size{static_cast<uint16_t>(std::clamp<int64_t>(request.rows.value_or(24), 1, 10'000)),
                           static_cast<uint16_t>(std::clamp<int64_t>(request.columns.value_or(80), 1, 10'000)), 0, 0};
        if (!command->command.pty || !command->out.is_open()) return conflict("the command has no terminal");
        if (::ioctl(command->out.get(), TIOCSWINSZ, &size) != 0) return system_error("resize the terminal", errno);
        return reply;
    }
    case ShimVerb::input: {
        RunningCommand* command = TRY(find(request.number));
        if (!command->input.is_open()) return conflict("the command has no open input");
        descriptors.push_back(command->input.get());
        return reply;
    }
    case ShimVerb::close_input: {
        RunningCommand* command = TRY(find(request.number));
        command->input.reset();
        return reply;
    }
    case ShimVerb::freeze:
    case ShimVerb::thaw: {
        const bool frozen = request.verb == ShimVerb::freeze;
        if (!alive() || m_stopping) return conflict("the sandbox is not running");
        TRY(m_cgroup.freeze(frozen));
        m_view.state = frozen ? State::frozen : State::running;
        return reply;
    }
    case ShimVerb::listeners:
        if (m_body->listeners().empty()) return conflict("the sandbox has no broker listeners");
        for (const Fd& listener : m_body->listeners()) descriptors.push_back(listener.get());
        return reply;
    case ShimVerb::workspace:
        made.push_back(TRY(m_body->workspace()));
        descriptors.push_back(made.back().get());
        return reply;
    case ShimVerb::wait:
    case ShimVerb::output:
    case ShimVerb::stop:
    case ShimVerb::destroy:
        break;
    }
    return internal("not reached");
}

// --- time and limits

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
    return next;
}

void Shim::keep_time() {
    const Duration now = boot_time();
    if (m_stopped != Duration{}) {
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
            if (command.number == 0 && m_spec.command && !m_spec.keep) stop();
        } else if (command.kill_at == Duration{} && command.deadline != Duration{} && now >= command.deadline) {
            hit(command, LimitHit::timeout);
            m_body->signal(command.number, SIGTERM);
            command.kill_at = now + grace;
        }
    }
    if (m_next_watch != Duration{} && now >= m_next_watch) look_after_limits();
}

// What the kernel does not limit by itself on this machine is looked at from time to time.
void Shim::look_after_limits() {
    m_next_watch = boot_time() + watch_every;
    measure();
    const Limits& limits = *m_spec.limits;
    if (m_view.limits_by == LimitKeeper::rlimit && alive() && m_body->pid() != 0) {
        struct statfs status {};
        int64_t memory = process_tree_memory(m_body->pid());
        if (!m_spec.capture && m_body->scratch() >= 0 && ::fstatfs(m_body->scratch(), &status) == 0)
            memory += static_cast<int64_t>(status.f_blocks - status.f_bfree) * status.f_bsize;
        m_view.peak_memory_bytes = std::max(m_view.peak_memory_bytes, memory);
        if (memory > limits.memory_bytes) {
            hit(LimitHit::oom);
            stop();
        }
    }
    measure_watched();
    if (std::find(m_view.limits_hit.begin(), m_view.limits_hit.end(), LimitHit::disk) != m_view.limits_hit.end() &&
        is_watched())
        stop();
}

// Where the kernel cannot cap a place, it is measured.
void Shim::measure_watched() {
    if (!is_watched()) return;
    const TreeSize size =
        measure_tree(m_volume ? m_volume->files.get() : m_body->scratch(), *m_spec.limits.value.disk_inodes);
    m_view.disk_bytes = size.bytes;
    if (size.bytes >= m_spec.limits.value.disk_bytes || size.files > m_spec.limits.value.disk_inodes)
        hit(LimitHit::disk);
}

// A file system without a free block or inode has refused something, or is about to.
void Shim::measure() {
    const int sources[] = {m_body ? m_body->scratch() : -1,
                           m_volume && m_volume->directory.empty() ? m_volume->files.get() : -1};
    int64_t used = 0;
    for (const int source : sources) {
        struct statfs status {};
        if (source < 0 || m_spec.capture || ::fstatfs(source, &status) != 0) continue;
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

Result<> Shim::note(EventKind kind, const RunningCommand* command, const std::optional<Error>& error) {
    SandboxEvent event;
    event.time = m_clock.now();
    event.kind = kind;
    event.sandbox = m_view.id;
    event.labels = m_view.labels;
    if (error) event.error = error->message;
    if (kind == EventKind::start || kind == EventKind::refused) {
        event.tier = m_view.tier;
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
    return append_event(m_birth.store->audit(), event);
}

// --- the loop

void Shim::serve() {
    if (m_view.limits_by == LimitKeeper::rlimit || m_spec.capture || m_volume) m_next_watch = boot_time() + watch_every;
    while (!m_leaving) {
        std::vector<Watch> watches;
        watches.push_back({m_listener.get(), POLLIN, [this] { accept_connection(); }});
        for (Connection& connection : m_connections)
            watches.push_back({connection.channel.descriptor(), POLLIN, [this, &connection] { hear(connection); }});
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
                                       if (m_cgroup.use().oom_kills == 0) return;
                                       hit(LimitHit::oom);
                                       stop(); // version 1 kills one process; a half-killed tree is of no use
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
        answer_pending();
        if (m_view.state == State::stopped) remove_groups();
        forget_connections();
    }
}

void Shim::forget_connections() {
    for (const Connection& connection : m_connections)
        if (connection.gone && connection.creator && !m_spec.detached) m_orphaned = true;
    m_connections.remove_if([](const Connection& connection) { return connection.gone; });
    if (!m_orphaned) return;
    // Nobody is left who wants it.
    if (m_view.state == State::stopped)
        leave();
    else
        stop();
}

// Keeps 0-2 (on nothing, nothing and a log) and the given ones; everything else belonged to the spawner.
void close_others(std::vector<int> kept) {
    const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    const Fd notes(::open("shim.log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
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

void run_shim(ShimBirth birth) {
    ::setsid();
    ::prctl(PR_SET_NAME, "hone-shim");
    ::signal(SIGCHLD, SIG_DFL);
    ::signal(SIGPIPE, SIG_IGN);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::signal(signal, SIG_IGN); // it ends when its sandbox does
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    if (::chdir(birth.store->live(birth.journal.id).c_str()) != 0) ::_exit(1);
    close_others({birth.lock.get(), birth.creator.descriptor(), birth.machine->init_program.get()});
    {
        Shim shim(std::move(birth));
        if (auto started = shim.start(); started.ok())
            shim.serve();
        else
            shim.refuse(started.error());
    }
    ::_exit(0);
}

} // namespace hone::sandbox
