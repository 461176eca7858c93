#include "evaluate/runner/rule_evals.h"

#include <fmt/format.h>
#include <map>
#include <set>

namespace hone::evaluate {

CodeResult result_of(const RuleDefinition& rule, const telemetry::TraceMatch& match) {
    CodeResult result;
    if (match.spans == 0) {
        result.error = "the trace of the run has no spans here: they were not sent, or not yet";
        return result;
    }
    Verdict verdict;
    verdict.explanation = fmt::format("{} of {} evaluated spans match", match.matched, match.evaluated);
    if (match.matched > 0) {
        if (!rule.label.empty()) verdict.label = rule.label;
        verdict.score = rule.score;
    } else if (match.evaluated > 0 && !rule.other_label.empty()) {
        verdict.label = rule.other_label;
        verdict.score = rule.other_score;
    } else {
        verdict.label = std::string(cannot_judge);
        verdict.explanation = match.evaluated == 0 ? "no span of the trace matches the filter of the rule"
                                                   : "no span matches, and the rule has no label for that";
    }
    result.verdict = std::move(verdict);
    return result;
}

Result<std::vector<CodeResult>> apply_rule(telemetry::Spans& spans, const RuleDefinition& rule,
                                           const std::vector<std::string>& projects,
                                           const std::vector<RunRecord>& runs) {
    TRY(spans.wait_until_loaded());
    std::map<std::string, telemetry::TraceMatch> counts;
    std::vector<std::string> traces;
    for (const RunRecord& record : runs)
        if (record.run.trace_id && counts.try_emplace(*record.run.trace_id).second)
            traces.push_back(*record.run.trace_id);
    for (const std::string& project : std::set(projects.begin(), projects.end()))
        for (const auto& match : TRY(spans.lookup.match_traces(project, traces, rule.filter, rule.condition))) {
            telemetry::TraceMatch& sum = counts[match.trace_id];
            sum.spans += match.spans;
            sum.evaluated += match.evaluated;
            sum.matched += match.matched;
        }
    std::vector<CodeResult> results;
    for (const RunRecord& record : runs) {
        if (record.run.trace_id) {
            results.push_back(result_of(rule, counts[*record.run.trace_id]));
            continue;
        }
        results.emplace_back().error = "the run has no trace, and the evaluator is a rule over spans";
    }
    return results;
}

} // namespace hone::evaluate
