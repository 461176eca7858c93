// The detectors: each queries the engine for aggregates over window and baseline and tests them. Deterministic: the
// same spans give the same findings. One file per idea: detect_*.cpp. One thread.
#pragma once

#include "signal/analysis/survey.h"

#include <span>
#include <string_view>

namespace hone::signal {

struct DetectorRow {
    std::string_view name;
    std::string_view doc; // what it finds and when
    Result<> (*detect)(Survey& survey, std::vector<Candidate>& found);
};
std::span<const DetectorRow> detectors();

// What a detector cost and found.
struct DetectorCost {
    std::string name;
    int64_t found = 0;
    int64_t took_ms = 0;
    int64_t rows_read = 0;
    std::string failed;
    static constexpr Pack fields{
        Field{"name", &DetectorCost::name, "Which."},
        Field{"found", &DetectorCost::found, "Findings, before those that others explain are dropped."},
        Field{"took_ms", &DetectorCost::took_ms, "Milliseconds."},
        Field{"rows_read", &DetectorCost::rows_read, "Rows that the engine read for it."},
        Field{"failed", &DetectorCost::failed, "Why it could not look; empty when it could."},
    };
};

struct Findings {
    std::vector<Candidate> candidates; // with evidence, without consequences
    std::vector<DetectorCost> costs;
    Cost cost;
    int64_t spans = 0;
    int64_t traces = 0;
};
// All of them. A detector that fails is noted and the others continue.
Result<Findings> run_detectors(telemetry::ClickHouse& engine, const Window& window, const Clock& clock,
                               net::Cancel* cancel = nullptr);

// Findings of one scan, at most; the largest are kept.
constexpr size_t most_candidates = 25;

Result<> detect_errors(Survey& survey, std::vector<Candidate>& found);
Result<> detect_tool_failures(Survey& survey, std::vector<Candidate>& found);
Result<> detect_tool_loops(Survey& survey, std::vector<Candidate>& found);
Result<> detect_latency(Survey& survey, std::vector<Candidate>& found);
Result<> detect_tokens(Survey& survey, std::vector<Candidate>& found);
Result<> detect_cost(Survey& survey, std::vector<Candidate>& found);
Result<> detect_cut_outputs(Survey& survey, std::vector<Candidate>& found);
Result<> detect_refusals(Survey& survey, std::vector<Candidate>& found);
Result<> detect_unparsable(Survey& survey, std::vector<Candidate>& found);
Result<> detect_empty_retrieval(Survey& survey, std::vector<Candidate>& found);
Result<> detect_eval_drops(Survey& survey, std::vector<Candidate>& found);
Result<> detect_version_regressions(Survey& survey, std::vector<Candidate>& found);
Result<> detect_session_failures(Survey& survey, std::vector<Candidate>& found);
Result<> detect_provider_limits(Survey& survey, std::vector<Candidate>& found);
Result<> detect_text_failures(Survey& survey, std::vector<Candidate>& found);
Result<> detect_unused_tools(Survey& survey, std::vector<Candidate>& found);
Result<> detect_invalid_calls(Survey& survey, std::vector<Candidate>& found);
Result<> detect_repeated_steps(Survey& survey, std::vector<Candidate>& found);
Result<> detect_ignored_instructions(Survey& survey, std::vector<Candidate>& found);
Result<> detect_missing_results(Survey& survey, std::vector<Candidate>& found);

} // namespace hone::signal
