// One finished model call, for tracing. The gateway makes it, a ModelCallSink takes it; model_spans.h turns
// it into a span.
#pragma once

#include "base/fields.h"
#include "base/time.h"
#include "broker/spending/usage.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hone::broker {

// How much of a call may be kept.
enum class Capture {
    none,     // no span at all
    metadata, // model, parameters, tokens, cost, times: no message text
    full,     // messages, tools and responses too
};
constexpr auto enum_names(Capture) {
    return std::array{EnumName{Capture::none, "none"}, EnumName{Capture::metadata, "metadata"},
                      EnumName{Capture::full, "full"}};
}

// Where the spans of a run go.
struct SpanPlace {
    std::string space_id;
    std::string project; // by name, as OTLP has it: "hone-runs"
    std::string run_id;
    std::string trace_id;  // 32 hexadecimal digits; empty: a trace of its own
    std::string parent_id; // 16 hexadecimal digits; empty: none
    std::string chat_session;
};

struct ModelCall {
    std::string id; // call_…
    SpanPlace place;
    Capture capture = Capture::metadata;
    ModelApi api = ModelApi::messages;
    ResponseFormat form = ResponseFormat::json;
    std::string provider; // host that responded
    std::string requested_model;
    Time started{};
    Duration took{};
    std::optional<Duration> first_byte; // of the response's body
    int status = 0;                     // HTTP; 0: no response
    std::string error;                  // what went wrong, for people; empty: nothing
    ModelUsage usage;
    std::optional<int64_t> cost_nano_usd;
    std::string price;    // by which it was counted
    std::string request;  // the body as it was sent; `metadata` keeps its numbers only
    std::string response; // the response's body, perhaps truncated; empty unless `full`
    std::vector<std::pair<std::string, std::string>> attributes{}; // of its span, beside the usual ones
};

class ModelCallSink {
public:
    virtual ~ModelCallSink() = default;
    // Must not block: the connection waits for it. Any thread.
    virtual void called(ModelCall call) = 0;
};

} // namespace hone::broker
