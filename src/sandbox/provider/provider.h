// Where sandboxes run. Every provider declares what it can do and passes the same conformance and escape suites.
// Order: prepare → start → (execute | output | …)* → stop → destroy. Thread-safe.
#pragma once

#include "base/file.h"
#include "base/result.h"
#include "sandbox/provider/files.h"
#include "sandbox/provider/spec.h"
#include "sandbox/provider/spool.h"

#include <functional>
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
    bool reattach = false;    // sandboxes outlive the server
    bool layers = false;      // prepared layers over the root, or of the home
    bool shares_disk = false; // a mount shows its source; otherwise the sandbox has a copy
    LimitKeeper limits_by = LimitKeeper::rlimit;
    static constexpr Pack fields{
        Field{"tiers", &Capabilities::tiers, "Walls that can be had."},
        Field{"execute", &Capabilities::execute, "Further commands in a live sandbox."},
        Field{"pty", &Capabilities::pty, "Terminals."},
        Field{"freeze", &Capabilities::freeze, "Freeze and thaw."},
        Field{"broker", &Capabilities::broker, "Network mode broker."},
        Field{"threads", &Capabilities::threads, "Thread volumes."},
        Field{"reattach", &Capabilities::reattach, "Sandboxes outlive the server."},
        Field{"layers", &Capabilities::layers, "Prepared layers over the root, or of the home."},
        Field{"shares_disk", &Capabilities::shares_disk, "A mount shows its source; otherwise the sandbox has a copy."},
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
    // How many of these bytes the command's input accepted: at least one, except after `timeout_ms`. `conflict`: it has
    // no input, or nothing reads it any more.
    virtual Result<size_t> write_input(int64_t command, std::string_view bytes, int64_t timeout_ms) = 0;
    virtual Result<> close_input(int64_t command) = 0;
    virtual Result<> signal(int64_t command, int signal) = 0;
    virtual Result<> resize(int64_t command, int rows, int columns) = 0;
    virtual Result<> freeze() = 0;
    virtual Result<> thaw() = 0;
    // Two listening sockets of this process, for connections to 127.0.0.1:3128 and :3129 inside. Close them when the
    // sandbox ends. An accepted connection is a plain socket, wherever the sandbox is.
    virtual Result<std::vector<Fd>> listeners() = 0;
    // /workspace, also after the end, until destroyed.
    virtual Result<std::unique_ptr<Files>> files() = 0;
    // The source of this mount of the spec has changed, or a file below it: a sandbox that has a copy receives it
    // again.
    virtual Result<> refresh(const Mount& changed) = 0;
    virtual Result<SandboxView> stop() = 0;
    // Ends it and forgets everything but its thread volume and its audit lines.
    virtual Result<> destroy() = 0;
    // After its end: what the spec's `capture` names has all changes when this returns. On this machine it has them as
    // they are made. `cancelled` is called while they are being sent; true ends that.
    virtual Result<> save_capture(const std::function<bool()>& /*cancelled*/) { return {}; }

    // --- only on this machine: descriptors of its kernel. For callers that use the local provider by name: git,
    // branches under review, layers.
    // A descriptor to write the command's input to; the sandbox keeps one too until `close_input`.
    virtual Result<Fd> input(int64_t /*command*/) { return unavailable(elsewhere); }
    // The reading end of a direct stdout, once: from then on it is the caller's alone.
    virtual Result<Fd> stdout_pipe(int64_t /*command*/) { return unavailable(elsewhere); }
    // /workspace as a directory to export from (tree.h), also after the end, until destroyed.
    virtual Result<Fd> workspace() { return unavailable(elsewhere); }

protected:
    static constexpr const char* elsewhere = "the sandbox is on another machine";
};

// Called about once a second while a sandbox is made on another machine, with what it waits for; false ends the start.
using StartProgress = std::function<bool(const std::string& waits_for)>;

class LayerExchange; // sandbox/archive/layer_archive.h

class Provider {
public:
    virtual ~Provider() = default;
    // Prepared layers that other servers built; null: there is no place to share them. Set before the first sandbox.
    void set_layer_exchange(LayerExchange* exchange) { m_layer_exchange = exchange; }
    LayerExchange* layer_exchange() const { return m_layer_exchange; }
    virtual Capabilities capabilities() = 0;
    // Where the programs of its sandboxes come from, if not from this machine: a part of the key of a prepared layer,
    // which is only used with the programs on which it was built.
    virtual std::string layer_root() { return {}; }
    Result<std::unique_ptr<Sandbox>> start(const SandboxSpec& spec) { return start(spec, {}); }
    // `busy`: there is no room now, or another sandbox still has the thread.
    virtual Result<std::unique_ptr<Sandbox>> start(const SandboxSpec& spec, const StartProgress& progress) = 0;
    // A further connection to a live sandbox, also to one that an earlier server started.
    virtual Result<std::unique_ptr<Sandbox>> attach(const SandboxId& id) = 0;
    virtual Result<std::vector<SandboxId>> list() = 0;
    // False: this machine makes no namespaces, and only specs with a folder for that case can be started.
    virtual Result<bool> makes_namespaces() { return true; }
    // Alive, dead or unknown: afterwards it is gone.
    virtual Result<> destroy(const SandboxId& id) = 0;
    // Waits until as many sandboxes are prepared as should be; false after `timeout_ms`. For measuring.
    virtual bool await_ready(int64_t timeout_ms) = 0;
    // Cleans up what crashes left; returns how many.
    virtual Result<int64_t> reconcile() = 0;
    // The files of a thread without a sandbox. `not_found`: it has none.
    virtual Result<std::unique_ptr<Files>> thread_files(const std::string& thread) = 0;
    // A new thread with a copy of another one's files. `conflict`: the new one exists.
    virtual Result<> fork_thread(const std::string& from, const std::string& to) = 0;
    // Removes the threads that are none of these; returns how many. A new thread stays, whatever the list has.
    virtual Result<int64_t> remove_other_threads(const std::vector<std::string>& /*kept*/) { return int64_t{0}; }

private:
    LayerExchange* m_layer_exchange = nullptr;
};

} // namespace hone::sandbox
