// The life of a run: one enum, one table of legal moves, one drawing in docs/life-of-a-run.md; a test compares them.
// Pure data, any thread.
#pragma once

#include "base/fields.h"

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace hone::run {

enum class State {
    queued,         // waits for a place
    preparing,      // its sandbox is being made
    running,        // the harness works
    waiting,        // a session whose turn is over and which takes follow-ups
    succeeded,      // ended well
    failed,         // ended badly; `reason` states how
    cancelled,      // a person stopped it
    timed_out,      // its wall clock ran out
    budget_stopped, // its budget was used up
    lost,           // its machine died under it
};
constexpr auto enum_names(State) {
    using enum State;
    return std::array{EnumName{queued, "queued"},
                      EnumName{preparing, "preparing"},
                      EnumName{running, "running"},
                      EnumName{waiting, "waiting"},
                      EnumName{succeeded, "succeeded"},
                      EnumName{failed, "failed"},
                      EnumName{cancelled, "cancelled"},
                      EnumName{timed_out, "timed_out"},
                      EnumName{budget_stopped, "budget_stopped"},
                      EnumName{lost, "lost"}};
}

// What a person wants of a run that a worker has; in the database until the worker takes it.
enum class RunCommand {
    none,
    interrupt, // end the running turn; the session continues
    cancel,    // end the run
};
constexpr auto enum_names(RunCommand) {
    return std::array{EnumName{RunCommand::none, ""}, EnumName{RunCommand::interrupt, "interrupt"},
                      EnumName{RunCommand::cancel, "cancel"}};
}

struct Move {
    State from;
    State to;
    std::string_view when;
};

std::span<const Move> legal_moves();
bool may_move(State from, State to);

// Over: no sandbox, no turn. A follow-up to a session queues it again.
constexpr bool is_over(State state) {
    return state >= State::succeeded;
}

// The table as a Mermaid drawing, for the documents.
std::string draw_moves();

} // namespace hone::run
