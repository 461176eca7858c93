// What a sandbox is made of and what came out of it, declared once: JSON between server, spawner and shim, the CLI's
// --json output and the docs all come from these lists. Values only; any thread.
#pragma once

#include "base/fields.h"
#include "base/id.h"
#include "base/result.h"
#include "json/json.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::sandbox {

using json::Defaulted;

struct SandboxTag {
    static constexpr std::string_view kind = "sbx";
};
using SandboxId = Id<SandboxTag>;

// How strong the wall is. Order matters: a later one is stronger.
enum class Tier { ns, gvisor };
constexpr auto enum_names(Tier) {
    return std::array{EnumName{Tier::ns, "ns"}, EnumName{Tier::gvisor, "gvisor"}};
}

enum class NetworkMode {
    none,   // loopback only
    broker, // loopback, with listeners on 3128 and 3129 that are served from outside
};
constexpr auto enum_names(NetworkMode) {
    return std::array{EnumName{NetworkMode::none, "none"}, EnumName{NetworkMode::broker, "broker"}};
}

// Who the worker is on the host. Inside it is always uid 1000.
enum class UidPolicy {
    automatic, // unique when the spawner is root, else caller
    unique,    // a host uid of its own, used by no other sandbox; needs root
    caller,    // the uid that runs Hone; not allowed for root
};
constexpr auto enum_names(UidPolicy) {
    return std::array{EnumName{UidPolicy::automatic, "automatic"}, EnumName{UidPolicy::unique, "unique"},
                      EnumName{UidPolicy::caller, "caller"}};
}

// What keeps memory, CPU and process counts in bounds on this machine.
enum class LimitKeeper { cgroup2, cgroup1, rlimit };
constexpr auto enum_names(LimitKeeper) {
    return std::array{EnumName{LimitKeeper::cgroup2, "cgroup2"}, EnumName{LimitKeeper::cgroup1, "cgroup1"},
                      EnumName{LimitKeeper::rlimit, "rlimit"}};
}

// A limit that a command or its sandbox ran into.
enum class LimitHit { oom, timeout, pids, disk, output, audit };
constexpr auto enum_names(LimitHit) {
    return std::array{EnumName{LimitHit::oom, "oom"},       EnumName{LimitHit::timeout, "timeout"},
                      EnumName{LimitHit::pids, "pids"},     EnumName{LimitHit::disk, "disk"},
                      EnumName{LimitHit::output, "output"}, EnumName{LimitHit::audit, "audit"}};
}

struct Mount {
    std::string source;
    std::string target;
    Defaulted<bool> read_only = true;
    static constexpr Pack fields{
        Field{"source", &Mount::source, "Absolute path on the host."},
        Field{"target", &Mount::target, "Absolute path inside; created when missing, never through a symbolic link."},
        Field{"read_only", &Mount::read_only, "False lets the worker write; files must belong to the worker's uid."},
    };
};

struct Limits {
    Defaulted<int64_t> memory_bytes = int64_t{2} << 30;
    Defaulted<double> cpus = 2.0;
    Defaulted<int64_t> pids = 512;
    Defaulted<int64_t> open_files = 4096;
    Defaulted<int64_t> disk_bytes = int64_t{4} << 30;
    Defaulted<int64_t> disk_inodes = 400'000;
    Defaulted<int64_t> io_bytes_per_second = int64_t{256} << 20;
    Defaulted<int64_t> output_bytes = int64_t{256} << 20;
    Defaulted<int64_t> output_window_bytes = int64_t{0};
    Defaulted<int64_t> wall_clock_ms = int64_t{3'600'000};
    Defaulted<bool> require_cgroup = false;
    static constexpr Pack fields{
        Field{"memory_bytes", &Limits::memory_bytes, "Memory of all processes, temporary files included; no swap."},
        Field{"cpus", &Limits::cpus, "Processors' worth of time."},
        Field{"pids", &Limits::pids, "Most processes and threads."},
        Field{"open_files", &Limits::open_files, "Open files of one process."},
        Field{"disk_bytes", &Limits::disk_bytes, "Bytes in all writable places together, thread volume apart."},
        Field{"disk_inodes", &Limits::disk_inodes, "Files in all writable places together, thread volume apart."},
        Field{"io_bytes_per_second", &Limits::io_bytes_per_second,
              "Bytes read from disks per second, and as many written; 0: no limit."},
        Field{"output_bytes", &Limits::output_bytes, "Output of one command; more ends it."},
        Field{"output_window_bytes", &Limits::output_window_bytes,
              "Unread output after which the command is made to wait for its reader; 0 never."},
        Field{"wall_clock_ms", &Limits::wall_clock_ms, "Life of the sandbox, init script included; at most 24 h."},
        Field{"require_cgroup", &Limits::require_cgroup, "Refuse to start where only rlimits could keep the limits."},
    };
};

// One command in a sandbox.
struct Command {
    std::vector<std::string> argv;
    Defaulted<std::map<std::string, std::string>> env;
    Defaulted<std::string> cwd = std::string("/workspace");
    Defaulted<int64_t> timeout_ms = int64_t{0};
    Defaulted<bool> pty = false;
    Defaulted<int64_t> rows = int64_t{24};
    Defaulted<int64_t> columns = int64_t{80};
    Defaulted<bool> open_stdin = false;
    Defaulted<bool> direct_stdout = false;
    static constexpr Pack fields{
        Field{"argv", &Command::argv, "Program and arguments; looked up in the PATH of `env`."},
        Field{"env", &Command::env, "Added to the clean environment."},
        Field{"cwd", &Command::cwd, "Working directory inside."},
        Field{"timeout_ms", &Command::timeout_ms, "Ends the command after this long; 0 leaves it to the wall clock."},
        Field{"pty", &Command::pty, "Give it a terminal made inside the sandbox."},
        Field{"rows", &Command::rows, "Height of the terminal."},
        Field{"columns", &Command::columns, "Width of the terminal."},
        Field{"open_stdin", &Command::open_stdin, "Give it a pipe to read from; else its input is empty."},
        Field{
            "direct_stdout", &Command::direct_stdout,
            "Its stdout is neither kept nor counted: the first caller of `stdout_pipe` reads it. Not with a terminal."},
    };
};

struct SandboxSpec {
    Defaulted<std::string> root = std::string("host");
    Defaulted<std::vector<std::string>> layers;
    Defaulted<std::vector<Mount>> mounts;
    std::optional<Command> command;
    Defaulted<std::map<std::string, std::string>> env;
    Defaulted<Limits> limits;
    Defaulted<NetworkMode> network = NetworkMode::none;
    Defaulted<Tier> minimum_tier = Tier::ns;
    Defaulted<UidPolicy> uid_policy = UidPolicy::automatic;
    std::optional<std::string> thread;
    Defaulted<bool> keep_home = false;
    Defaulted<bool> allow_ptrace = false;
    Defaulted<bool> keep = false;
    Defaulted<bool> detached = false;
    Defaulted<std::map<std::string, std::string>> labels;
    std::optional<std::string> capture;
    std::optional<std::string> without_namespaces;
    static constexpr Pack fields{
        Field{"root", &SandboxSpec::root, "`host` (the machine's /usr), the name of an image, or a directory."},
        Field{"layers", &SandboxSpec::layers, "Prepared layers over the root, lowest first."},
        Field{"mounts", &SandboxSpec::mounts, "Further directories and files of the host."},
        Field{"command", &SandboxSpec::command, "What to run first; none starts an idle sandbox."},
        Field{"env", &SandboxSpec::env, "Environment of every command."},
        Field{"limits", &SandboxSpec::limits, "What it may use."},
        Field{"network", &SandboxSpec::network, "Loopback only, or with the broker's listeners."},
        Field{"minimum_tier", &SandboxSpec::minimum_tier, "Weakest wall that will do; the used one is recorded."},
        Field{"uid_policy", &SandboxSpec::uid_policy, "Who the worker is on the host."},
        Field{"thread", &SandboxSpec::thread,
              "Name of the thread whose volume is /workspace; none: discarded at the end."},
        Field{"keep_home", &SandboxSpec::keep_home,
              "Keep /home/worker in the thread's volume, over what the layers have there."},
        Field{"allow_ptrace", &SandboxSpec::allow_ptrace, "Let processes inside debug each other."},
        Field{"keep", &SandboxSpec::keep, "Stay alive when the first command ends."},
        Field{"detached", &SandboxSpec::detached, "Keep running when its starter disconnects."},
        Field{"labels", &SandboxSpec::labels, "Written to the audit log."},
        Field{"capture", &SandboxSpec::capture,
              "Directory that receives the changes to the root: for building layers."},
        Field{
            "without_namespaces", &SandboxSpec::without_namespaces,
            "Empty directory that is the root where this machine makes no namespaces: for the server's own programs."},
    };
};

// Result of one command.
struct CommandResult {
    int64_t command = 0;
    bool finished = false;
    std::optional<int64_t> exit_code;
    std::optional<int64_t> signal;
    std::optional<std::string> error;
    std::vector<LimitHit> limits_hit;
    int64_t duration_ms = 0;
    int64_t output_bytes = 0;
    static constexpr Pack fields{
        Field{"command", &CommandResult::command, "Number of the command in its sandbox; the first is 0."},
        Field{"finished", &CommandResult::finished, "False while it runs."},
        Field{"exit_code", &CommandResult::exit_code, "When it exited by itself."},
        Field{"signal", &CommandResult::signal, "When a signal ended it."},
        Field{"error", &CommandResult::error, "When it could not be started."},
        Field{"limits_hit", &CommandResult::limits_hit, "Limits that it or its sandbox ran into."},
        Field{"duration_ms", &CommandResult::duration_ms, "From start to end, or until now."},
        Field{"output_bytes", &CommandResult::output_bytes, "Bytes it wrote to stdout and stderr."},
    };
};

enum class State { starting, running, frozen, stopped };
constexpr auto enum_names(State) {
    return std::array{EnumName{State::starting, "starting"}, EnumName{State::running, "running"},
                      EnumName{State::frozen, "frozen"}, EnumName{State::stopped, "stopped"}};
}

// A sandbox as its shim sees it.
struct SandboxView {
    SandboxId id;
    State state = State::starting;
    Tier tier = Tier::ns;
    bool without_namespaces = false;
    LimitKeeper limits_by = LimitKeeper::rlimit;
    std::vector<std::string> not_limited;
    std::string disk_by;
    Time created{};
    Time deadline{};
    int64_t host_uid = 0;
    std::optional<bool> user_namespace;
    int64_t pid = 0;
    std::optional<std::string> thread;
    std::map<std::string, std::string> labels;
    std::vector<CommandResult> commands;
    std::vector<LimitHit> limits_hit;
    int64_t peak_memory_bytes = 0;
    int64_t cpu_ns = 0;
    int64_t written_bytes = 0;
    int64_t disk_bytes = 0;
    std::optional<std::string> error;
    static constexpr Pack fields{
        Field{"id", &SandboxView::id, "Id."},
        Field{"state", &SandboxView::state, "Where it is in its life."},
        Field{"tier", &SandboxView::tier, "The wall that was used."},
        Field{
            "without_namespaces", &SandboxView::without_namespaces,
            "A helper of the server on a machine that makes no namespaces: held by Landlock and a filter, by no tier."},
        Field{"limits_by", &SandboxView::limits_by, "What keeps memory, CPU and pids in bounds."},
        Field{"not_limited", &SandboxView::not_limited, "Limits of the spec that nothing on this machine keeps."},
        Field{"disk_by", &SandboxView::disk_by, "What keeps the writable places in bounds."},
        Field{"created", &SandboxView::created, "Start."},
        Field{"deadline", &SandboxView::deadline, "When it is ended at the latest."},
        Field{"host_uid", &SandboxView::host_uid, "Uid of the worker as the host sees it."},
        Field{"user_namespace", &SandboxView::user_namespace,
              "Of a pod: whether its users are those of a namespace of its own."},
        Field{"pid", &SandboxView::pid, "Pid 1 of the sandbox as the host sees it; 0 when stopped."},
        Field{"thread", &SandboxView::thread, "Thread whose volume is /workspace."},
        Field{"labels", &SandboxView::labels, "As given."},
        Field{"commands", &SandboxView::commands, "Every command so far."},
        Field{"limits_hit", &SandboxView::limits_hit, "Limits that were run into."},
        Field{"peak_memory_bytes", &SandboxView::peak_memory_bytes, "Peak memory."},
        Field{"cpu_ns", &SandboxView::cpu_ns, "CPU time of all processes."},
        Field{"written_bytes", &SandboxView::written_bytes, "Bytes passed to write calls."},
        Field{"disk_bytes", &SandboxView::disk_bytes, "Bytes in the writable places at the end."},
        Field{"error", &SandboxView::error, "Why it could not be started."},
    };
};

// Checks what the field types cannot: ranges, absolute paths, names, sizes.
Result<> validate(const SandboxSpec& spec);
Result<> validate(const Command& command);
// [A-Za-z_][A-Za-z0-9_]*, at most 128 characters.
bool is_environment_name(std::string_view name);
// What every command gets beside its own: the same home and search path while a layer is built, in a run and in a
// verification.
constexpr std::string_view worker_home = "/home/worker";
constexpr std::string_view worker_path = "/home/worker/.local/bin:/usr/local/bin:/usr/bin:/bin";
// Absolute, no empty, `.` or `..` component, no NUL, at most 4095 bytes.
bool is_clean_absolute_path(std::string_view path);
// Letters, digits, `.`, `_`, `-`, `/` never first; at most 128 characters: names of images and layers.
bool is_plain_name(std::string_view name);

} // namespace hone::sandbox
