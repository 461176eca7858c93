// Evals that became worse over time: a lower score, or less of the label that is usual.
#include "signal/analysis/eval_changes.h"
#include "signal/analysis/words.h"
#include "signal/detect/detectors.h"
#include "signal/text/message_template.h"

namespace hone::signal {

namespace {

void describe_scores(Candidate& candidate, const EvalTargets& targets, const WorseEval& worse) {
    const std::string shown = plain_line(worse.name, 80);
    candidate.title = fmt::format("The eval {} fell from {:.2f} to {:.2f}", shown, worse.before, worse.now);
    candidate.explanation = fmt::format("The mean score of {} on {} is lower in the window than before, by more than "
                                        "chance explains.",
                                        shown, targets.plural);
    candidate.facts = {{"mean score before", fmt::format("{:.3f}", worse.before)},
                       {"mean score now", fmt::format("{:.3f}", worse.now)}};
}

void describe_labels(Candidate& candidate, const WorseEval& worse) {
    const std::string shown = plain_line(worse.name, 80), usual = plain_line(worse.usual, 60);
    candidate.title = fmt::format("The eval {} is {} less often: {} instead of {}", shown, usual, percent(worse.now),
                                  percent(worse.before));
    candidate.explanation = fmt::format(
        "{} was the usual label of {} before the window; its share fell by more than chance explains.", usual, shown);
    candidate.facts = {{"share before", percent(worse.before)}, {"share now", percent(worse.now)}};
}

} // namespace

Result<> detect_eval_drops(Survey& survey, std::vector<Candidate>& found) {
    for (const EvalTargets& targets : {evaluated_spans, evaluated_traces, evaluated_chat_sessions}) {
        const EvalSplit split{std::string(evals_of_targets), "moment >= {from:Int64}", "moment < {from:Int64}",
                              [&](telemetry::ClickHouseQuery& query) { query.bind("n_target", targets.name); }};
        for (const WorseEval& worse : TRY(worse_evals(survey, split))) {
            Candidate candidate;
            candidate.detector = Detector::eval_drop;
            candidate.subject = std::string(targets.name) + "\n" + worse.name;
            candidate.about = "eval|" + worse.name;
            if (!targets.filter.empty())
                candidate.filter =
                    fmt::format("{}[{}].{}", targets.filter, quote_filter(worse.name), worse_in_filter(worse));
            // Also with a filter: it cannot distinguish the evals of the window from older ones.
            narrow_to_worse(candidate, targets, worse);
            if (worse.usual.empty())
                describe_scores(candidate, targets, worse);
            else
                describe_labels(candidate, worse);
            candidate.severity = severity_of(worse);
            candidate.clear = worse.z;
            candidate.facts.push_back({"evals now", std::to_string(worse.evals_now)});
            found.push_back(std::move(candidate));
        }
    }
    return {};
}

} // namespace hone::signal
