// What the shim and pid 1 of a sandbox say to each other over one SEQPACKET socket: fixed-size packets with descriptors
// beside them. The shim trusts nothing that comes back; pid 1 runs under the sandbox's own filters.
#pragma once

#include <cstdint>

namespace hone::init {

// Where hone-init finds its end of the socket.
constexpr int control_descriptor = 3;
// The command as text is in a memory file: working directory, arguments, environment, each ended by a NUL.
constexpr uint32_t max_payload_bytes = 4u << 20;
constexpr uint32_t max_strings = 65536;
constexpr uint32_t max_commands = 512;

enum class Verb : uint32_t {
    run = 1,    // descriptors: payload, then stdin, stdout, stderr unless `flag_pty`
    signal = 2, // `number` to the command's process group
};

constexpr uint32_t flag_pty = 1;
constexpr uint32_t flag_last = 2; // pid 1 ends with this command, and with it everything

struct Request {
    Verb verb;
    uint32_t command; // chosen by the shim, unique in this sandbox
    int32_t number;   // the signal
    uint32_t flags;
    uint32_t argument_count;
    uint32_t environment_count;
    uint16_t rows, columns; // of the terminal
    uint32_t payload_bytes;
};

enum class Event : uint32_t {
    ready = 1,   // pid 1 runs
    started = 2, // `status` is the pid inside; the terminal's master is sent along when one was requested
    failed = 3,  // `status` is the errno of the exec
    exited = 4,  // `status` is a wait status
    broken = 5,  // the set-up before pid 1 failed: `status` is an errno, `stage` names the step
};

struct Reply {
    Event event;
    uint32_t command;
    int32_t status;
    uint32_t unused;
    uint64_t cpu_ns;
    uint64_t peak_resident_bytes;
    char stage[232];
};

} // namespace hone::init
