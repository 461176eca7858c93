// Replays: what the trace of an example recorded (the input of its span, the output, the results of its tools), or why
// it cannot be run again. Reads the spans; runs nothing. Thread-safe; blocks.
#pragma once

#include "evaluate/content/canonical.h"
#include "evaluate/runner/experiment_tasks.h"
#include "telemetry/spans.h"

#include <span>

namespace hone::evaluate {

struct Recording {
    Replay replay; // with the reason when it cannot be run again
    json::Value input = json::Object{};
    json::Value output = nullptr;
    std::optional<std::string> error; // the recorded run failed
    std::string trace_id;
    std::string span_id;
    json::Array tools; // with `replay_tools` = recorded: {name, arguments, result} or {name, arguments, error}
    Time started_at{};
    Time ended_at{};
};

class Recordings {
public:
    // `spans`: null where there are none.
    explicit Recordings(telemetry::Spans* spans) : m_spans(spans) {}

    // Waits until queries see every span that was accepted before.
    Result<> prepare() const;
    // Errors are about the machine; what is wrong with the example or its trace is the reason of the replay.
    Result<Recording> find(const ExperimentTask& task, const Example& example) const;

private:
    Result<> read_trace(const ExperimentTask& task, const Example& example, Recording& recording) const;
    Result<bool> continues_a_chat(const std::string& project, const telemetry::SpanPayload& span) const;
    Result<> read_tools(const std::string& project, std::span<const telemetry::SpanRow> calls,
                        Recording& recording) const;

    telemetry::Spans* const m_spans;
};

// The tools that were called below a span, in the order of their start; not those that another tool called.
std::vector<telemetry::SpanRow> tool_calls_below(const std::vector<telemetry::SpanRow>& trace,
                                                 const std::string& span_id);

} // namespace hone::evaluate
