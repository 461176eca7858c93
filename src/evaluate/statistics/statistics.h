// Statistics of evals: intervals of rates and means, tests of pairs, corrections for several tests. Pure functions; any
// thread. Each is tested against published values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace hone::evaluate {

struct Interval {
    double low = 0;
    double high = 0;
};

// 95 %, two-sided.
constexpr double normal_quantile = 1.959963985;

// Of a rate: Wilson's score interval. 0 to 1 when there are none.
Interval wilson(int64_t passes, int64_t of, double quantile = normal_quantile);
// The same for a rate whose values weigh differently: `count` values of equal weight would have its variance.
Interval wilson_of_rate(double rate, double count, double quantile = normal_quantile);

// Of a mean: Student's t. `interval` is absent for fewer than two values.
struct Mean {
    int64_t count = 0;
    double mean = 0;
    double standard_error = 0;
    std::optional<Interval> interval;
};
Mean mean_of(std::span<const double> values);
// The same from the mean of the values and of their squares, as a database gives them.
Mean mean_of_moments(int64_t count, double mean, double mean_of_squares);

// The standard error of a mean whose values come in clusters, such as repetitions of an example. 0 for fewer than two
// clusters.
double clustered_error(std::span<const std::vector<double>> clusters);

// Differences of pairs: is their mean zero?
struct Paired {
    int64_t pairs = 0;
    double mean = 0;
    std::optional<Interval> interval; // percentile bootstrap, 95 %; absent for fewer than two pairs
    double bootstrap_error = 0;       // standard deviation of the resampled means
    double p = 1;                     // sign-flip permutation, two-sided
    bool is_exact = false;            // all sign flips were counted
};
// The same seed gives the same result. More than `largest_bootstrap` pairs get the interval and the test of the normal
// distribution, from which the resampled ones do not differ then.
constexpr size_t largest_bootstrap = 20'000;
Paired paired_difference(std::span<const double> differences, uint64_t seed, int64_t resamples = 10'000);
// Only its test, which costs much less than the interval.
double sign_flip_p(std::span<const double> differences, uint64_t seed, int64_t flips = 10'000);

// Pairs of pass and fail: `broken` passed before only, `fixed` passed after only.
struct McNemar {
    double chi_squared = 0;
    double p = 1;
    double corrected_chi_squared = 0;
    double corrected_p = 1;
    double exact_p = 1;
    double mid_p = 1;
};
McNemar mcnemar(int64_t broken, int64_t fixed);

// Two-sided exact sign test.
double sign_test(int64_t positive, int64_t negative);

// Benjamini and Hochberg: the smallest false discovery rate at which each test is significant, in the given order.
std::vector<double> false_discovery_rates(std::span<const double> p_values);

// At least one of k drawn runs passes, and all of them pass, when `passes` of `runs` passed.
double pass_at(int64_t runs, int64_t passes, int64_t k);
double pass_all(int64_t runs, int64_t passes, int64_t k);

// Pairs that are needed to show a difference, with 5 % false alarms and a power of 80 %. `variance` is that of the
// differences. And the smallest difference that so many pairs can show.
int64_t pairs_needed(double variance, double difference);
double smallest_difference(double variance, int64_t pairs);

} // namespace hone::evaluate
