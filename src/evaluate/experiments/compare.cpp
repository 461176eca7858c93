#include "evaluate/experiments/compare.h"

#include "crypto/crypto.h"
#include "evaluate/statistics/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <set>

namespace hone::evaluate {

namespace {

constexpr double false_alarms = 0.05;
constexpr double tolerated_gaps = 0.02;

struct OneSide {
    std::map<std::string, std::vector<double>> scores; // by eval
    std::vector<double> latency_ms;
};

struct Side {
    Experiment experiment;
    std::map<ExampleId, OneSide> examples;
};

Result<Side> load(const Experiments& experiments, const access::Caller& caller, const ExperimentId& id) {
    Side side;
    side.experiment = TRY(experiments.find(caller, id));
    for (const ScoredRun& run : TRY(experiments.scored_runs(caller, id))) {
        OneSide& one = side.examples.try_emplace(side.examples.end(), run.example_id)->second;
        if (!run.is_failed) one.latency_ms.push_back(run.latency_ms);
        for (const auto& [name, score] : run.scores) one.scores[name].push_back(score);
    }
    return side;
}

double average(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

bool is_zero_or_one(const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double value) { return value == 0 || value == 1; });
}

bool is_mixed(const std::vector<double>& values) {
    return values.size() > 1 && average(values) > 0 && average(values) < 1;
}

// The same for the same two experiments, so that a page shows the same numbers every time.
uint64_t seed_of(const ExperimentId& base, const ExperimentId& other, const std::string& name) {
    const std::string hash = crypto::hash(base.text() + " " + other.text() + " " + name);
    uint64_t seed = 0;
    std::memcpy(&seed, hash.data(), sizeof seed);
    return seed;
}

// The scores of one eval for the examples that have it on both sides.
struct Pairs {
    std::vector<const std::vector<double>*> base, other;
    std::vector<ExampleId> ids;
};

Pairs pairs_of(const Side& base, const Side& other, const std::string& name) {
    Pairs pairs;
    for (const auto& [id, one] : base.examples) {
        const auto there = other.examples.find(id);
        if (there == other.examples.end()) continue;
        const auto before = one.scores.find(name);
        const auto after = there->second.scores.find(name);
        if (before == one.scores.end() || after == there->second.scores.end()) continue;
        pairs.base.push_back(&before->second);
        pairs.other.push_back(&after->second);
        pairs.ids.push_back(id);
    }
    return pairs;
}

MetricComparison compare_metric(const Side& base, const Side& other, const std::string& name) {
    MetricComparison metric;
    metric.name = name;
    const Pairs pairs = pairs_of(base, other, name);
    metric.pairs = static_cast<int64_t>(pairs.ids.size());
    metric.is_pass_fail = true;
    bool is_single = true;
    std::vector<double> differences, before, after;
    for (size_t i = 0; i < pairs.ids.size(); ++i) {
        metric.is_pass_fail = metric.is_pass_fail && is_zero_or_one(*pairs.base[i]) && is_zero_or_one(*pairs.other[i]);
        is_single = is_single && pairs.base[i]->size() == 1 && pairs.other[i]->size() == 1;
        before.push_back(average(*pairs.base[i]));
        after.push_back(average(*pairs.other[i]));
        differences.push_back(after.back() - before.back());
    }
    if (pairs.ids.empty()) metric.is_pass_fail = false;
    metric.base_mean = average(before);
    metric.other_mean = average(after);
    const Paired paired = paired_difference(differences, seed_of(base.experiment.id, other.experiment.id, name));
    metric.delta = paired.mean;
    if (paired.interval) {
        metric.low = paired.interval->low;
        metric.high = paired.interval->high;
    }
    metric.p = paired.p;
    metric.test = paired.is_exact ? "exact_sign_flip" : differences.size() > largest_bootstrap ? "normal" : "sign_flip";
    const Mean spread = mean_of(differences);
    const double variance = spread.standard_error * spread.standard_error * static_cast<double>(spread.count);
    metric.smallest_delta = smallest_difference(variance, metric.pairs);
    if (!metric.is_pass_fail) return metric;
    for (size_t i = 0; i < pairs.ids.size(); ++i) {
        const bool passed = before[i] >= 0.5, passes = after[i] >= 0.5;
        metric.fixed += !passed && passes;
        metric.broken += passed && !passes;
        metric.passed_both += passed && passes;
        metric.failed_both += !passed && !passes;
        metric.flaky += is_mixed(*pairs.base[i]) || is_mixed(*pairs.other[i]);
    }
    if (is_single) {
        metric.p = mcnemar(metric.broken, metric.fixed).exact_p;
        metric.test = "exact_mcnemar";
    }
    return metric;
}

LatencyComparison compare_latency(const Side& base, const Side& other) {
    LatencyComparison result;
    std::vector<double> before, after, ratios, logs;
    for (const auto& [id, one] : base.examples) {
        const auto there = other.examples.find(id);
        if (there == other.examples.end() || one.latency_ms.empty() || there->second.latency_ms.empty()) continue;
        before.push_back(median(one.latency_ms));
        after.push_back(median(there->second.latency_ms));
        if (before.back() <= 0 || after.back() <= 0) continue;
        ratios.push_back(after.back() / before.back());
        logs.push_back(std::log(ratios.back()));
    }
    result.pairs = static_cast<int64_t>(before.size());
    result.base_median_ms = median(before);
    result.other_median_ms = median(after);
    if (!ratios.empty()) result.ratio = median(ratios);
    result.p = sign_flip_p(logs, seed_of(base.experiment.id, other.experiment.id, "latency"));
    return result;
}

void set_verdicts(std::vector<MetricComparison>& metrics, std::vector<PairSummary>& pairwise,
                  const std::set<std::string>& lower) {
    std::vector<double> p_values;
    for (const MetricComparison& metric : metrics) p_values.push_back(metric.p);
    for (const PairSummary& summary : pairwise) p_values.push_back(summary.p);
    const auto rates = false_discovery_rates(p_values);
    for (size_t i = 0; i < metrics.size(); ++i) {
        MetricComparison& metric = metrics[i];
        metric.q = rates[i];
        const double gain = lower.contains(metric.name) ? -metric.delta : metric.delta;
        metric.verdict = metric.q > false_alarms || gain == 0 ? "no_difference_shown"
                         : gain > 0                           ? "improved"
                                                              : "regressed";
    }
    for (size_t i = 0; i < pairwise.size(); ++i) set_pair_verdict(pairwise[i], rates[metrics.size() + i]);
}

// The base is better in both orders for more examples than chance explains; and what a biased evaluator cannot show.
void guard_pairs(const PairSummary& summary, double margin, Gate& gate) {
    const double net = summary.examples == 0
                           ? 0
                           : static_cast<double>(summary.wins - summary.losses) / static_cast<double>(summary.examples);
    if (summary.verdict == "regressed" && -net > margin)
        gate.reasons.push_back({summary.name,
                                "pairwise",
                                fmt::format("{}: the base is better for {} examples, the other for {}, q {:.3g}",
                                            summary.name, summary.losses, summary.wins, summary.q),
                                net,
                                {},
                                {},
                                summary.q});
    if (summary.favours != "none")
        gate.notes.push_back(fmt::format("{}: its verdict changes with the order for {} of {} pairs; it favours the "
                                         "output that is shown {}",
                                         summary.name, summary.flipped_pairs, summary.pairs, summary.favours));
    if (summary.pairs < summary.expected_pairs)
        gate.notes.push_back(
            fmt::format("{}: {} of {} pairs have verdicts", summary.name, summary.pairs, summary.expected_pairs));
}

// Examples that passed in every repetition of the base and fail in every one of the other, and examples that must
// pass. With one repetition a flip is evidence only together with others: that is the test's work.
void guard_examples(const Side& base, const Side& other, const std::set<ExampleId>& must_pass,
                    const MetricComparison& metric, Gate& gate) {
    int64_t hard = 0, must = 0;
    const Pairs pairs = pairs_of(base, other, metric.name);
    for (size_t i = 0; i < pairs.ids.size(); ++i) {
        const bool is_repeated = pairs.base[i]->size() > 1 && pairs.other[i]->size() > 1;
        hard += is_repeated && average(*pairs.base[i]) == 1 && average(*pairs.other[i]) == 0;
        must += must_pass.contains(pairs.ids[i]) && average(*pairs.other[i]) < 0.5;
    }
    if (hard > 0)
        gate.reasons.push_back({metric.name,
                                "hard_break",
                                fmt::format("{}: {} passed in every repetition of the base and failed in every "
                                            "repetition now",
                                            metric.name, hard == 1 ? "1 example" : fmt::format("{} examples", hard)),
                                {},
                                {},
                                {},
                                {}});
    if (must > 0)
        gate.reasons.push_back({metric.name,
                                "must_pass",
                                fmt::format("{}: {} that must pass failed", metric.name,
                                            must == 1 ? "1 example" : fmt::format("{} examples", must)),
                                {},
                                {},
                                {},
                                {}});
}

Gate gate_of(const Side& base, const Side& other, const std::set<ExampleId>& must_pass,
             const std::vector<MetricComparison>& metrics, const std::vector<PairSummary>& pairwise,
             const CompareOptions& options) {
    Gate gate;
    const Experiment& run = other.experiment;
    gate.coverage = {run.example_count * run.repetitions, run.successful_runs, run.failed_runs, run.missing_runs()};
    const std::set<std::string> lower(options.lower_is_better.begin(), options.lower_is_better.end());
    for (const MetricComparison& metric : metrics) {
        const bool is_lower = lower.contains(metric.name);
        const double drop = is_lower ? metric.delta : -metric.delta;
        if (metric.verdict == "regressed" && drop > options.margin)
            gate.reasons.push_back(
                {metric.name, "significance",
                 fmt::format("{}: {:+.3f}, 95 % interval {:+.3f} to {:+.3f}, q {:.3g}", metric.name, metric.delta,
                             metric.low.value_or(0), metric.high.value_or(0), metric.q),
                 metric.delta, metric.low, metric.high, metric.q});
        else if (metric.verdict == "no_difference_shown" && metric.smallest_delta > options.margin)
            gate.notes.push_back(fmt::format("{}: not enough evidence; the smallest drop that {} examples show is "
                                             "{:.3f}",
                                             metric.name, metric.pairs, metric.smallest_delta));
        if (metric.is_pass_fail && !is_lower) guard_examples(base, other, must_pass, metric, gate);
    }
    for (const PairSummary& summary : pairwise) guard_pairs(summary, options.margin, gate);
    const int64_t gaps = gate.coverage.failed + gate.coverage.missing;
    if (static_cast<double>(gaps) > tolerated_gaps * static_cast<double>(gate.coverage.expected))
        gate.reasons.push_back({"",
                                "coverage",
                                fmt::format("{} of {} runs are missing or failed", gaps, gate.coverage.expected),
                                {},
                                {},
                                {},
                                {}});
    if (metrics.empty() && pairwise.empty())
        gate.notes.push_back("the experiments have no evals with the same name and a score");
    gate.verdict = gate.reasons.empty() ? "passed" : "failed";
    return gate;
}

ComparedExample row_of(const ExampleId& id, const OneSide& base, const OneSide& other,
                       const std::vector<MetricComparison>& metrics) {
    ComparedExample row;
    row.example = id;
    row.base = base.scores;
    row.other = other.scores;
    for (const MetricComparison& metric : metrics) {
        const auto before = row.base.find(metric.name);
        const auto after = row.other.find(metric.name);
        if (before == row.base.end() || after == row.other.end()) continue;
        row.delta[metric.name] = average(after->second) - average(before->second);
        if (!metric.is_pass_fail) continue;
        const bool passed = average(before->second) >= 0.5, passes = average(after->second) >= 0.5;
        row.flip[metric.name] = passed == passes ? (passes ? "passed" : "failed") : passes ? "fixed" : "broken";
        row.flaky = row.flaky || is_mixed(before->second) || is_mixed(after->second);
    }
    return row;
}

struct CommonExample {
    const ExampleId* id;
    const OneSide* base;
    const OneSide* other;
    double worst = 0; // the largest drop of a score; not positive
};

std::vector<CommonExample> common_examples(const Side& base, const Side& other) {
    std::vector<CommonExample> common;
    for (const auto& [id, one] : base.examples)
        if (const auto there = other.examples.find(id); there != other.examples.end())
            common.push_back({&id, &one, &there->second});
    return common;
}

void sort_by_drop(std::vector<CommonExample>& common, const std::vector<MetricComparison>& metrics,
                  const std::vector<PairResults>& pairs, const std::set<std::string>& lower) {
    for (CommonExample& example : common) {
        for (const PairResults& one : pairs)
            if (const auto winner = one.examples.find(*example.id);
                winner != one.examples.end() && winner->second == PairWinner::base)
                example.worst = std::min(example.worst, -0.5);
        for (const MetricComparison& metric : metrics) {
            const auto before = example.base->scores.find(metric.name);
            const auto after = example.other->scores.find(metric.name);
            if (before == example.base->scores.end() || after == example.other->scores.end()) continue;
            const double delta = average(after->second) - average(before->second);
            example.worst = std::min(example.worst, lower.contains(metric.name) ? -delta : delta);
        }
    }
    std::stable_sort(common.begin(), common.end(),
                     [](const CommonExample& a, const CommonExample& b) { return a.worst < b.worst; });
}

} // namespace

Result<Comparison> compare(const Experiments& experiments, const access::Caller& caller, const ExperimentId& base_id,
                           const ExperimentId& other_id, const CompareOptions& options,
                           const std::vector<PairResults>& pairs) {
    if (options.skip < 0 || options.limit < 0 || options.limit > 1000)
        return invalid("limit must be between 0 and 1000, and skip not negative");
    if (!std::isfinite(options.margin) || options.margin < 0) return invalid("margin must be 0 or more");
    const Side base = TRY(load(experiments, caller, base_id));
    const Side other = TRY(load(experiments, caller, other_id));
    if (base.experiment.dataset_id != other.experiment.dataset_id)
        return invalid("the experiments are on different datasets: they have no example in common");
    Comparison result;
    result.base = base_id;
    result.other = other_id;
    result.base_name = base.experiment.name;
    result.other_name = other.experiment.name;
    auto common = common_examples(base, other);
    result.common_examples = static_cast<int64_t>(common.size());
    std::set<std::string> names;
    for (const CommonExample& example : common)
        for (const auto& [name, scores] : example.base->scores)
            if (example.other->scores.contains(name)) names.insert(name);
    for (const std::string& name : names) result.metrics.push_back(compare_metric(base, other, name));
    const std::set<std::string> lower(options.lower_is_better.begin(), options.lower_is_better.end());
    for (const PairResults& one : pairs) result.pairwise.push_back(one.summary);
    set_verdicts(result.metrics, result.pairwise, lower);
    result.latency = compare_latency(base, other);
    result.gate =
        gate_of(base, other, TRY(experiments.must_pass(caller, base_id)), result.metrics, result.pairwise, options);
    sort_by_drop(common, result.metrics, pairs, lower);
    const auto first = std::min(static_cast<size_t>(options.skip), common.size());
    const auto last = std::min(first + static_cast<size_t>(options.limit), common.size());
    result.has_more_examples = last < common.size();
    std::vector<ExampleId> shown;
    for (size_t i = first; i < last; ++i) shown.push_back(*common[i].id);
    const auto external_ids = TRY(experiments.external_ids(caller, base_id, shown));
    for (size_t i = first; i < last; ++i) {
        ComparedExample row = row_of(*common[i].id, *common[i].base, *common[i].other, result.metrics);
        if (const auto known = external_ids.find(row.example); known != external_ids.end())
            row.external_id = known->second;
        for (const PairResults& one : pairs)
            if (const auto winner = one.examples.find(row.example); winner != one.examples.end())
                row.preferred[one.summary.task_id.text()] = std::string(name_of(winner->second));
        result.examples.push_back(std::move(row));
    }
    return result;
}

} // namespace hone::evaluate
