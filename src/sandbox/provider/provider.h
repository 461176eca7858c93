// Where sandboxes run. Every provider declares what it can do and passes the same conformance and escape suites.
// Order: prepare → start → (execute | output | …)* → stop → destroy. Thread-safe.
#pragma once

#include "base/file.h"
#include "base/result.h"
#include "sandbox/provider/spec.h"
#include "sandbox/provider/spool.h"

#include <memory>
#include <string>
#include <vector>

namespace hone::sandbox {

struct Capabilities {
    std::vector<Tier> tiers;
    bool execute = false; // further commands in a live sandbox
    bool pty = false;
    bool freeze = false;
    bool broker = false; // network mode `broker`
    bool threads = false;
    bool reattach = false; // sandboxes outlive the server
    LimitKeeper limits_by = LimitKeeper::rlimit;
    static constexpr std::tuple fields{
        Field{"tiers", &Capabilities::tiers, "Walls that can be had."},
        Field{"execute", &Capabilities::execute, "Further commands in a live sandbox."},
        Field{"pty", &Capabilities::pty, "Terminals."},
        Field{"freeze", &Capabilities::freeze, "Freeze and thaw."},
        Field{"broker", &Capabilities::broker, "Network mode broker."},
        Field{"threads", &Capabilities::threads, "Thread volumes."},
        Field{"reattach", &Capabilities::reattach, "Sandboxes outlive the server."},
        Field{"limits_by", &Capabilities::limits_by, "What keeps the limits."},
    };
};

// A piece of a command's output.
struct Output {
    struct Part {
        Stream stream = Stream::out;
        Time time{};
        std::string bytes;
    };
    std::vector<Part> parts;
    int64_t next = 0;      // offset to continue from
    bool finished = false; // nothing will come after `next`
};

class Sandbox {
public:
    virtual ~Sandbox() = default;
    virtual const SandboxId& id() const = 0;
    virtual Result<SandboxView> view() = 0;
    virtual Result<int64_t> execute(const Command& command) = 0;
    // Waits until the command has ended; Code::busy after `timeout_ms` (-1: never).
    virtual Result<CommandResult> wait(int64_t command, int64_t timeout_ms = -1) = 0;
    // Waits until every process has ended.
    virtual Result<SandboxView> wait_stopped(int64_t timeout_ms = -1) = 0;
    // Output from `offset` on, at most about 1 MiB; waits for some, at most `timeout_ms`. Reading further means that
    // everything before was taken: the command waits for a slow reader when the spec has an output window.
    virtual Result<Output> output(int64_t command, int64_t offset, int64_t timeout_ms = -1) = 0;
    // A descriptor to write the command's input to; the sandbox keeps one too until `close_input`.
    virtual Result<Fd> input(int64_t command) = 0;
    virtual Result<> close_input(int64_t command) = 0;
    // The reading end of a direct stdout, once: from then on it is the caller's alone.
    virtual Result<Fd> stdout_pipe(int64_t command) = 0;
    virtual Result<> signal(int64_t command, int signal) = 0;
    virtual Result<> resize(int64_t command, int rows, int columns) = 0;
    virtual Result<> freeze() = 0;
    virtual Result<> thaw() = 0;
    // The broker's listening sockets, in the order 3128, 3129. Close them when the sandbox ends.
    virtual Result<std::vector<Fd>> listeners() = 0;
    // /workspace as a directory to export from (tree.h), also after the end, until destroyed.
    virtual Result<Fd> workspace() = 0;
    virtual Result<SandboxView> stop() = 0;
    // Ends it and forgets everything but its thread volume and its audit lines.
    virtual Result<> destroy() = 0;
};

class Provider {
public:
    virtual ~Provider() = default;
    virtual Capabilities capabilities() = 0;
    virtual Result<std::unique_ptr<Sandbox>> start(const SandboxSpec& spec) = 0;
    // A further connection to a live sandbox, also to one that an earlier server started.
    virtual Result<std::unique_ptr<Sandbox>> attach(const SandboxId& id) = 0;
    virtual Result<std::vector<SandboxId>> list() = 0;
    // Alive, dead or unknown: afterwards it is gone.
    virtual Result<> destroy(const SandboxId& id) = 0;
    // Waits until as many sandboxes are prepared as should be; false after `timeout_ms`. For measuring.
    virtual bool await_ready(int64_t timeout_ms) = 0;
    // Cleans up what crashes left; returns how many.
    virtual Result<int64_t> reconcile() = 0;
    // The image of a thread's volume as a mount to read from. By the provider, because its process may have dropped
    // what that needs.
    virtual Result<Fd> mount_volume(int /*image*/) { return unavailable("volumes of threads cannot be mounted here"); }
};

} // namespace hone::sandbox
