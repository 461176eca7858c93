// One event of a managed session, read from the history or from the stream. Types and fields that are not named here
// are kept and skipped: the API adds some with each of its versions. Values only; any thread.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "json/path.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace hone::managed {

enum class EventKind {
    user_message,
    custom_tool_result,
    other_user,      // interrupts, confirmations, outcomes
    message,         // text of the agent
    thinking,        // a sign only, without text
    tool_use,        // a tool that the provider runs, also of an MCP server
    tool_result,     // its result
    custom_tool_use, // a tool that Hone runs
    running,
    idle,
    rescheduled,
    terminated,
    deleted,
    error,
    usage,             // a snapshot of the session's totals
    model_request_end, // tokens of one call of the model
    preview,           // on the stream only, never in the history
    other,             // known to have no effect here, or unknown
};

// Why a session became idle.
enum class Stop { end_turn, requires_action, retries_exhausted, budget_reached, refusal, unknown };

// What the server does about an error.
enum class Retry { retrying, exhausted, terminal, unknown };

struct ModelUsage {
    int64_t input = 0;
    int64_t output = 0;
    int64_t cache_read = 0;
    int64_t cache_write = 0;
    static constexpr Pack fields{
        Field{"input", &ModelUsage::input, "Input tokens that were not read from a cache."},
        Field{"output", &ModelUsage::output, "Output tokens."},
        Field{"cache_read", &ModelUsage::cache_read, "Tokens read from a cache."},
        Field{"cache_write", &ModelUsage::cache_write, "Tokens written to a cache."},
    };
    friend bool operator==(const ModelUsage&, const ModelUsage&) = default;
};

struct Event {
    std::string id; // empty: an interrupt may have none; then the event cannot be recorded
    std::string type;
    EventKind kind = EventKind::other;
    bool is_known = false;    // a type that is in the history of sessions
    std::string processed_at; // as the API wrote it, a valid time or empty
    bool is_queued = false;   // an event of a user that waits to be processed
    // Of tools: its name, the call that a result belongs to, the arguments as JSON text, whether it failed. For a tool
    // of an MCP server the name is `server.tool`.
    std::string tool;
    std::string call_id;
    std::string input;
    bool failed = false;
    bool needs_confirmation = false;
    std::string text; // of messages and results; the message of an error
    // Of `idle`.
    Stop stop = Stop::unknown;
    std::string stop_reason; // as the API wrote it
    std::vector<std::string> waits_for;
    // Of `error`.
    std::string error_type;
    Retry retry = Retry::unknown;
    // Of `model_request_end`; of `usage`: cents at list price and seconds in which the session ran.
    ModelUsage usage;
    int64_t list_cost_cents = 0;
    double active_seconds = 0;
};

// Never fails: what is absent or mistyped reads as empty.
Event event_of(const json::Value& value);
Result<Event> read_event(std::string_view text);

// JSON of the API. Halves of surrogate pairs and malformed UTF-8, which texts of models can contain, are replaced.
Result<json::Value> parse_response(std::string_view text);

using json::member;
using json::text_at;
using json::true_at;

} // namespace hone::managed
