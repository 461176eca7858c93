// What the text of a failure states: its innermost cause without the code, the arguments and the data that it quotes;
// whether a text that no span marks as failed reports a failure; names without their numbers and ids. Pure, bounded,
// fuzzed; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::signal {

// "Step 12" and "Step 3" are one: "Step #". Ids and paths are left out too.
std::string normalised_name(std::string_view name);

// Where a chain of failures began, as far as its message shows it.
struct Cause {
    std::string type;   // "FileNotFoundError"; empty when the message names none
    std::string detail; // the line that states it, word for word
};
// "Tool failed at line 'x = f()' due to: TypeError: f() got 2 arguments" → {"TypeError", "f() got 2 arguments"}.
Cause innermost_cause(std::string_view message);

// What causes that differ in names and values only have in common: "TypeError: * got an unexpected keyword argument".
std::string cause_template(const Cause& cause);

// The provider rejects calls for a time: too many requests, no quota, overload.
bool is_provider_limit(std::string_view type, std::string_view message);
// The request is larger than the model's context.
bool is_context_limit(std::string_view message);

// A failure that a tool's result or a message to the model reports. Structured results first (an error field, a status
// code), then texts that begin with a report of an error. Documents and logs that only mention errors are none.
std::optional<Cause> reported_failure(std::string_view text);

} // namespace hone::signal
