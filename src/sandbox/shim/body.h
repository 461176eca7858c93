// What a shim keeps alive: the processes behind one tier's wall. One implementation per tier; all calls from the shim's
// only thread. Order: start, then (execute | signal | handle)*, kill, and `ended` exactly once.
#pragma once

#include "base/file.h"
#include "sandbox/image/volume.h"
#include "sandbox/shim/running_command.h"
#include "sandbox/shim/shim.h"
#include "sandbox/wall/cgroup.h"
#include "sandbox/wall/launch.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace hone::sandbox {

// A descriptor to wait for, and what to do then.
struct Watch {
    int descriptor = -1;
    short events = 0;
    std::function<void()> act;
};

class BodyListener {
public:
    virtual ~BodyListener() = default;
    // With the master of its terminal when it has one.
    virtual void command_started(int64_t number, Fd terminal) = 0;
    virtual void command_failed(int64_t number, const Error& why) = 0;
    virtual void command_ended(int64_t number, int wait_status) = 0;
    // Every process is gone and waited for; CPU time of all of them.
    virtual void body_ended(int64_t cpu_ns, int64_t written_bytes) = 0;
};

// What a body is made of. The references outlive it.
struct BodyPlan {
    const Machine& machine;
    const Store& store;
    const SandboxSpec& spec;
    const SandboxId& id;
    const Cgroup& cgroup;
    unsigned host_uid;
    Volume* volume; // null without a thread
};

class Body {
public:
    virtual ~Body() = default;
    // Begins; a command may be handed over immediately. `settle` waits until it runs, or returns why it does not.
    virtual Result<> start() = 0;
    virtual Result<> settle() = 0;
    virtual void watch(std::vector<Watch>& watches) = 0;
    // Starts a command with these descriptors; the outcome comes through the listener. `last`: all ends with it.
    virtual Result<> execute(const RunningCommand& command, const std::map<std::string, std::string>& environment,
                             Fd (&stdio)[3], bool last) = 0;
    virtual void signal(int64_t number, int signal) = 0;
    virtual void kill() = 0;
    // After the end: releases what the kernel removes slowly.
    virtual void release() = 0;
    virtual pid_t pid() const = 0;
    virtual int scratch() const = 0; // a descriptor on the file system with all that may be written; -1: none
    virtual const std::vector<Fd>& listeners() const = 0;
    virtual Result<Fd> workspace() const = 0;
};

// `launched`: a child that waits, on a plain root when the spec's is one.
std::unique_ptr<Body> make_namespace_body(const BodyPlan& plan, BodyListener& listener, Launched launched);
std::unique_ptr<Body> make_gvisor_body(const BodyPlan& plan, BodyListener& listener);
// Without namespaces: for the server's own programs (helper/helper.h).
std::unique_ptr<Body> make_helper_body(const BodyPlan& plan, BodyListener& listener);

// In the folder of a helper: the number of its session.
constexpr std::string_view session_file = "session";

// Bytes passed to write calls by a process and everything it waited for; readable while it is a zombie.
int64_t written_bytes(pid_t pid);

// The lower directories of the sandbox's root, topmost first, and whether the host's /usr belongs on them.
struct RootLayers {
    std::vector<std::string> directories;
    bool host = false;
    // Whether it is the root of every prepared sandbox.
    bool is_plain(const SandboxSpec& spec) const { return host && directories.size() == 1 && !spec.capture; }
};
Result<RootLayers> root_layers(const Store& store, const SandboxSpec& spec);

} // namespace hone::sandbox
