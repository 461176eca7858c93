// Model calls that use more tokens than before, and hours that cost far more than any before.
#include "signal/analysis/shifts.h"
#include "signal/analysis/words.h"
#include "signal/detect/detectors.h"
#include "signal/text/message_template.h"

#include <algorithm>

namespace hone::signal {

namespace {

constexpr double least_usage_ratio = 1.5;
constexpr double least_tokens = 150;
constexpr double spike = 2; // times the most expensive hour of the baseline
constexpr size_t least_hours = 12;
constexpr int64_t least_cost_nano_usd = 10'000'000; // a cent in the hour

std::string dollars(int64_t nano_usd) {
    return fmt::format("{:.2f} USD", static_cast<double>(nano_usd) / 1e9);
}

} // namespace

Result<> detect_tokens(Survey& survey, std::vector<Candidate>& found) {
    const auto all = TRY(compare_names(survey, all_tokens, fmt::format("kind = 'llm' AND {} > 0", all_tokens),
                                       "start_ns < {from:Int64}", "start_ns >= {from:Int64}"));
    for (const Compared& compared : all) {
        const Shift shift = compare(compared.before, compared.after);
        if (!is_clearly_greater(shift, compared, least_usage_ratio, least_tokens)) continue;
        const std::string shown = plain_line(compared.name, 80);
        Candidate candidate;
        candidate.detector = Detector::token_spike;
        candidate.subject = compared.name;
        candidate.change = shift.ratio();
        candidate.title = fmt::format("{} uses {} as many tokens as in the baseline", shown, times(candidate.change));
        candidate.explanation = fmt::format(
            "A usual call of {} used {:.0f} tokens in the time before and uses {:.0f} now, input and output together.",
            shown, shift.before, shift.after);
        candidate.severity = candidate.change >= 4 ? Severity::high : Severity::medium;
        candidate.filter = fmt::format("kind = llm and name = {} and tokens > {:.0f}", quote_filter(compared.name),
                                       std::max(compared.before.quantile(0.9), shift.before));
        candidate.about = "tokens|" + compared.name;
        candidate.clear = shift.z;
        candidate.facts = {{"median tokens before", fmt::format("{:.0f}", shift.before)},
                           {"median tokens now", fmt::format("{:.0f}", shift.after)},
                           {"95th percentile now", fmt::format("{:.0f}", compared.after.quantile(0.95))}};
        found.push_back(std::move(candidate));
    }
    return {};
}

Result<> detect_cost(Survey& survey, std::vector<Candidate>& found) {
    // Only whole hours of the window are compared with whole hours before it.
    int64_t highest_before = 0, highest = 0, highest_hour = 0;
    size_t hours_before = 0;
    TRY(survey.query(
        fmt::format("SELECT intDiv(start_ns, {0}) * {0} AS hour, sum(cost_nano_usd) AS cost FROM hone.spans "
                    "WHERE {1} GROUP BY hour HAVING cost > 0 ORDER BY hour",
                    hour_ns, in_both),
        [&](const ResultRow& row) {
            if (row.integer(0) + hour_ns <= survey.window().from_ns) {
                ++hours_before;
                highest_before = std::max(highest_before, row.integer(1));
            } else if (row.integer(0) >= survey.window().from_ns && row.integer(1) > highest) {
                highest = row.integer(1);
                highest_hour = row.integer(0);
            }
        }));
    const double ratio = static_cast<double>(highest) / static_cast<double>(std::max<int64_t>(1, highest_before));
    if (hours_before < least_hours || ratio < spike || highest < least_cost_nano_usd) return {};
    Candidate candidate;
    candidate.detector = Detector::cost_spike;
    candidate.subject = "cost per hour";
    candidate.change = ratio;
    candidate.title = fmt::format("An hour cost {} as much as the most expensive earlier hour", times(ratio));
    candidate.explanation = fmt::format(
        "The hour from {} UTC cost {}; in the {} hours before the window none cost more than {}.",
        to_text(from_ns(highest_hour)).substr(0, 16), dollars(highest), hours_before, dollars(highest_before));
    candidate.severity = ratio >= 5 ? Severity::high : Severity::medium;
    candidate.filter = fmt::format("cost > 0 and start >= \"{}\" and start < \"{}\"", to_text(from_ns(highest_hour)),
                                   to_text(from_ns(highest_hour + hour_ns)));
    candidate.about = "cost|";
    candidate.clear = 3 * ratio;
    candidate.facts = {{"most expensive hour", dollars(highest)},
                       {"most expensive earlier hour", dollars(highest_before)}};
    found.push_back(std::move(candidate));
    return {};
}

} // namespace hone::signal
