#include "evaluate/statistics/agreement.h"

#include <algorithm>
#include <cmath>

namespace hone::evaluate {

namespace {

double square(double value) {
    return value * value;
}

// Values of all pairable units with how often each occurs, in order.
std::map<double, double> value_counts(const std::vector<std::vector<double>>& units) {
    std::map<double, double> counts;
    for (const auto& unit : units)
        if (unit.size() > 1)
            for (const double value : unit) counts[value] += 1;
    return counts;
}

class AlphaDistance {
public:
    AlphaDistance(AlphaLevel level, const std::map<double, double>& counts) : m_level(level) {
        double before = 0;
        for (const auto& [value, count] : counts) {
            m_middle[value] = before + count / 2;
            before += count;
        }
    }
    double operator()(double a, double b) const {
        if (a == b) return 0;
        switch (m_level) {
        case AlphaLevel::nominal:
            return 1;
        case AlphaLevel::ordinal:
            return square(m_middle.at(a) - m_middle.at(b));
        case AlphaLevel::interval:
            return square(a - b);
        case AlphaLevel::ratio:
            return a + b == 0 ? 0 : square((a - b) / (a + b));
        }
        return 0;
    }

private:
    AlphaLevel m_level;
    std::map<double, double> m_middle; // the place of a value among all values
};

CorrectedRate with_interval(double rate, double variance, double weight) {
    const double error = std::sqrt(std::max(variance, 0.0));
    return {rate,
            error,
            {std::max(0.0, rate - normal_quantile * error), std::min(1.0, rate + normal_quantile * error)},
            weight};
}

} // namespace

Kappa cohen_kappa(const std::vector<std::vector<int64_t>>& counts) {
    Kappa result;
    const size_t labels = counts.size();
    std::vector<double> first(labels, 0), second(labels, 0);
    double same = 0;
    for (size_t i = 0; i < labels; ++i)
        for (size_t j = 0; j < counts[i].size(); ++j) {
            result.count += counts[i][j];
            first[i] += static_cast<double>(counts[i][j]);
            second[j] += static_cast<double>(counts[i][j]);
            if (i == j) same += static_cast<double>(counts[i][j]);
        }
    if (result.count == 0) return result;
    const auto n = static_cast<double>(result.count);
    result.observed = same / n;
    for (size_t i = 0; i < labels; ++i) result.expected += first[i] * second[i] / (n * n);
    if (result.expected >= 1) return result;
    result.kappa = (result.observed - result.expected) / (1 - result.expected);
    result.standard_error = std::sqrt(result.observed * (1 - result.observed) / n) / (1 - result.expected);
    result.interval = Interval{std::max(-1.0, *result.kappa - normal_quantile * result.standard_error),
                               std::min(1.0, *result.kappa + normal_quantile * result.standard_error)};
    return result;
}

Detection detection_of(int64_t true_positive, int64_t false_positive, int64_t false_negative, int64_t true_negative) {
    Detection result{true_positive, false_positive, false_negative, true_negative, {}, {}, {}, {}};
    const int64_t given = true_positive + false_positive, there = true_positive + false_negative;
    if (given > 0) result.precision = static_cast<double>(true_positive) / static_cast<double>(given);
    if (there > 0) result.recall = static_cast<double>(true_positive) / static_cast<double>(there);
    result.precision_interval = wilson(true_positive, given);
    result.recall_interval = wilson(true_positive, there);
    return result;
}

std::optional<double> krippendorff_alpha(const std::vector<std::vector<double>>& units, AlphaLevel level) {
    const auto counts = value_counts(units);
    double all = 0;
    for (const auto& [value, count] : counts) all += count;
    if (all < 2) return std::nullopt;
    const AlphaDistance distance(level, counts);
    double observed = 0;
    for (const auto& unit : units) {
        if (unit.size() < 2) continue;
        double pairs = 0;
        for (size_t i = 0; i < unit.size(); ++i)
            for (size_t j = i + 1; j < unit.size(); ++j) pairs += 2 * distance(unit[i], unit[j]);
        observed += pairs / static_cast<double>(unit.size() - 1);
    }
    observed /= all;
    double expected = 0;
    for (auto a = counts.begin(); a != counts.end(); ++a)
        for (auto b = std::next(a); b != counts.end(); ++b)
            expected += 2 * a->second * b->second * distance(a->first, b->first);
    expected /= all * (all - 1);
    return expected == 0 ? 1 : 1 - observed / expected;
}

std::optional<CorrectedRate> corrected_rate(double rate, int64_t count, const LabelledCounts& labelled, bool tuned) {
    const int64_t labels = labelled.count();
    if (labels < 1 || count < 1) return std::nullopt;
    const auto n = static_cast<double>(labels), all = static_cast<double>(count);
    const double evaluator = static_cast<double>(labelled.both + labelled.only_evaluator) / n;
    const double people = static_cast<double>(labelled.both + labelled.only_people) / n;
    const double wrong = static_cast<double>(labelled.only_evaluator + labelled.only_people) / n;
    const double both = static_cast<double>(labelled.both) / n;
    if (!tuned) {
        const double bias = evaluator - people;
        const double variance = rate * (1 - rate) / all + (wrong - square(bias)) / n;
        return with_interval(rate - bias, variance, 1);
    }
    const double variance_labelled = evaluator * (1 - evaluator);
    const double variance_all = rate * (1 - rate);
    if (variance_all == 0) return with_interval(people, people * (1 - people) / n, 0);
    const double covariance = both - evaluator * people;
    const double weight = std::clamp(covariance / ((1 + n / all) * variance_all), 0.0, 1.0);
    const double variance = square(weight) * variance_all / all +
                            (people * (1 - people) + square(weight) * variance_labelled - 2 * weight * covariance) / n;
    return with_interval(people + weight * (rate - evaluator), variance, weight);
}

void WeighedPasses::add(bool passes, double inclusion) {
    const double weight = inclusion > 0 && inclusion < 1 ? 1 / inclusion : 1;
    ++m_count;
    m_passes += passes ? weight : 0;
    m_weight += weight;
    m_squares += weight * weight;
}

int64_t WeighedPasses::effective_count() const {
    return m_squares > 0 ? std::llround(m_weight * m_weight / m_squares) : 0;
}

std::optional<double> rogan_gladen(double rate, double recognised_passes, double recognised_failures) {
    const double information = recognised_passes + recognised_failures - 1;
    if (information <= 0.1 + 1e-12) return std::nullopt;
    return std::clamp((rate + recognised_failures - 1) / information, 0.0, 1.0);
}

} // namespace hone::evaluate
