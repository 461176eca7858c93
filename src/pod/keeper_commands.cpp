// The commands of a pod's sandbox: their start, their pipes, their end.
#include "base/text.h"
#include "pod/keeper.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hone::pod {

using sandbox::LimitHit;

namespace {

constexpr size_t most_commands = 512;

int64_t milliseconds_of(Duration duration) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

// The number after a word in a file of the kernel: "oom_kill 3".
int64_t number_after(const std::string& path, const std::string& word) {
    const auto text = read_file(path, 64 << 10);
    if (!text.ok()) return 0;
    const size_t at = ("\n" + text.value()).find("\n" + word + " ");
    return at == std::string::npos ? 0 : std::atoll(text.value().c_str() + at + word.size() + 1);
}

} // namespace

Result<int64_t> Keeper::execute(const sandbox::Command& command) {
    TRY(validate(command));
    if (!m_spec || m_view.state != sandbox::State::running) return conflict("the sandbox is not running");
    if (*command.direct_stdout) return invalid("a pod has no direct stdout");
    const auto live =
        std::count_if(m_commands.begin(), m_commands.end(), [](const Running& each) { return !each.command.exited; });
    if (static_cast<size_t>(live) >= most_commands) return conflict("the sandbox has too many commands");
    Fd stdio[3];
    const auto number = static_cast<int64_t>(m_commands.size());
    Running running;
    running.command = TRY(sandbox::RunningCommand::open(number, command, stdio));
    running.command.started = m_clock.steady();
    if (*command.timeout_ms > 0)
        running.command.deadline = running.command.started + std::chrono::milliseconds(*command.timeout_ms);
    std::map<std::string, std::string> environment{{"PATH", std::string(sandbox::worker_path)},
                                                   {"HOME", std::string(sandbox::worker_home)},
                                                   {"USER", "worker"},
                                                   {"LOGNAME", "worker"},
                                                   {"SHELL", "/bin/sh"},
                                                   {"TMPDIR", "/tmp"},
                                                   {"LANG", "C.UTF-8"}};
    if (*command.pty) environment["TERM"] = "xterm-256color";
    for (const auto* source : {&*m_spec->env, &*command.env})
        for (const auto& [name, value] : *source) environment[name] = value;
    auto begun = start_command(command, environment, stdio, *m_walls);
    if (!begun.ok()) {
        ::unlink(running.command.spool_path.c_str());
        return std::move(begun).error();
    }
    Started& started = begun.value();
    running.pid = started.pid;
    running.outcome = std::move(started.outcome);
    if (started.terminal.is_open()) {
        ::fcntl(started.terminal.get(), F_SETFL, O_NONBLOCK);
        running.command.input = Fd(::fcntl(started.terminal.get(), F_DUPFD_CLOEXEC, 0));
        running.command.out = std::move(started.terminal);
    } else if (running.command.input.is_open()) {
        ::fcntl(running.command.input.get(), F_SETFL, O_NONBLOCK);
    }
    m_commands.push_back(std::move(running));
    return number;
}

Result<Keeper::Running*> Keeper::find(const std::optional<int64_t>& number) {
    for (Running& running : m_commands)
        if (running.command.number == number.value_or(0)) return &running;
    return not_found("command " + std::to_string(number.value_or(0)));
}

void Keeper::take_output(Running& running, sandbox::Stream stream) {
    const auto within = running.command.take_output(stream, *m_spec->limits.value.output_bytes, m_clock.now());
    if (within.ok() && within.value()) return;
    running.command.result.limits_hit.push_back(within.ok() ? LimitHit::output : LimitHit::disk);
    running.command.full = true;
    ::kill(-running.pid, SIGKILL);
}

void Keeper::report_start(Running& running) {
    char why[most_outcome_bytes];
    const ssize_t count = ::read(running.outcome.get(), why, sizeof why);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    running.outcome.reset();
    if (count > 0) running.command.result.error = repair_utf8(std::string_view(why, static_cast<size_t>(count)));
}

void Keeper::write_input(Running& running) {
    Fd& pipe = running.command.input;
    while (pipe.is_open() && !running.input.empty()) {
        const ssize_t written = ::write(pipe.get(), running.input.data(), running.input.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0 && errno == EAGAIN) return;
        if (written < 0) {
            running.input.clear();
            pipe.reset(); // nothing reads it any more
            return;
        }
        running.input.erase(0, static_cast<size_t>(written));
    }
    if (running.close_input && running.input.empty()) pipe.reset();
}

// What its children have in the pipes is read; what they write later is not.
void Keeper::end(Running& running) {
    if (running.outcome.is_open()) report_start(running);
    sandbox::RunningCommand& command = running.command;
    for (const sandbox::Stream stream : {sandbox::Stream::out, sandbox::Stream::err}) {
        Fd& source = stream == sandbox::Stream::out ? command.out : command.err;
        while (source.is_open()) {
            pollfd ready{source.get(), POLLIN, 0};
            if (::poll(&ready, 1, 0) <= 0) break;
            take_output(running, stream);
        }
        source.reset();
    }
    command.input.reset();
    running.outcome.reset();
    command.exited = true;
    command.result.finished = true;
    command.result.duration_ms = milliseconds_of(m_clock.steady() - command.started);
    if (command.result.error) command.result.exit_code.reset();
}

void Keeper::reap() {
    signalfd_siginfo noted[16];
    bool is_over = false;
    for (ssize_t got; (got = ::read(m_signals.get(), noted, sizeof noted)) > 0;)
        for (size_t i = 0; i < static_cast<size_t>(got) / sizeof noted[0]; ++i)
            is_over = is_over || noted[i].ssi_signo == SIGTERM;
    for (;;) {
        int status = 0;
        const pid_t pid = ::waitpid(-1, &status, WNOHANG);
        if (pid <= 0) break;
        for (Running& running : m_commands) {
            if (running.pid != pid || running.command.exited) continue;
            if (WIFEXITED(status)) running.command.result.exit_code = WEXITSTATUS(status);
            if (WIFSIGNALED(status)) running.command.result.signal = WTERMSIG(status);
            note_memory();
            end(running);
            if (running.command.number == 0 && !*m_spec->keep) stop(std::nullopt);
        }
    }
    // The cluster deletes the pod, or evicts it: everything ends with this process. Not 0: a pod whose containers have
    // succeeded shows no reason of its end.
    if (is_over) ::_exit(128 + SIGTERM);
}

void Keeper::note_memory() {
    const int64_t kills = number_after("/sys/fs/cgroup/memory.events", "oom_kill") +
                          number_after("/sys/fs/cgroup/memory/memory.oom_control", "oom_kill");
    auto& hits = m_view.limits_hit;
    if (kills > 0 && std::find(hits.begin(), hits.end(), LimitHit::oom) == hits.end()) hits.push_back(LimitHit::oom);
}

// Every process of the pod but this one ends, channels included: the server connects again.
void Keeper::stop(std::optional<LimitHit> why, const std::string& error) {
    if (m_view.state == sandbox::State::stopped) return;
    note_memory();
    if (why) m_view.limits_hit.push_back(*why);
    if (!error.empty()) m_view.error = error;
    m_view.state = sandbox::State::stopped;
    ::kill(-1, SIGKILL);
    for (int status = 0; ::waitpid(-1, &status, 0) > 0 || errno == EINTR;) {
    }
    for (Running& running : m_commands) {
        if (running.command.exited) continue;
        running.command.result.signal = SIGKILL;
        for (const LimitHit hit : m_view.limits_hit) running.command.result.limits_hit.push_back(hit);
        end(running);
    }
    m_next_probe = {};
    m_probe.reset();
}

sandbox::SandboxView Keeper::view() {
    note_memory();
    sandbox::SandboxView shown = m_view;
    shown.commands.clear();
    for (Running& running : m_commands) {
        shown.commands.push_back(running.command.result);
        if (!running.command.exited)
            shown.commands.back().duration_ms = milliseconds_of(m_clock.steady() - running.command.started);
    }
    shown.peak_memory_bytes = 0;
    for (const char* file : {"/sys/fs/cgroup/memory.peak", "/sys/fs/cgroup/memory/memory.max_usage_in_bytes"})
        if (const auto text = read_file(file, 100); text.ok())
            shown.peak_memory_bytes = std::atoll(text.value().c_str());
    shown.cpu_ns = number_after("/sys/fs/cgroup/cpu.stat", "usage_usec") * 1000;
    if (const auto text = read_file("/sys/fs/cgroup/cpuacct/cpuacct.usage", 100); text.ok())
        shown.cpu_ns = std::atoll(text.value().c_str());
    return shown;
}

} // namespace hone::pod
