// How far a managed session has come, computed from its events alone: its phase, the calls that wait for Hone, tokens.
// It is stored with each event, so that another server continues exactly there. Values and one pure function; any
// thread.
#pragma once

#include "base/fields.h"
#include "managed/event.h"

#include <array>

namespace hone::managed {

enum class Phase {
    working,            // the agent works, or waits for a result of Hone
    waiting,            // its turn ended well
    turn_failed,        // its turn ended badly; it takes another message
    budget_stopped,     // its budget is used up
    preparation_failed, // its repository could not be cloned; the agent itself continues without
    failed,             // it terminated
    lost,               // it was deleted
};
constexpr auto enum_names(Phase) {
    using enum Phase;
    return std::array{EnumName{working, "working"},
                      EnumName{waiting, "waiting"},
                      EnumName{turn_failed, "turn_failed"},
                      EnumName{budget_stopped, "budget_stopped"},
                      EnumName{preparation_failed, "preparation_failed"},
                      EnumName{failed, "failed"},
                      EnumName{lost, "lost"}};
}

// A call that the session may wait for.
struct ToolCall {
    std::string id;
    std::string name;
    std::string input; // arguments as JSON text
    bool is_custom = false;
    static constexpr Pack fields{
        Field{"id", &ToolCall::id, "Id of the event that made the call."},
        Field{"name", &ToolCall::name, "Name of the tool."},
        Field{"input", &ToolCall::input, "Arguments, as JSON text."},
        Field{"is_custom", &ToolCall::is_custom, "Hone runs the tool; otherwise the call needs a confirmation."},
    };
};

struct Progress {
    int64_t sequence = 0;
    std::string cursor;
    Phase phase = Phase::working;
    std::string reason;
    int64_t messages = 0;
    bool is_settled = true;
    std::vector<ToolCall> open_calls;
    std::vector<std::string> waits_for;
    ModelUsage usage;
    int64_t model_requests = 0;
    int64_t list_cost_cents = 0;
    double active_seconds = 0;
    static constexpr Pack fields{
        Field{"sequence", &Progress::sequence, "Events recorded so far."},
        Field{"cursor", &Progress::cursor, "Latest processed_at among them; the history is listed from here."},
        Field{"phase", &Progress::phase, "State of the session."},
        Field{"reason", &Progress::reason, "Why the phase is not working or waiting."},
        Field{"messages", &Progress::messages, "Messages of people that the agent has processed."},
        Field{"is_settled", &Progress::is_settled, "A turn has ended since the last of these messages."},
        Field{"open_calls", &Progress::open_calls, "Calls without a result."},
        Field{"waits_for", &Progress::waits_for, "Ids of the calls that the session waits for."},
        Field{"usage", &Progress::usage, "Tokens of all calls of the model."},
        Field{"model_requests", &Progress::model_requests, "Calls of the model."},
        Field{"list_cost_cents", &Progress::list_cost_cents, "Cost at list price, as the provider reports it."},
        Field{"active_seconds", &Progress::active_seconds,
              "Time in which the session ran, as the provider reports it."},
    };
};

// No turn: the session waits for a message, or has ended.
constexpr bool is_at_rest(Phase phase) {
    return phase != Phase::working;
}
// Takes no message any more.
constexpr bool is_over(Phase phase) {
    return phase == Phase::preparation_failed || phase == Phase::failed || phase == Phase::lost;
}

// The progress after one more event, which must not have been counted before.
void apply(Progress& progress, const Event& event);

} // namespace hone::managed
