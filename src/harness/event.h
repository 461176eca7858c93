// What a worker does, in Hone's own words, whichever harness it is: drivers translate to these, the transcript stores
// them, the UI shows them. Values only; any thread.
#pragma once

#include "base/fields.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace hone::harness {

enum class EventKind {
    message,     // text of the worker
    thinking,    // it reasoned
    tool_call,   // it called a tool
    tool_result, // the result of a tool
    usage,       // tokens as the harness counts them; the gateway's numbers are the truth
    status,      // something to know: a retry, a warning
    error,       // something failed
    result,      // the turn is over
    artifact,    // the run left something to review
    follow_up,   // text of a person
};
constexpr auto enum_names(EventKind) {
    return std::array{
        EnumName{EventKind::message, "message"},     EnumName{EventKind::thinking, "thinking"},
        EnumName{EventKind::tool_call, "tool_call"}, EnumName{EventKind::tool_result, "tool_result"},
        EnumName{EventKind::usage, "usage"},         EnumName{EventKind::status, "status"},
        EnumName{EventKind::error, "error"},         EnumName{EventKind::result, "result"},
        EnumName{EventKind::artifact, "artifact"},   EnumName{EventKind::follow_up, "follow_up"},
    };
}

// Buckets that do not overlap, as in spans.
struct Usage {
    int64_t input = 0;
    int64_t cache_read = 0;
    int64_t cache_write = 0;
    int64_t output = 0;
    int64_t reasoning = 0;
    static constexpr Pack fields{
        Field{"input", &Usage::input, "Input tokens that were not read from a cache."},
        Field{"cache_read", &Usage::cache_read, "Tokens read from a cache."},
        Field{"cache_write", &Usage::cache_write, "Tokens written to a cache."},
        Field{"output", &Usage::output, "Output tokens without reasoning."},
        Field{"reasoning", &Usage::reasoning, "Tokens of reasoning."},
    };
    friend bool operator==(const Usage&, const Usage&) = default;
};

struct Event {
    EventKind kind = EventKind::status;
    std::string text = {};
    std::string tool = {};    // name of the tool: `Bash`, `hone.search_spans`
    std::string call_id = {}; // ties a result to its call
    std::string input = {};   // arguments of a call, as JSON text
    bool failed = false;
    std::optional<Usage> usage = {};
};

} // namespace hone::harness
