// Pairs: the outputs that two experiments have for one example, compared by a model in both orders. Declared once for
// the API, the CLI and the database. Values only; any thread.
#pragma once

#include "evaluate/evaluators/evaluator_version.h"
#include "evaluate/experiments/pair_summary.h"
#include "evaluate/runner/experiment_task.h"

namespace hone::evaluate {

struct StartPairs {
    std::string base;
    std::string other;
    std::string evaluator;
    json::Defaulted<std::string> dataset;
    json::Defaulted<int64_t> concurrency = int64_t{4};
    std::optional<int64_t> budget_tokens;
    std::optional<int64_t> budget_micro_usd;
    static constexpr Pack fields{
        Field{"base", &StartPairs::base, "Id of the first experiment; with `dataset` also a tag or a name."},
        Field{"other", &StartPairs::other, "Id of the second experiment, on the same dataset."},
        Field{"evaluator", &StartPairs::evaluator,
              "Pairwise evaluator by id or name, with @NUMBER for a version other than the newest."},
        Field{"dataset", &StartPairs::dataset, "Id or name of the dataset, to find experiments by tag or name."},
        Field{"concurrency", &StartPairs::concurrency, "Pairs at the same time, 1 to 16; 4 if not given."},
        Field{"budget_tokens", &StartPairs::budget_tokens,
              "Stops when its calls have used this many tokens; no limit if not given."},
        Field{"budget_micro_usd", &StartPairs::budget_micro_usd,
              "Stops when its calls have cost this much, in millionths of a US dollar; no limit if not given. The "
              "model needs a price."},
    };
};

struct PairTask {
    PairTaskId id;
    access::SpaceId space_id;
    ExperimentId base;
    ExperimentId other;
    EvaluatorId evaluator_id;
    int64_t number = 1;
    std::string name;
    int64_t concurrency = 4;
    std::optional<int64_t> budget_tokens;
    std::optional<int64_t> budget_micro_usd;
    TaskState state = TaskState::queued;
    std::string reason;
    int64_t expected = 0;
    int64_t done = 0;
    int64_t failed = 0;
    int64_t changed = 0;
    int64_t spent_tokens = 0;
    int64_t spent_micro_usd = 0;
    std::string started_by;
    Time created_at{};
    std::optional<Time> started_at;
    std::optional<Time> ended_at;
    Time attempt_at{};
    static constexpr Pack fields{
        Field{"id", &PairTask::id, "Id."},
        Field{"space_id", &PairTask::space_id, "Id of the space."},
        Field{"base", &PairTask::base, "Id of the first experiment."},
        Field{"other", &PairTask::other, "Id of the second experiment."},
        Field{"evaluator_id", &PairTask::evaluator_id, "Id of the evaluator."},
        Field{"number", &PairTask::number, "Its version."},
        Field{"name", &PairTask::name, "Its name."},
        Field{"concurrency", &PairTask::concurrency, "Pairs at the same time."},
        Field{"budget_tokens", &PairTask::budget_tokens, "Limit of its tokens."},
        Field{"budget_micro_usd", &PairTask::budget_micro_usd, "Limit of its cost."},
        Field{"state", &PairTask::state, "queued, running, stopped, done, failed or budget_stopped."},
        Field{"reason", &PairTask::reason, "Why it failed or was stopped."},
        Field{"expected", &PairTask::expected, "Pairs: repetitions of examples with an output in both experiments."},
        Field{"done", &PairTask::done, "Pairs with verdicts."},
        Field{"failed", &PairTask::failed, "Pairs for which the evaluator failed."},
        Field{"changed", &PairTask::changed,
              "Examples that have another content in the other experiment; they are not compared."},
        Field{"spent_tokens", &PairTask::spent_tokens, "Tokens of its calls."},
        Field{"spent_micro_usd", &PairTask::spent_micro_usd,
              "Their cost in millionths of a US dollar; calls of models without a price count as 0."},
        Field{"started_by", &PairTask::started_by, "Name of the user or key that started it."},
        Field{"created_at", &PairTask::created_at, "Time of creation."},
        Field{"started_at", &PairTask::started_at, "Time of the first pair."},
        Field{"ended_at", &PairTask::ended_at, "Time when it was done, failed or stopped."},
        Field{"attempt_at", &PairTask::attempt_at, "Pairs that failed before this time are retried."},
    };
};

// The verdicts about one pair. Labels are positions: `a` is the output that was shown first.
struct PairEval {
    ExampleId example_id;
    int64_t repetition = 1;
    ExperimentRunId base_run_id;
    ExperimentRunId other_run_id;
    std::optional<PairWinner> winner;
    std::string first_label;
    std::string swapped_label;
    std::string explanation;
    std::string swapped_explanation;
    std::string error;
    bool cached = false;
    int64_t tokens = 0;
    int64_t estimated_tokens = 0;
    std::optional<int64_t> cost_nano_usd = 0;
    int64_t duration_ms = 0;
    std::string trace_id;
    std::string swapped_trace_id;
    std::map<std::string, std::string> people;
    static constexpr Pack fields{
        Field{"example_id", &PairEval::example_id, "Id of the example."},
        Field{"repetition", &PairEval::repetition, "Repetition of both runs."},
        Field{"base_run_id", &PairEval::base_run_id, "Run of the base."},
        Field{"other_run_id", &PairEval::other_run_id, "Run of the other."},
        Field{"winner", &PairEval::winner,
              "base, other, tie; inconsistent: the verdict changed with the order; undecided: cannot_judge; null: the "
              "evaluator failed."},
        Field{"first_label", &PairEval::first_label, "Label with the output of the base shown first: a is the base."},
        Field{"swapped_label", &PairEval::swapped_label,
              "Label with the output of the other shown first: a is the other."},
        Field{"explanation", &PairEval::explanation, "Of the first verdict."},
        Field{"swapped_explanation", &PairEval::swapped_explanation, "Of the second verdict."},
        Field{"error", &PairEval::error, "Why there is no verdict."},
        Field{"cached", &PairEval::cached, "Both verdicts were stored ones, or the outputs are equal: no cost."},
        Field{"tokens", &PairEval::tokens, "Tokens of both verdicts."},
        Field{"estimated_tokens", &PairEval::estimated_tokens,
              "Of these, estimated: the provider did not report them. The cost is estimated with them."},
        Field{"cost_nano_usd", &PairEval::cost_nano_usd, "Their cost in billionths of a US dollar; null: no price."},
        Field{"duration_ms", &PairEval::duration_ms, "Their time."},
        Field{"trace_id", &PairEval::trace_id, "Trace of the first verdict, in the project hone-evals."},
        Field{"swapped_trace_id", &PairEval::swapped_trace_id, "Trace of the second verdict."},
        Field{"people", &PairEval::people, "What people prefer, by their names: base, other or tie."},
    };
};

struct LabelPair {
    std::string example;
    json::Defaulted<int64_t> repetition = int64_t{1};
    PairWinner winner = PairWinner::tie;
    static constexpr Pack fields{
        Field{"example", &LabelPair::example, "Id of the example."},
        Field{"repetition", &LabelPair::repetition, "Repetition; 1 if not given."},
        Field{"winner", &LabelPair::winner, "base, other or tie."},
    };
};

// Of the labels in both orders.
PairWinner winner_of(std::string_view first_label, std::string_view swapped_label);
// All numbers of the verdicts; state, version and q are left to the caller.
PairResults summarize_pairs(const std::vector<PairEval>& pairs);
// The same seen from the other experiment as the base.
void mirror(PairResults& results);
} // namespace hone::evaluate
