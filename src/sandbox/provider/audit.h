// What is recorded about every sandbox: start, each command with its end, limits, teardown. Shims and the spawner
// append to one file, so that nothing is missed while the server is away; the server drains it into its own log.
#pragma once

#include "base/file.h"
#include "base/result.h"
#include "sandbox/provider/spec.h"

#include <string>

namespace hone::sandbox {

enum class EventKind { start, refused, command_start, command_end, teardown, reconciled };
constexpr auto enum_names(EventKind) {
    return std::array{EnumName{EventKind::start, "start"},
                      EnumName{EventKind::refused, "refused"},
                      EnumName{EventKind::command_start, "command_start"},
                      EnumName{EventKind::command_end, "command_end"},
                      EnumName{EventKind::teardown, "teardown"},
                      EnumName{EventKind::reconciled, "reconciled"}};
}

struct SandboxEvent {
    Time time{};
    EventKind kind = EventKind::start;
    SandboxId sandbox;
    std::optional<Tier> tier;
    std::optional<bool> without_namespaces;
    std::optional<LimitKeeper> limits_by;
    std::optional<int64_t> host_uid;
    std::optional<std::string> root;
    std::optional<std::string> thread;
    std::optional<NetworkMode> network;
    std::optional<std::vector<std::string>> environment_names;
    std::optional<int64_t> command;
    std::optional<std::vector<std::string>> argv;
    std::optional<std::string> cwd;
    std::optional<int64_t> exit_code;
    std::optional<int64_t> signal;
    std::optional<int64_t> duration_ms;
    std::optional<std::vector<LimitHit>> limits_hit;
    std::optional<int64_t> output_bytes;
    std::optional<int64_t> written_bytes;
    std::optional<int64_t> peak_memory_bytes;
    std::optional<int64_t> cpu_ns;
    std::optional<std::string> error;
    std::map<std::string, std::string> labels;
    static constexpr Pack fields{
        Field{"time", &SandboxEvent::time, "Time of the event."},
        Field{"kind", &SandboxEvent::kind, "What."},
        Field{"sandbox", &SandboxEvent::sandbox, "Which sandbox."},
        Field{"tier", &SandboxEvent::tier, "The wall that was used."},
        Field{"without_namespaces", &SandboxEvent::without_namespaces, "True: a helper, held by no tier."},
        Field{"limits_by", &SandboxEvent::limits_by, "What keeps the limits."},
        Field{"host_uid", &SandboxEvent::host_uid, "Uid of the worker on the host."},
        Field{"root", &SandboxEvent::root, "Root it was given."},
        Field{"thread", &SandboxEvent::thread, "Thread volume."},
        Field{"network", &SandboxEvent::network, "Network mode."},
        Field{"environment_names", &SandboxEvent::environment_names, "Names, never values."},
        Field{"command", &SandboxEvent::command, "Number of the command."},
        Field{"argv", &SandboxEvent::argv, "Program and arguments, shortened to 4 KiB."},
        Field{"cwd", &SandboxEvent::cwd, "Working directory."},
        Field{"exit_code", &SandboxEvent::exit_code, "How it ended."},
        Field{"signal", &SandboxEvent::signal, "How it ended."},
        Field{"duration_ms", &SandboxEvent::duration_ms, "How long it took."},
        Field{"limits_hit", &SandboxEvent::limits_hit, "Limits run into."},
        Field{"output_bytes", &SandboxEvent::output_bytes, "Bytes of output."},
        Field{"written_bytes", &SandboxEvent::written_bytes, "Bytes written."},
        Field{"peak_memory_bytes", &SandboxEvent::peak_memory_bytes, "Peak memory."},
        Field{"cpu_ns", &SandboxEvent::cpu_ns, "CPU time."},
        Field{"error", &SandboxEvent::error, "What went wrong."},
        Field{"labels", &SandboxEvent::labels, "Of the sandbox."},
    };
};

// Where events end up; the server puts them into its hash-chained log.
class Auditor {
public:
    virtual ~Auditor() = default;
    // `next` is the offset after this event. An error stops the draining: the event will be given again.
    virtual Result<> record(const SandboxEvent& event, int64_t next) = 0;
};

// Appends a line for each in one write. An error means that they are not recorded: the caller must not continue.
Result<> append_events(const std::string& path, std::span<const SandboxEvent> events);
inline Result<> append_event(const std::string& path, const SandboxEvent& event) {
    return append_events(path, std::span(&event, 1));
}

// Keeps writers away, so that the log can be read to its end and moved: they wait, then write to a new one. A closed Fd
// while it is being written.
Result<Fd> hold_events(const std::string& path);

// Gives every event after byte `offset` to the auditor; returns the offset to continue from. A last line that is still
// being written waits for the next call; a damaged line is skipped and logged.
Result<int64_t> drain_events(const std::string& path, int64_t offset, Auditor& auditor);

// Arguments as they go to the log: at most 4 KiB in all.
std::vector<std::string> shorten(const std::vector<std::string>& argv);

} // namespace hone::sandbox
