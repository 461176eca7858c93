// Examples from turns of chat sessions. A trace of a session is a turn; its example has the conversation before it and
// the turn's own input as its input, and the turn's output as its output. Reads spans; blocks.
#pragma once

#include "access/projects.h"
#include "evaluate/datasets/dataset.h"
#include "telemetry/spans.h"

namespace hone::evaluate {

constexpr size_t most_turns_at_once = 200; // examples of one request
constexpr size_t most_earlier_turns = 200; // the newest ones, of the conversation of an example
constexpr size_t most_turns_read = 10'000; // of a session
constexpr size_t largest_conversation = 4 << 20;

// The texts of a turn, for the conversation of the turns after it.
struct TurnTexts {
    std::string user;
    std::string assistant; // empty: it failed, or replied nothing
};
TurnTexts texts_of_turn(const telemetry::SpanPayload& root);

// The input of the turn: what its root span has, and `messages` with the conversation, oldest first. An input that
// holds the conversation already stays as it is.
json::Value input_of_turn(const std::vector<TurnTexts>& before, const telemetry::SpanPayload& root);

// The turns with these traces, oldest first; without traces all turns of the session. Without a session the traces must
// be of chat sessions, each of any. not_found names a trace that is no turn.
Result<std::vector<NewExample>> examples_of_turns(telemetry::Spans& spans, const access::Project& project,
                                                  const std::string& session,
                                                  const std::vector<std::string>& trace_ids);

} // namespace hone::evaluate
