// Rules as evaluators of experiments: the span engine counts which spans of the trace of each run match. Sampling is
// for production: every run is evaluated. Thread-safe; blocks.
#pragma once

#include "evaluate/evaluators/code_runner.h"
#include "evaluate/experiments/experiment.h"
#include "telemetry/spans.h"

namespace hone::evaluate {

// One result per run, in their order. The trace may be in any of the projects. A match of any evaluated span gives the
// label of the rule; no match gives its other label, or `cannot_judge` where it has none; a run without spans fails.
Result<std::vector<CodeResult>> apply_rule(telemetry::Spans& spans, const RuleDefinition& rule,
                                           const std::vector<std::string>& projects,
                                           const std::vector<RunRecord>& runs);

// What the counts of one trace mean.
CodeResult result_of(const RuleDefinition& rule, const telemetry::TraceMatch& match);

} // namespace hone::evaluate
