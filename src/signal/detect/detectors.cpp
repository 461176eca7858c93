#include "signal/detect/detectors.h"

#include "base/log.h"
#include "signal/detect/evidence.h"

#include <algorithm>

namespace hone::signal {

namespace {

constexpr DetectorRow table[] = {
    {"errors", "Errors with the same message that recur or grow.", detect_errors},
    {"tool_failures", "Tools that fail with the same message, repeatedly or more than before.", detect_tool_failures},
    {"tool_loops", "Agents that call a tool repeatedly with the same input.", detect_tool_loops},
    {"latency", "Spans that became slower than in the time before.", detect_latency},
    {"tokens", "Model calls that use more tokens than in the time before.", detect_tokens},
    {"cost", "Hours that cost more than twice the most expensive earlier hour.", detect_cost},
    {"cut_outputs", "Outputs that end at the token limit.", detect_cut_outputs},
    {"refusals", "Outputs that refuse or were filtered.", detect_refusals},
    {"unparsable", "Outputs that a program could not parse.", detect_unparsable},
    {"empty_retrieval", "Searches that find nothing.", detect_empty_retrieval},
    {"eval_drops", "Evals that became worse than in the time before.", detect_eval_drops},
    {"version_regressions",
     "A new version that is slower, more expensive, fails more or has worse evals than the previous one.",
     detect_version_regressions},
    {"session_failures", "Chat sessions whose last trace fails.", detect_session_failures},
    {"provider_limits", "Calls that a provider rejects for a time: rate limits, quotas, overload.",
     detect_provider_limits},
    {"text_failures", "Errors that only a tool's result or a message to the model reports.", detect_text_failures},
    {"unused_tools", "Results of agents that do not use the tools they have or name.", detect_unused_tools},
    {"invalid_calls", "Calls of tools that do not exist or whose arguments do not fit the schema.",
     detect_invalid_calls},
    {"repeated_steps", "Agents that repeat nearly the same step, or go back and forth.", detect_repeated_steps},
    {"instructions", "Outputs that do not follow a limit, tag or format of their instruction.",
     detect_ignored_instructions},
    {"results", "Agents that end at a limit or without a result.", detect_missing_results},
};

} // namespace

std::span<const DetectorRow> detectors() {
    return table;
}

Result<Findings> run_detectors(telemetry::ClickHouse& engine, const Window& window, const Clock& clock,
                               net::Cancel* cancel) {
    Survey survey = TRY(Survey::open(engine, window, cancel));
    Findings findings;
    findings.spans = survey.spans();
    findings.traces = survey.traces();
    std::vector<Candidate> found;
    for (const DetectorRow& row : detectors()) {
        DetectorCost cost;
        cost.name = row.name;
        const auto began = clock.steady();
        const int64_t rows_before = survey.cost().rows_read;
        std::vector<Candidate> own;
        Result<> done = survey.spans() == 0 ? Result<>() : row.detect(survey, own);
        for (Candidate& candidate : own) {
            if (!done.ok()) break;
            done = gather_evidence(survey, candidate);
        }
        if (!done.ok()) {
            // A query that is too large for this project must not hide what the others find.
            if (done.error().code == Code::unavailable || done.error().code == Code::conflict) return done.error();
            cost.failed = done.error().message;
            log(Level::warning, "detector failed",
                {{"detector", cost.name}, {"project", window.project}, {"why", done.error().message}});
        } else {
            std::erase_if(own, [](const Candidate& candidate) { return candidate.traces < candidate.least; });
            cost.found = static_cast<int64_t>(own.size());
            std::move(own.begin(), own.end(), std::back_inserter(found));
        }
        cost.rows_read = survey.cost().rows_read - rows_before;
        cost.took_ms = std::chrono::duration_cast<std::chrono::milliseconds>(clock.steady() - began).count();
        findings.costs.push_back(std::move(cost));
    }
    findings.candidates = without_consequences(std::move(found));
    if (findings.candidates.size() > most_candidates) findings.candidates.resize(most_candidates);
    findings.cost = survey.cost();
    return findings;
}

} // namespace hone::signal
