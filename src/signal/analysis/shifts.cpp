#include "signal/analysis/shifts.h"

#include <fmt/format.h>

namespace hone::signal {

namespace {

Histogram histogram_of(const json::Array& both) {
    Histogram histogram;
    if (both.size() != 2 || !both[0].is_array() || !both[1].is_array()) return histogram;
    const json::Array &bins = both[0].get_array(), &counts = both[1].get_array();
    for (size_t i = 0; i < std::min(bins.size(), counts.size()); ++i)
        histogram.bins[static_cast<int>(ResultRow::to_integer(bins[i]))] += ResultRow::to_integer(counts[i]);
    return histogram;
}

} // namespace

Result<std::vector<Compared>> compare_names(Survey& survey, std::string_view expression, std::string_view condition,
                                            std::string_view is_before, std::string_view is_after,
                                            const Survey::Bind& bind) {
    const std::string sql = fmt::format(
        "SELECT * FROM (SELECT name, sumMapIf([bin], [toInt64(1)], is_before), sumMapIf([bin], [toInt64(1)], is_after) "
        "FROM (SELECT name, toInt64(floor(log2(greatest({0}, 1)) * {4})) AS bin, ({2}) AS is_before, ({3}) AS is_after "
        "FROM hone.spans WHERE {5} AND ({1})) GROUP BY name ORDER BY count() DESC, name LIMIT 300)",
        expression, condition, is_before, is_after, bins_per_doubling, in_both);
    std::vector<Compared> all;
    TRY(survey.query(
        sql,
        [&](const ResultRow& row) {
            all.push_back({row.text(0), histogram_of(row.list(1)), histogram_of(row.list(2))});
        },
        bind));
    return all;
}

bool is_clearly_greater(const Shift& shift, const Compared& compared, double factor, double least_difference) {
    constexpr int64_t least_spans = 30;
    return compared.before.count() >= least_spans && compared.after.count() >= least_spans &&
           shift.after - shift.before >= least_difference && shift.ratio() >= factor && shift.effect >= 0.7 &&
           shift.z >= 6;
}

} // namespace hone::signal
