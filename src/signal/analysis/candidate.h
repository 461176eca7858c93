// What a detector finds: a problem that recurs, with its numbers and where to look. Values only; any thread.
#pragma once

#include "base/fields.h"
#include "base/time.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hone::signal {

enum class Severity { low, medium, high, critical };
constexpr auto enum_names(Severity) {
    return std::array{EnumName{Severity::low, "low"}, EnumName{Severity::medium, "medium"},
                      EnumName{Severity::high, "high"}, EnumName{Severity::critical, "critical"}};
}

enum class Detector {
    error_cluster,
    latency_regression,
    token_spike,
    cost_spike,
    tool_failure,
    tool_loop,
    truncated_output,
    refused_output,
    unparsable_output,
    empty_retrieval,
    eval_drop,
    version_regression,
    session_failure,
    provider_limit,
    reported_error,
    unused_tools,
    invalid_tool_call,
    agent_loop,
    ignored_instruction,
    missing_result,
    growing_context,
    reading,  // by a worker that read sampled traces
    reported, // by a worker or a person
};
constexpr auto enum_names(Detector) {
    using enum Detector;
    return std::array{EnumName{error_cluster, "error_cluster"},
                      EnumName{latency_regression, "latency_regression"},
                      EnumName{token_spike, "token_spike"},
                      EnumName{cost_spike, "cost_spike"},
                      EnumName{tool_failure, "tool_failure"},
                      EnumName{tool_loop, "tool_loop"},
                      EnumName{truncated_output, "truncated_output"},
                      EnumName{refused_output, "refused_output"},
                      EnumName{unparsable_output, "unparsable_output"},
                      EnumName{empty_retrieval, "empty_retrieval"},
                      EnumName{eval_drop, "eval_drop"},
                      EnumName{version_regression, "version_regression"},
                      EnumName{session_failure, "session_failure"},
                      EnumName{provider_limit, "provider_limit"},
                      EnumName{reported_error, "reported_error"},
                      EnumName{unused_tools, "unused_tools"},
                      EnumName{invalid_tool_call, "invalid_tool_call"},
                      EnumName{agent_loop, "agent_loop"},
                      EnumName{ignored_instruction, "ignored_instruction"},
                      EnumName{missing_result, "missing_result"},
                      EnumName{growing_context, "growing_context"},
                      EnumName{reading, "reading"},
                      EnumName{reported, "reported"}};
}

// What is scanned: the window, and the baseline before it that it is compared with.
struct Window {
    std::string project;
    int64_t baseline_from_ns = 0;
    int64_t from_ns = 0;
    int64_t to_ns = 0;
};

// A number that supports a finding, as people read it.
struct Fact {
    std::string name;
    std::string value;
    static constexpr Pack fields{
        Field{"name", &Fact::name, "What it is."},
        Field{"value", &Fact::value, "With its unit."},
    };
};

struct Example {
    std::string trace_id;
    std::string span_id;
    Time time{};
    static constexpr Pack fields{
        Field{"trace_id", &Example::trace_id, "32 hexadecimal digits."},
        Field{"span_id", &Example::span_id, "16 hexadecimal digits."},
        Field{"time", &Example::time, "When it started."},
    };
};

constexpr int64_t hour_ns = 3'600'000'000'000;

struct Candidate {
    Detector detector = Detector::error_cluster;
    std::string subject{};     // what it is about, always the same for the same problem: goes into the fingerprint
    std::string title{};       // one line, harmless
    std::string explanation{}; // why this was found, in words
    Severity severity = Severity::medium;
    std::string filter{}; // in the filter language: the spans it is about
    // A condition in SQL beside the filter, for what the language cannot say, and its values.
    std::string narrower{};
    std::vector<std::pair<std::string, std::string>> narrower_values{};
    std::string about{};      // "latency|rank_articles": two findings about the same thing are one
    double change = 1;        // how many times worse than usual; 1 when there is nothing to compare with
    double extra_ns = 0;      // of slower spans: by how much
    double clear = 6;         // standard errors above what chance does
    int64_t least = 3;        // fewer traces than this are not reported
    double sampled_share = 0; // share of the traces that were read completely; 0: of all traces
    std::vector<Fact> facts{};

    // What evidence.h adds.
    int64_t traces = 0;        // touched in the window
    int64_t traces_before = 0; // in the baseline
    double share = 0;          // of the window's traces
    double growth = 1;         // share in the window over share in the baseline
    double confidence = 0;
    int64_t first_seen_ns = 0;
    int64_t last_seen_ns = 0;
    std::vector<Example> examples{};
    std::vector<std::pair<int64_t, int64_t>> volume{}; // start of the hour, traces
    std::vector<uint64_t> sample{};                    // the smallest hashes of its traces, sorted
};

} // namespace hone::signal
