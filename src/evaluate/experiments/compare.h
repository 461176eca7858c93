// Two experiments on the same examples: differences with intervals and tests, examples that were fixed or broken, and
// the gate for continuous integration. Pairs are examples; repetitions of an example count as one mean. Thread-safe.
#pragma once

#include "evaluate/experiments/experiments.h"
#include "evaluate/experiments/pair_summary.h"

#include <map>

namespace hone::evaluate {

struct MetricComparison {
    std::string name;
    int64_t pairs = 0;
    double base_mean = 0;
    double other_mean = 0;
    double delta = 0;
    std::optional<double> low;
    std::optional<double> high;
    double p = 1;
    double q = 1;
    std::string test;
    bool is_pass_fail = false;
    int64_t fixed = 0;
    int64_t broken = 0;
    int64_t passed_both = 0;
    int64_t failed_both = 0;
    int64_t flaky = 0;
    double smallest_delta = 0;
    std::string verdict;
    static constexpr Pack fields{
        Field{"name", &MetricComparison::name, "Name of the evals."},
        Field{"pairs", &MetricComparison::pairs, "Examples with a score in both experiments."},
        Field{"base_mean", &MetricComparison::base_mean, "Mean over these examples in the base."},
        Field{"other_mean", &MetricComparison::other_mean, "Mean over these examples in the other."},
        Field{"delta", &MetricComparison::delta, "other_mean - base_mean."},
        Field{"low", &MetricComparison::low, "Lower end of the 95 % interval of delta; null: fewer than two pairs."},
        Field{"high", &MetricComparison::high, "Upper end of the 95 % interval of delta."},
        Field{"p", &MetricComparison::p, "Probability of a difference at least as large by chance."},
        Field{"q", &MetricComparison::q, "p, corrected for the number of metrics (Benjamini-Hochberg)."},
        Field{"test", &MetricComparison::test, "Test of p: exact_mcnemar, exact_sign_flip, sign_flip or normal."},
        Field{"is_pass_fail", &MetricComparison::is_pass_fail, "All scores are 0 or 1."},
        Field{"fixed", &MetricComparison::fixed, "Examples that fail in the base and pass in the other."},
        Field{"broken", &MetricComparison::broken, "Examples that pass in the base and fail in the other."},
        Field{"passed_both", &MetricComparison::passed_both, "Examples that pass in both."},
        Field{"failed_both", &MetricComparison::failed_both, "Examples that fail in both."},
        Field{"flaky", &MetricComparison::flaky, "Examples that pass in some repetitions of one experiment."},
        Field{"smallest_delta", &MetricComparison::smallest_delta,
              "Smallest difference that this number of examples shows in 80 % of cases."},
        Field{"verdict", &MetricComparison::verdict, "improved, regressed or no_difference_shown."},
    };
};

struct LatencyComparison {
    int64_t pairs = 0;
    double base_median_ms = 0;
    double other_median_ms = 0;
    double ratio = 1;
    double p = 1;
    static constexpr Pack fields{
        Field{"pairs", &LatencyComparison::pairs, "Examples with a successful run in both experiments."},
        Field{"base_median_ms", &LatencyComparison::base_median_ms, ""},
        Field{"other_median_ms", &LatencyComparison::other_median_ms, ""},
        Field{"ratio", &LatencyComparison::ratio, "Median over the examples of other / base."},
        Field{"p", &LatencyComparison::p, "Sign-flip test of the logarithms."},
    };
};

struct GateReason {
    std::string metric;
    std::string guard;
    std::string message;
    std::optional<double> delta;
    std::optional<double> low;
    std::optional<double> high;
    std::optional<double> q;
    static constexpr Pack fields{
        Field{"metric", &GateReason::metric, "Name of the evals; empty: of the whole experiment."},
        Field{"guard", &GateReason::guard, "significance, hard_break, must_pass, pairwise or coverage."},
        Field{"message", &GateReason::message, "Reason as a sentence."},
        Field{"delta", &GateReason::delta, ""},
        Field{"low", &GateReason::low, ""},
        Field{"high", &GateReason::high, ""},
        Field{"q", &GateReason::q, ""},
    };
};

struct Coverage {
    int64_t expected = 0;
    int64_t runs = 0;
    int64_t failed = 0;
    int64_t missing = 0;
    static constexpr Pack fields{
        Field{"expected", &Coverage::expected, "Examples times repetitions."},
        Field{"runs", &Coverage::runs, "Successful runs."},
        Field{"failed", &Coverage::failed, "Failed runs."},
        Field{"missing", &Coverage::missing, "Runs that were not sent."},
    };
};

struct Gate {
    std::string verdict;
    std::vector<GateReason> reasons;
    std::vector<std::string> notes;
    Coverage coverage;
    static constexpr Pack fields{
        Field{"verdict", &Gate::verdict, "passed or failed."},
        Field{"reasons", &Gate::reasons, "Why it failed."},
        Field{"notes", &Gate::notes, "What the numbers cannot show."},
        Field{"coverage", &Gate::coverage, "Runs of the other experiment."},
    };
};

struct ComparedExample {
    ExampleId example;
    std::optional<std::string> external_id;
    std::map<std::string, std::vector<double>> base;
    std::map<std::string, std::vector<double>> other;
    std::map<std::string, double> delta;
    std::map<std::string, std::string> flip;
    bool flaky = false;
    std::map<std::string, std::string> preferred;
    static constexpr Pack fields{
        Field{"example", &ComparedExample::example, "Id of the example."},
        Field{"external_id", &ComparedExample::external_id, "Id given by the sender."},
        Field{"base", &ComparedExample::base, "Scores of the base by name, one per repetition."},
        Field{"other", &ComparedExample::other, "Scores of the other by name, one per repetition."},
        Field{"delta", &ComparedExample::delta, "Difference of the means, by name."},
        Field{"flip", &ComparedExample::flip, "fixed, broken, passed or failed; by name of pass/fail evals."},
        Field{"flaky", &ComparedExample::flaky, "Passes in some repetitions of one experiment."},
        Field{"preferred", &ComparedExample::preferred,
              "base, other, tie, inconsistent or undecided; by the id of the task in `pairwise`."},
    };
};

struct Comparison {
    ExperimentId base;
    ExperimentId other;
    std::string base_name;
    std::string other_name;
    int64_t common_examples = 0;
    std::vector<MetricComparison> metrics;
    std::vector<PairSummary> pairwise;
    LatencyComparison latency;
    Gate gate;
    std::vector<ComparedExample> examples;
    bool has_more_examples = false;
    static constexpr Pack fields{
        Field{"base", &Comparison::base, "Id of the first experiment."},
        Field{"other", &Comparison::other, "Id of the second experiment."},
        Field{"base_name", &Comparison::base_name, ""},
        Field{"other_name", &Comparison::other_name, ""},
        Field{"common_examples", &Comparison::common_examples, "Examples with runs in both."},
        Field{"metrics", &Comparison::metrics, "One per name of evals, by name."},
        Field{"pairwise", &Comparison::pairwise,
              "What evaluators prefer that compare both outputs, by name and version."},
        Field{"latency", &Comparison::latency, "Time of the runs."},
        Field{"gate", &Comparison::gate, "Whether the other may replace the base."},
        Field{"examples", &Comparison::examples, "Examples, the largest regression first."},
        Field{"has_more_examples", &Comparison::has_more_examples, "Whether `skip` and `limit` leave some out."},
    };
};

struct CompareOptions {
    double margin = 0.01;                       // a smaller drop passes the gate
    std::vector<std::string> lower_is_better{}; // names of evals
    int64_t skip = 0;                           // examples
    int64_t limit = 100;
};

// `pairs`: what PairTasks::results returns for the two.
Result<Comparison> compare(const Experiments& experiments, const access::Caller& caller, const ExperimentId& base,
                           const ExperimentId& other, const CompareOptions& options,
                           const std::vector<PairResults>& pairs = {});

} // namespace hone::evaluate
