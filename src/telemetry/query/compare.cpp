#include "telemetry/query/compare.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace hone::telemetry {

namespace {

constexpr Metric metrics[] = {Metric::count,       Metric::errors,      Metric::error_rate, Metric::latency_p50,
                              Metric::latency_p95, Metric::latency_p99, Metric::tokens,     Metric::cost,
                              Metric::traces,      Metric::latency_mean};
constexpr size_t most_groups = 200; // that a series gives

using Values = std::map<std::string, std::vector<double>>; // by group

Result<Values> read_values(SpanStore& store, const CompareWindows& request, const Window& window, bool grouped) {
    Series series;
    series.scope = request.scope;
    series.scope.from_ns = window.from_ns;
    series.scope.to_ns = window.to_ns;
    series.metrics.assign(std::begin(metrics), std::end(metrics));
    series.bucket = Duration(0);
    if (grouped) series.group_by = request.group_by;
    series.groups = most_groups;
    Values values;
    for (SeriesPoint& point : TRY(store.series(series))) values[point.group] = std::move(point.values);
    return values;
}

// What a window without spans has: sums are nothing, the rest is not known.
std::vector<double> nothing() {
    std::vector<double> values;
    for (const Metric metric : metrics) {
        const bool is_sum = metric == Metric::count || metric == Metric::errors || metric == Metric::tokens ||
                            metric == Metric::cost || metric == Metric::traces;
        values.push_back(is_sum ? 0.0 : std::numeric_limits<double>::quiet_NaN());
    }
    return values;
}

std::vector<double> take_side(Values& values, const std::string& group) {
    const auto found = values.find(group);
    return found == values.end() ? nothing() : found->second;
}

} // namespace

std::span<const Metric> compared_metrics() {
    return metrics;
}

Result<Comparison> compare(SpanStore& store, const CompareWindows& request) {
    if (request.baseline.from_ns >= request.baseline.to_ns || request.current.from_ns >= request.current.to_ns)
        return invalid("a window must begin before it ends");
    Comparison comparison;
    Values before = TRY(read_values(store, request, request.baseline, false));
    Values after = TRY(read_values(store, request, request.current, false));
    comparison.all = {"", take_side(before, ""), take_side(after, "")};
    if (request.group_by.empty()) return comparison;
    before = TRY(read_values(store, request, request.baseline, true));
    after = TRY(read_values(store, request, request.current, true));
    std::set<std::string> groups;
    for (const auto& [group, values] : before) groups.insert(group);
    for (const auto& [group, values] : after) groups.insert(group);
    // A window with too many groups has no data about those it left out.
    const auto is_known = [](const Values& values, const std::string& group) {
        return values.contains(group) || values.size() < most_groups;
    };
    for (const std::string& group : groups)
        if (is_known(before, group) && is_known(after, group))
            comparison.groups.push_back({group, take_side(before, group), take_side(after, group)});
    const size_t wanted = std::clamp<size_t>(request.groups, 1, most_groups);
    comparison.is_cut =
        comparison.groups.size() > wanted || before.size() >= most_groups || after.size() >= most_groups;
    std::stable_sort(comparison.groups.begin(), comparison.groups.end(), [](const Change& a, const Change& b) {
        return a.baseline.front() + a.current.front() > b.baseline.front() + b.current.front();
    });
    if (comparison.groups.size() > wanted) comparison.groups.resize(wanted);
    return comparison;
}

} // namespace hone::telemetry
