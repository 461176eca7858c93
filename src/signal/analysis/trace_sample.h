// Traces as a whole, with the texts of their spans: what detectors of behaviour read. A small window is read
// completely, of a large one some traces of each part of it. Bounded in traces, spans and bytes. One thread.
#pragma once

#include "signal/analysis/survey.h"
#include "telemetry/span/conversation.h"

#include <memory>

namespace hone::signal {

struct SampledSpan {
    std::string span_id;
    std::string parent_id;
    std::string name;
    std::string kind; // llm, tool, agent, …
    std::string tool; // name of the tool, of a tool span
    bool failed = false;
    std::string exception;     // type
    std::string message;       // of the failure
    bool in_exception = false; // where the message is, else in the status
    std::string finish_reason;
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    int64_t input_tokens = 0;
    int64_t most_steps = 0;                          // limit of steps that an agent span states; 0: none
    std::string input{};                             // of a span that is no model call
    std::string output{};                            // text; of a model call its content
    std::vector<telemetry::ToolCall> calls{};        // that a model call requests
    std::vector<const telemetry::Message*> head{};   // first messages of a model call
    telemetry::Message newest{};                     // last message of a model call
    int64_t messages = 0;                            // of a model call
    const std::vector<std::string>* tools = nullptr; // JSON schemas that a model call offers

    // Filled in by SampledTrace::link.
    size_t parent = static_cast<size_t>(-1); // index; none of a root
    std::vector<size_t> children{};          // by start
    std::string tool_around{};               // of a phase of a tool's call that has a span of its own: the tool
};

struct SampledTrace {
    std::string id;
    std::vector<SampledSpan> spans; // by start

    static constexpr size_t none = static_cast<size_t>(-1);
    // Sets parents and children from the ids.
    void link();
    // The nearest span above it of this kind; none when there is none.
    size_t above(size_t span, std::string_view kind) const;
    // All spans below it, by start.
    std::vector<size_t> below(size_t span) const;
};

struct Sample {
    std::vector<SampledTrace> traces;
    bool is_whole = false; // has every trace of the window
    // What spans point to; many of them share one.
    std::vector<std::unique_ptr<telemetry::Message>> messages;
    std::vector<std::unique_ptr<std::vector<std::string>>> tool_lists;
};

// Read once in a scan.
Result<std::shared_ptr<const Sample>> read_sample(Survey& survey);

// These traces, as far as they are in the window. Ids are 32 hexadecimal digits; others are left out.
Result<std::shared_ptr<const Sample>> read_traces(Survey& survey, const std::vector<std::string>& traces);

// Windows with fewer traces are small: a few cases are evidence there, and all of it is read.
constexpr int64_t small_window = 200;

} // namespace hone::signal
