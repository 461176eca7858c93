#include "evaluate/experiments/compare.h"

#include "crypto/crypto.h"
#include "evaluate/datasets/dataset_rows.h"
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

struct ExampleFacts {
    std::optional<std::string> external_id;
    bool must_pass = false;
};
using Facts = std::map<ExampleId, ExampleFacts>;

Result<Side> load(const Experiments& experiments, const access::Caller& caller, const ExperimentId& id, Facts& facts) {
    Side side;
    side.experiment = TRY(experiments.find(caller, id));
    for (int64_t after = -1;;) {
        const auto records = TRY(experiments.records(caller, id, after, 1000));
        // A page without a run may still be followed by others; positions are not dense.
        const auto next = TRY(experiments.next_position(caller, id, after, 1000));
        for (const RunRecord& record : records) {
            OneSide& one = side.examples[record.example.id];
            if (!record.run.error)
                one.latency_ms.push_back(
                    std::chrono::duration<double, std::milli>(record.run.ended_at - record.run.started_at).count());
            for (const ExperimentEval& eval : record.evals)
                if (eval.score && !eval.error) one.scores[eval.name].push_back(*eval.score);
            if (facts.contains(record.example.id)) continue;
            const json::Value metadata = stored_json(record.example.metadata);
            const json::Value* must = metadata.is_object() ? metadata.get_object().if_contains("must_pass") : nullptr;
            facts[record.example.id] = {record.example.external_id,
                                        must != nullptr && must->is_bool() && must->get_bool()};
        }
        if (!next) return side;
        after = *next;
    }
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
    result.p = paired_difference(logs, seed_of(base.experiment.id, other.experiment.id, "latency"), 2000).p;
    return result;
}

void set_verdicts(std::vector<MetricComparison>& metrics, const std::set<std::string>& lower) {
    std::vector<double> p_values;
    for (const MetricComparison& metric : metrics) p_values.push_back(metric.p);
    const auto rates = false_discovery_rates(p_values);
    for (size_t i = 0; i < metrics.size(); ++i) {
        MetricComparison& metric = metrics[i];
        metric.q = rates[i];
        const double gain = lower.contains(metric.name) ? -metric.delta : metric.delta;
        metric.verdict = metric.q > false_alarms || gain == 0 ? "no_difference_shown"
                         : gain > 0                           ? "improved"
                                                              : "regressed";
    }
}

// Examples that passed in every repetition of the base and fail in every one of the other, and examples that must
// pass. With one repetition a flip is evidence only together with others: that is the test's work.
void guard_examples(const Side& base, const Side& other, const Facts& facts, const MetricComparison& metric,
                    Gate& gate) {
    int64_t hard = 0, must = 0;
    const Pairs pairs = pairs_of(base, other, metric.name);
    for (size_t i = 0; i < pairs.ids.size(); ++i) {
        const bool is_repeated = pairs.base[i]->size() > 1 && pairs.other[i]->size() > 1;
        hard += is_repeated && average(*pairs.base[i]) == 1 && average(*pairs.other[i]) == 0;
        const auto known = facts.find(pairs.ids[i]);
        must += known != facts.end() && known->second.must_pass && average(*pairs.other[i]) < 0.5;
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

Gate gate_of(const Side& base, const Side& other, const Facts& facts, const std::vector<MetricComparison>& metrics,
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
        if (metric.is_pass_fail && !is_lower) guard_examples(base, other, facts, metric, gate);
    }
    const int64_t gaps = gate.coverage.failed + gate.coverage.missing;
    if (static_cast<double>(gaps) > tolerated_gaps * static_cast<double>(gate.coverage.expected))
        gate.reasons.push_back({"",
                                "coverage",
                                fmt::format("{} of {} runs are missing or failed", gaps, gate.coverage.expected),
                                {},
                                {},
                                {},
                                {}});
    if (metrics.empty()) gate.notes.push_back("the experiments have no evals with the same name and a score");
    gate.verdict = gate.reasons.empty() ? "passed" : "failed";
    return gate;
}

std::vector<ComparedExample> rows_of(const Side& base, const Side& other, const Facts& facts,
                                     const std::vector<MetricComparison>& metrics, const std::set<std::string>& lower) {
    std::vector<std::pair<double, ComparedExample>> rows; // by the largest drop
    for (const auto& [id, one] : base.examples) {
        const auto there = other.examples.find(id);
        if (there == other.examples.end()) continue;
        ComparedExample row;
        row.example = id;
        if (const auto known = facts.find(id); known != facts.end()) row.external_id = known->second.external_id;
        row.base = one.scores;
        row.other = there->second.scores;
        double worst = 0;
        for (const MetricComparison& metric : metrics) {
            const auto before = row.base.find(metric.name);
            const auto after = row.other.find(metric.name);
            if (before == row.base.end() || after == row.other.end()) continue;
            const double delta = average(after->second) - average(before->second);
            row.delta[metric.name] = delta;
            worst = std::min(worst, lower.contains(metric.name) ? -delta : delta);
            if (!metric.is_pass_fail) continue;
            const bool passed = average(before->second) >= 0.5, passes = average(after->second) >= 0.5;
            row.flip[metric.name] = passed == passes ? (passes ? "passed" : "failed") : passes ? "fixed" : "broken";
            row.flaky = row.flaky || is_mixed(before->second) || is_mixed(after->second);
        }
        rows.emplace_back(worst, std::move(row));
    }
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<ComparedExample> sorted;
    sorted.reserve(rows.size());
    for (auto& row : rows) sorted.push_back(std::move(row.second));
    return sorted;
}

} // namespace

Result<Comparison> compare(const Experiments& experiments, const access::Caller& caller, const ExperimentId& base_id,
                           const ExperimentId& other_id, const CompareOptions& options) {
    if (options.skip < 0 || options.limit < 0 || options.limit > 1000)
        return invalid("limit must be between 0 and 1000, and skip not negative");
    if (!std::isfinite(options.margin) || options.margin < 0) return invalid("margin must be 0 or more");
    Facts facts;
    const Side base = TRY(load(experiments, caller, base_id, facts));
    const Side other = TRY(load(experiments, caller, other_id, facts));
    if (base.experiment.dataset_id != other.experiment.dataset_id)
        return invalid("the experiments are on different datasets: they have no example in common");
    Comparison result;
    result.base = base_id;
    result.other = other_id;
    result.base_name = base.experiment.name;
    result.other_name = other.experiment.name;
    std::set<std::string> names;
    for (const auto& [id, one] : base.examples) {
        const auto there = other.examples.find(id);
        if (there == other.examples.end()) continue;
        ++result.common_examples;
        for (const auto& [name, scores] : one.scores)
            if (there->second.scores.contains(name)) names.insert(name);
    }
    for (const std::string& name : names) result.metrics.push_back(compare_metric(base, other, name));
    const std::set<std::string> lower(options.lower_is_better.begin(), options.lower_is_better.end());
    set_verdicts(result.metrics, lower);
    result.latency = compare_latency(base, other);
    result.gate = gate_of(base, other, facts, result.metrics, options);
    auto rows = rows_of(base, other, facts, result.metrics, lower);
    const auto first = std::min(static_cast<size_t>(options.skip), rows.size());
    const auto last = std::min(first + static_cast<size_t>(options.limit), rows.size());
    result.has_more_examples = last < rows.size();
    for (size_t i = first; i < last; ++i) result.examples.push_back(std::move(rows[i]));
    return result;
}

} // namespace hone::evaluate
