// A run watched live: its events as they come, across lost connections, until it has come to rest. Ctrl-C ends only the
// watching. One thread, and one more that waits for Ctrl-C.
#pragma once

#include "cli/remote/context.h"
#include "cli/remote/remote.h"

#include <cstdint>
#include <string>

namespace hone::cli {

struct Watch {
    std::string run{};
    int64_t after = 0;      // show events with a greater sequence number
    int64_t known = 0;      // newest event there was; an end before it has been overtaken by a follow-up
    bool over = false;      // it was over then
    bool until_turn = true; // a session that waits for its next message is at rest; else only one that is over
    bool answer = false;    // a message was sent: rest counts only after that message
};

struct Rest {
    std::string state; // empty: the watching ended before the run did
    bool turn_failed = false;
};

// With --json each event is a line of JSON.
Result<Rest> follow_run(const Context& context, const Watch& watch);

} // namespace hone::cli
