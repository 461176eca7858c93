// One command of a sandbox as its shim sees it: its pipes or terminal, its spool, its deadline and its result.
// Used only by the shim's thread.
#pragma once

#include "base/file.h"
#include "sandbox/provider/spec.h"
#include "sandbox/provider/spool.h"

#include <optional>

namespace hone::sandbox {

struct RunningCommand {
    int64_t number = 0;
    Command command;
    CommandResult result;
    bool exited = false; // its first process has ended
    Duration started{};  // steady
    Duration deadline{}; // 0: none
    Duration kill_at{};  // after SIGTERM was sent; 0: not yet
    Fd out, err;         // our reading ends; with a terminal only `out`, its master
    Fd input;            // our writing end
    Fd direct;           // reading end of a direct stdout until it is taken
    Fd spool;
    std::string spool_path;
    int64_t spool_bytes = 0;
    int64_t acknowledged = 0;
    bool full = false; // over its output limit: the rest is thrown away

    // Pipes and the spool `out-N` in the current directory; `theirs` receives stdin, stdout and stderr of the child.
    static Result<RunningCommand> open(int64_t number, const Command& command, Fd (&theirs)[3]);

    // Reads what is there from one stream into the spool. Returns false when it went over the output limit just now.
    Result<bool> take_output(Stream stream, int64_t limit, Time now);
    // Whether its reader is so far behind that it must wait.
    bool must_wait(int64_t window) const { return window > 0 && spool_bytes - acknowledged > window; }
    bool drained() const { return !out.is_open() && !err.is_open(); }
};

} // namespace hone::sandbox
