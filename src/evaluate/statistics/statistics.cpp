#include "evaluate/statistics/statistics.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

namespace hone::evaluate {

namespace {

constexpr size_t most_exact = 20; // pairs whose sign flips are all counted
// z of 97.5 % plus z of 80 %.
constexpr double detection_z = 1.959963985 + 0.8416212336;

// xoshiro256++, seeded by splitmix64: the same numbers on every machine.
class Random {
public:
    explicit Random(uint64_t seed) {
        for (uint64_t& word : m_state) {
            seed += 0x9e3779b97f4a7c15;
            uint64_t mixed = seed;
            mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
            mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
            word = mixed ^ (mixed >> 31);
        }
    }
    uint64_t next() {
        const uint64_t result = rotate(m_state[0] + m_state[3], 23) + m_state[0];
        const uint64_t shifted = m_state[1] << 17;
        m_state[2] ^= m_state[0];
        m_state[3] ^= m_state[1];
        m_state[1] ^= m_state[2];
        m_state[0] ^= m_state[3];
        m_state[2] ^= shifted;
        m_state[3] = rotate(m_state[3], 45);
        return result;
    }

    // Above 0, below 1.
    double share() { return (static_cast<double>(next() >> 12) + 0.5) * 0x1p-52; }

private:
    static uint64_t rotate(uint64_t value, int by) { return value << by | value >> (64 - by); }
    uint64_t m_state[4];
};

double sum_of(std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

double deviation_of(std::span<const double> values, double mean, double divisor) {
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    return std::sqrt(squares / divisor);
}

double quantile_of(std::vector<double>& sorted, double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (sorted[above] - sorted[below]) * (place - static_cast<double>(below));
}

// Every combination of signs, each one flip from the last (Gray code).
double exact_sign_flip(std::span<const double> differences) {
    const double observed = std::abs(sum_of(differences));
    const double tolerance = 1e-9 * (1 + observed);
    std::vector<double> signed_values(differences.begin(), differences.end());
    const uint64_t combinations = uint64_t{1} << differences.size();
    double sum = sum_of(differences);
    uint64_t extreme = 0;
    for (uint64_t i = 1;; ++i) {
        extreme += std::abs(sum) >= observed - tolerance;
        if (i == combinations) break;
        const auto place = static_cast<size_t>(__builtin_ctzll(i));
        sum -= 2 * signed_values[place];
        signed_values[place] = -signed_values[place];
    }
    return static_cast<double>(extreme) / static_cast<double>(combinations);
}

// A random number has bits for two draws.
double resampled_mean(std::span<const double> values, Random& random) {
    const auto count = static_cast<uint64_t>(values.size());
    double first = 0, second = 0;
    for (uint64_t drawn = 0; drawn + 1 < count; drawn += 2) {
        const uint64_t bits = random.next();
        first += values[(bits >> 32) * count >> 32];
        second += values[(bits & UINT32_MAX) * count >> 32];
    }
    if (count % 2 == 1) first += values[(random.next() >> 32) * count >> 32];
    return (first + second) / static_cast<double>(count);
}

// What Stirling's approximation of log k! lacks.
double stirling_rest(double k) {
    constexpr double exact[] = {0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.0207906721037650,
                                0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                                0.0092554621827127, 0.0083305634333631};
    if (k < std::size(exact)) return exact[static_cast<size_t>(k)];
    const double square = (k + 1) * (k + 1);
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

// How many of `count` draws succeed, each with this chance of at most one half: by rejection (BTRS, Hoermann 1993), or
// by the number of draws up to the next success where few are expected.
int64_t draw_rare(int64_t count, double chance, Random& random) {
    const auto n = static_cast<double>(count);
    if (n * chance < 10) {
        if (chance <= 0) return 0;
        const double scale = std::log1p(-chance);
        int64_t successes = -1;
        for (double drawn = 0; drawn <= n; ++successes) drawn += std::ceil(std::log(random.share()) / scale);
        return successes;
    }
    const double deviation = std::sqrt(n * chance * (1 - chance));
    const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * chance;
    const double odds = chance / (1 - chance), alpha = (2.83 + 5.1 / b) * deviation,
                 mode = std::floor((n + 1) * chance);
    for (;;) {
        const double u = random.share() - 0.5, v = random.share(), edge = 0.5 - std::abs(u);
        const double k = std::floor((2 * a / edge + b) * u + n * chance + 0.5);
        if (k < 0 || k > n) continue;
        if (edge >= 0.07 && v <= 0.92 - 4.2 / b) return static_cast<int64_t>(k);
        const double bound = (mode + 0.5) * std::log((mode + 1) / (odds * (n - mode + 1))) +
                             (n + 1) * std::log((n - mode + 1) / (n - k + 1)) +
                             (k + 0.5) * std::log(odds * (n - k + 1) / (k + 1)) + stirling_rest(mode) +
                             stirling_rest(n - mode) - stirling_rest(k) - stirling_rest(n - k);
        if (std::log(v * alpha / (a / (edge * edge) + b)) <= bound) return static_cast<int64_t>(k);
    }
}

struct EqualValues {
    double value = 0;
    int64_t count = 0;
};

std::vector<EqualValues> grouped(std::span<const double> values) {
    std::vector<double> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    std::vector<EqualValues> groups;
    for (const double value : sorted) {
        if (groups.empty() || groups.back().value != value) groups.push_back({value, 0});
        ++groups.back().count;
    }
    return groups;
}

// Of equal differences, only the number of those that keep their sign counts. Else eight differences have 256 sums with
// their signs: they are computed once and looked up for each flip.
double sampled_sign_flip(std::span<const double> differences, Random& random, int64_t flips) {
    constexpr size_t at_once = 8;
    constexpr size_t differences_per_group = 400; // whose sums cost as much as the draw for a group
    const double observed = std::abs(sum_of(differences));
    const double tolerance = 1e-9 * (1 + observed);
    std::vector<double> sizes;
    for (const double difference : differences)
        if (difference != 0) sizes.push_back(std::abs(difference));
    const auto groups = grouped(sizes);
    if (groups.size() * differences_per_group <= differences.size()) {
        int64_t extreme = 0;
        for (int64_t i = 0; i < flips; ++i) {
            double sum = 0;
            for (const EqualValues& group : groups)
                sum += group.value * static_cast<double>(2 * draw_rare(group.count, 0.5, random) - group.count);
            extreme += std::abs(sum) >= observed - tolerance;
        }
        return static_cast<double>(extreme + 1) / static_cast<double>(flips + 1);
    }
    std::vector<std::array<double, 1 << at_once>> sums((differences.size() + at_once - 1) / at_once);
    for (size_t group = 0; group < sums.size(); ++group) {
        const auto part =
            differences.subspan(group * at_once).first(std::min(at_once, differences.size() - group * at_once));
        for (size_t signs = 0; signs < sums[group].size(); ++signs)
            for (size_t at = 0; at < part.size(); ++at)
                sums[group][signs] += (signs >> at & 1) != 0 ? part[at] : -part[at];
    }
    int64_t extreme = 0;
    for (int64_t i = 0; i < flips; ++i) {
        double sum = 0;
        uint64_t signs = 0;
        for (size_t group = 0; group < sums.size(); ++group) {
            if (group % at_once == 0) signs = random.next();
            sum += sums[group][signs & 0xff];
            signs >>= at_once;
        }
        extreme += std::abs(sum) >= observed - tolerance;
    }
    return static_cast<double>(extreme + 1) / static_cast<double>(flips + 1);
}

// The same distribution as drawing one by one: how often each value is drawn.
double resampled_mean(std::span<const EqualValues> groups, int64_t count, Random& random) {
    int64_t draws = count, rest = count;
    double sum = 0;
    for (const EqualValues& group : groups) {
        const double chance = static_cast<double>(group.count) / static_cast<double>(rest);
        const int64_t drawn = group.count == rest ? draws
                              : chance <= 0.5     ? draw_rare(draws, chance, random)
                                                  : draws - draw_rare(draws, 1 - chance, random);
        sum += group.value * static_cast<double>(drawn);
        draws -= drawn;
        rest -= group.count;
    }
    return sum / static_cast<double>(count);
}

void bootstrap(std::span<const double> differences, Random& random, int64_t resamples, Paired& result) {
    constexpr size_t draws_per_group = 50; // which cost as much as the draw for a group
    const auto groups = grouped(differences);
    const bool has_few_values = groups.size() * draws_per_group <= differences.size();
    const auto count = static_cast<int64_t>(differences.size());
    std::vector<double> means;
    means.reserve(static_cast<size_t>(resamples));
    for (int64_t i = 0; i < resamples; ++i)
        means.push_back(has_few_values ? resampled_mean(groups, count, random) : resampled_mean(differences, random));
    const double center = sum_of(means) / static_cast<double>(means.size());
    result.bootstrap_error = deviation_of(means, center, static_cast<double>(means.size()));
    std::sort(means.begin(), means.end());
    result.interval = Interval{quantile_of(means, 0.025), quantile_of(means, 0.975)};
}

double normal_p(const Mean& mean) {
    if (mean.standard_error == 0) return mean.mean == 0 ? 1 : 0;
    const double distance = std::abs(mean.mean) / mean.standard_error;
    return 2 * boost::math::cdf(boost::math::complement(boost::math::normal(), distance));
}

double chi_squared_p(double statistic) {
    if (statistic <= 0) return 1;
    return boost::math::cdf(boost::math::complement(boost::math::chi_squared(1), statistic));
}

double choose_log(int64_t of, int64_t count) {
    const auto n = static_cast<double>(of), k = static_cast<double>(count);
    return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

} // namespace

Interval wilson(int64_t passes, int64_t of, double z) {
    if (of <= 0) return {0, 1};
    const auto count = static_cast<double>(of);
    return wilson_of_rate(static_cast<double>(passes) / count, count, z);
}

Interval wilson_of_rate(double rate, double n, double z) {
    if (!(n > 0)) return {0, 1};
    const double center = rate + z * z / (2 * n);
    const double half = z * std::sqrt(rate * (1 - rate) / n + z * z / (4 * n * n));
    const double scale = 1 + z * z / n;
    return {rate <= 0 ? 0 : std::max(0.0, (center - half) / scale),
            rate >= 1 ? 1 : std::min(1.0, (center + half) / scale)};
}

Mean mean_of(std::span<const double> values) {
    Mean result;
    result.count = static_cast<int64_t>(values.size());
    if (values.empty()) return result;
    const auto n = static_cast<double>(values.size());
    result.mean = sum_of(values) / n;
    if (values.size() < 2) return result;
    result.standard_error = deviation_of(values, result.mean, n - 1) / std::sqrt(n);
    const double t = boost::math::quantile(boost::math::students_t(n - 1), 0.975);
    result.interval = Interval{result.mean - t * result.standard_error, result.mean + t * result.standard_error};
    return result;
}

Mean mean_of_moments(int64_t count, double mean, double mean_of_squares) {
    Mean result;
    result.count = count;
    if (count < 1) return result;
    result.mean = mean;
    if (count < 2) return result;
    const auto n = static_cast<double>(count);
    // Rounding can make the difference of equal values slightly negative.
    const double variance = std::max(0.0, mean_of_squares - mean * mean) * n / (n - 1);
    result.standard_error = std::sqrt(variance / n);
    const double t = boost::math::quantile(boost::math::students_t(n - 1), 0.975);
    result.interval = Interval{mean - t * result.standard_error, mean + t * result.standard_error};
    return result;
}

double clustered_error(std::span<const std::vector<double>> clusters) {
    double sum = 0, count = 0;
    for (const auto& cluster : clusters) {
        sum += sum_of(cluster);
        count += static_cast<double>(cluster.size());
    }
    if (clusters.size() < 2 || count == 0) return 0;
    const double mean = sum / count;
    double squares = 0;
    for (const auto& cluster : clusters) {
        const double residual = sum_of(cluster) - mean * static_cast<double>(cluster.size());
        squares += residual * residual;
    }
    const auto groups = static_cast<double>(clusters.size());
    return std::sqrt(squares * groups / (groups - 1)) / count;
}

Paired paired_difference(std::span<const double> differences, uint64_t seed, int64_t resamples) {
    Paired result;
    result.pairs = static_cast<int64_t>(differences.size());
    if (differences.empty()) return result;
    const Mean mean = mean_of(differences);
    result.mean = mean.mean;
    if (differences.size() == 1) {
        result.is_exact = true; // both signs are equally far from zero
        return result;
    }
    if (differences.size() > largest_bootstrap) {
        const double error = mean.standard_error;
        result.bootstrap_error = error;
        result.interval = Interval{mean.mean - normal_quantile * error, mean.mean + normal_quantile * error};
        result.p = normal_p(mean);
        return result;
    }
    Random random(seed);
    bootstrap(differences, random, resamples, result);
    result.is_exact = differences.size() <= most_exact;
    result.p = result.is_exact ? exact_sign_flip(differences) : sampled_sign_flip(differences, random, resamples);
    return result;
}

double sign_flip_p(std::span<const double> differences, uint64_t seed, int64_t flips) {
    if (differences.size() < 2) return 1;
    if (differences.size() > largest_bootstrap) return normal_p(mean_of(differences));
    if (differences.size() <= most_exact) return exact_sign_flip(differences);
    Random random(seed);
    return sampled_sign_flip(differences, random, flips);
}

double sign_test(int64_t positive, int64_t negative) {
    const int64_t n = positive + negative;
    if (n == 0) return 1;
    const boost::math::binomial distribution(static_cast<double>(n), 0.5);
    return std::min(1.0, 2 * boost::math::cdf(distribution, static_cast<double>(std::min(positive, negative))));
}

McNemar mcnemar(int64_t broken, int64_t fixed) {
    McNemar result;
    const int64_t n = broken + fixed;
    if (n == 0) return result;
    const double difference = std::abs(static_cast<double>(broken - fixed));
    const double total = static_cast<double>(n);
    result.chi_squared = difference * difference / total;
    result.p = chi_squared_p(result.chi_squared);
    const double corrected = std::max(0.0, difference - 1);
    result.corrected_chi_squared = corrected * corrected / total;
    result.corrected_p = chi_squared_p(result.corrected_chi_squared);
    result.exact_p = sign_test(broken, fixed);
    const boost::math::binomial distribution(total, 0.5);
    const double at = boost::math::pdf(distribution, static_cast<double>(std::min(broken, fixed)));
    result.mid_p = std::min(1.0, 2 * boost::math::cdf(distribution, static_cast<double>(std::min(broken, fixed))) - at);
    return result;
}

std::vector<double> false_discovery_rates(std::span<const double> p_values) {
    std::vector<size_t> order(p_values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p_values[a] < p_values[b]; });
    std::vector<double> rates(p_values.size());
    double least = 1;
    for (size_t rank = order.size(); rank-- > 0;) {
        least =
            std::min(least, p_values[order[rank]] * static_cast<double>(order.size()) / static_cast<double>(rank + 1));
        rates[order[rank]] = least;
    }
    return rates;
}

double pass_at(int64_t runs, int64_t passes, int64_t k) {
    if (runs - passes < k) return 1;
    return 1 - std::exp(choose_log(runs - passes, k) - choose_log(runs, k));
}

double pass_all(int64_t runs, int64_t passes, int64_t k) {
    if (passes < k) return 0;
    return std::exp(choose_log(passes, k) - choose_log(runs, k));
}

int64_t pairs_needed(double variance, double difference) {
    if (difference == 0) return INT64_MAX;
    return static_cast<int64_t>(std::ceil(detection_z * detection_z * variance / (difference * difference)));
}

double smallest_difference(double variance, int64_t pairs) {
    return pairs <= 0 ? 1 : detection_z * std::sqrt(variance / static_cast<double>(pairs));
}

} // namespace hone::evaluate
