#include "signal/analysis/statistics.h"

#include <algorithm>
#include <cmath>

namespace hone::signal {

int64_t Histogram::count() const {
    int64_t sum = 0;
    for (const auto& [bin, number] : bins) sum += number;
    return sum;
}

double Histogram::quantile(double q) const {
    const double wanted = q * static_cast<double>(count());
    double seen = 0;
    for (const auto& [bin, number] : bins) {
        seen += static_cast<double>(number);
        if (seen >= wanted && number > 0) return std::exp2((bin + 0.5) / bins_per_doubling);
    }
    return 0;
}

Shift compare(const Histogram& before, const Histogram& after) {
    Shift shift;
    shift.before = before.quantile(0.5);
    shift.after = after.quantile(0.5);
    const auto n = static_cast<double>(before.count()), m = static_cast<double>(after.count());
    if (n == 0 || m == 0) return shift;
    std::map<int, std::pair<double, double>> both;
    for (const auto& [bin, number] : before.bins) both[bin].first += static_cast<double>(number);
    for (const auto& [bin, number] : after.bins) both[bin].second += static_cast<double>(number);
    double below = 0, wins = 0, ties = 0;
    for (const auto& [bin, counts] : both) {
        wins += counts.second * (below + counts.first / 2);
        below += counts.first;
        const double tied = counts.first + counts.second;
        ties += tied * tied * tied - tied;
    }
    shift.effect = wins / (n * m);
    const double all = n + m;
    const double variance = n * m / 12 * (all + 1 - ties / (all * std::max(1.0, all - 1)));
    shift.z = variance > 0 ? (wins - n * m / 2) / std::sqrt(variance) : 0;
    return shift;
}

double proportion_z(int64_t hits, int64_t total, int64_t hits_before, int64_t total_before) {
    if (total <= 0 || total_before <= 0) return 0;
    const auto n = static_cast<double>(total), m = static_cast<double>(total_before);
    const double pooled = (static_cast<double>(hits + hits_before) + 1) / (n + m + 2); // never 0 or 1
    const double difference = static_cast<double>(hits) / n - static_cast<double>(hits_before) / m;
    return difference / std::sqrt(pooled * (1 - pooled) * (1 / n + 1 / m));
}

double share_of(int64_t part, int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

double least_share_of(int64_t part, int64_t whole) {
    if (whole <= 0) return 0;
    constexpr double z = 1.96;
    const auto n = static_cast<double>(whole);
    const double p = share_of(part, whole);
    const double middle = p + z * z / (2 * n);
    const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    return std::max(0.0, (middle - half) / (1 + z * z / n));
}

double confidence_of(int64_t cases, double z) {
    const double many = static_cast<double>(cases) / (static_cast<double>(cases) + 5);
    const double clear = 1 - std::exp(-std::max(0.0, z) / 3);
    return std::min(0.99, many * clear);
}

} // namespace hone::signal
