// Evals that are worse on one part of their targets than on another: a lower mean score, or less of the label that is
// usual. An eval of a sample weighs as much as the targets that it stands for, so that a task which samples failures
// more often, or another rate than before, shows no change. One thread.
#pragma once

#include "signal/analysis/survey.h"

namespace hone::signal {

// The spans that an eval is about, by what it was given to.
struct EvalTargets {
    std::string_view name;   // as stored
    std::string_view filter; // in the filter language; empty: it cannot express it
    std::string_view column; // of hone.spans
    std::string_view plural; // in sentences
};
inline constexpr EvalTargets evaluated_spans{"span", "eval", "toString(span_id)", "spans"};
inline constexpr EvalTargets evaluated_traces{"trace", "trace_eval", "toString(trace_id)", "traces"};
inline constexpr EvalTargets evaluated_chat_sessions{"chat_session", "", "chat_session", "chat sessions"};

// SELECT of name, label, score, weight, target_id and moment, in window and baseline. Evals count at the time of the
// span that they evaluate, when that is known. Of an evaluator with versions only those of its newest one: another
// definition is not a change of the application. {n_target:String} is the name of the targets.
extern const std::string_view evals_of_targets;

// Which evals are compared: rows as those of evals_of_targets, and a condition for each part.
struct EvalSplit {
    std::string rows;
    std::string is_now;
    std::string is_before;
    Survey::Bind bind; // the values of `rows`, n_target among them
};

struct WorseEval {
    std::string name;
    std::string usual; // label that became rarer; empty: the mean score fell
    double before = 0; // mean score, or share of the label
    double now = 0;
    double range = 1; // greatest possible fall
    double z = 0;
    int64_t evals_now = 0;
};
// At least 20 evals on both sides, and worse by more than chance explains. A name is found once, by its scores first.
Result<std::vector<WorseEval>> worse_evals(Survey& survey, const EvalSplit& split);

// "score < 0.800000" or "label != \"pass\"", after the name of the eval in the filter language.
std::string worse_in_filter(const WorseEval& worse);
// The condition of the candidate for the evals that are below, in SQL, with its values: `column` IN (…).
void narrow_to_worse(Candidate& candidate, const EvalTargets& targets, const WorseEval& worse);
Severity severity_of(const WorseEval& worse);

} // namespace hone::signal
