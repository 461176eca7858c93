#include "run/state.h"

namespace hone::run {

namespace {

using enum State;

constexpr std::array moves{
    Move{queued, preparing, "a place is free"},
    Move{queued, cancelled, "a person cancels"},
    Move{queued, failed, "its preset or project is gone"},
    Move{queued, budget_stopped, "the space's budget is used up"},
    Move{preparing, running, "the harness has its prompt"},
    Move{preparing, queued, "the server ended before there was a sandbox, or the cluster has no room"},
    Move{preparing, failed, "a step failed"},
    Move{preparing, cancelled, "a person cancels"},
    Move{preparing, timed_out, "the wall clock runs out"},
    Move{preparing, lost, "the machine died"},
    Move{running, waiting, "a session's turn is over"},
    Move{running, succeeded, "the last turn ended well"},
    Move{running, failed, "the turn or the harness failed"},
    Move{running, cancelled, "a person cancels"},
    Move{running, timed_out, "the wall clock runs out"},
    Move{running, budget_stopped, "the budget is used up"},
    Move{running, lost, "the machine died"},
    Move{waiting, running, "a follow-up"},
    Move{waiting, succeeded, "no follow-up arrived in time"},
    Move{waiting, failed, "the same, and its last turn had failed"},
    Move{waiting, cancelled, "a person cancels"},
    Move{waiting, timed_out, "the wall clock runs out"},
    Move{waiting, budget_stopped, "the budget is used up"},
    Move{waiting, lost, "the machine died"},
    Move{succeeded, queued, "a follow-up"},
    Move{failed, queued, "a follow-up"},
    Move{cancelled, queued, "a follow-up"},
    Move{timed_out, queued, "a follow-up"},
    Move{budget_stopped, queued, "a follow-up"},
    Move{lost, queued, "a follow-up"},
};

} // namespace

std::span<const Move> legal_moves() {
    return moves;
}

bool may_move(State from, State to) {
    for (const Move& move : moves)
        if (move.from == from && move.to == to) return true;
    return false;
}

std::string draw_moves() {
    std::string drawing = "stateDiagram-v2\n    [*] --> queued\n";
    for (const Move& move : moves)
        drawing += "    " + std::string(name_of(move.from)) + " --> " + std::string(name_of(move.to)) + ": " +
                   std::string(move.when) + "\n";
    return drawing;
}

} // namespace hone::run
