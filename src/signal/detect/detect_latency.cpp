// Spans that became slower than in the time before: as a whole (median), in their slow tail, or to their first token.
#include "signal/analysis/shifts.h"
#include "signal/analysis/words.h"
#include "signal/detect/detectors.h"
#include "signal/text/message_template.h"

#include <set>

namespace hone::signal {

namespace {

constexpr double least_ratio = 1.5;
constexpr double least_difference_ns = 5e7; // a smaller difference is not a problem
constexpr double least_tail_ns = 3e8;

// How many of the spans are slower than `ns`.
int64_t slower_than(const Histogram& histogram, double ns) {
    int64_t count = 0;
    for (const auto& [bin, number] : histogram.bins)
        if (std::exp2(static_cast<double>(bin) / bins_per_doubling) >= ns) count += number;
    return count;
}

Candidate slower(const Compared& compared, double before, double after, std::string_view what, double threshold,
                 double z) {
    const std::string shown = plain_line(compared.name, 80);
    Candidate candidate;
    candidate.detector = Detector::latency_regression;
    candidate.subject = compared.name;
    candidate.change = after / before;
    candidate.extra_ns = after - before;
    candidate.title = fmt::format("{} became {} slower", shown, times(candidate.change));
    candidate.explanation =
        fmt::format("The {} of {} went from {} to {}. Spans of the window are compared with the time before it by "
                    "rank, so a few slow ones do not matter; failed spans are left out.",
                    what, shown, seconds(before), seconds(after));
    candidate.severity = candidate.change >= 3 && candidate.extra_ns >= 1e9 ? Severity::high : Severity::medium;
    candidate.filter =
        fmt::format("name = {} and latency > {}ms", quote_filter(compared.name), static_cast<int64_t>(threshold / 1e6));
    candidate.about = "latency|" + compared.name;
    candidate.clear = z;
    candidate.facts = {{"median before", seconds(compared.before.quantile(0.5))},
                       {"median now", seconds(compared.after.quantile(0.5))},
                       {"95th percentile before", seconds(compared.before.quantile(0.95))},
                       {"95th percentile now", seconds(compared.after.quantile(0.95))}};
    return candidate;
}

// What a person waits for: the first words of a response. Names that are slower as a whole are reported already.
Result<> detect_first_token(Survey& survey, const std::set<std::string>& reported, std::vector<Candidate>& found) {
    const auto all = TRY(compare_names(survey, "first_token_ns", "status != 'error' AND first_token_ns > 0",
                                       "start_ns < {from:Int64}", "start_ns >= {from:Int64}"));
    for (const Compared& compared : all) {
        const Shift shift = compare(compared.before, compared.after);
        if (reported.contains(compared.name) || !is_clearly_greater(shift, compared, least_ratio, least_difference_ns))
            continue;
        const double threshold = std::max(compared.before.quantile(0.9), shift.before);
        Candidate candidate =
            slower(compared, shift.before, shift.after, "median time to the first token", threshold, shift.z);
        candidate.title += " to its first token";
        candidate.filter = fmt::format("name = {} and first_token > {}ms", quote_filter(compared.name),
                                       static_cast<int64_t>(threshold / 1e6));
        candidate.about = "first_token|" + compared.name;
        found.push_back(std::move(candidate));
    }
    return {};
}

} // namespace

Result<> detect_latency(Survey& survey, std::vector<Candidate>& found) {
    const size_t before_all = found.size();
    const auto all = TRY(compare_names(survey, "duration_ns", "status != 'error'", "start_ns < {from:Int64}",
                                       "start_ns >= {from:Int64}"));
    for (const Compared& compared : all) {
        const Shift shift = compare(compared.before, compared.after);
        if (is_clearly_greater(shift, compared, least_ratio, least_difference_ns)) {
            found.push_back(slower(compared, shift.before, shift.after, "median duration",
                                   std::max(compared.before.quantile(0.9), shift.before), shift.z));
            continue;
        }
        // The tail: what only one in twenty took before, one in eight takes now, and much longer.
        if (compared.before.count() < 200 || compared.after.count() < 100) continue;
        const double before = compared.before.quantile(0.95), after = compared.after.quantile(0.95);
        const int64_t many = slower_than(compared.after, before * 1.5);
        const int64_t few = slower_than(compared.before, before * 1.5);
        const double z = proportion_z(many, compared.after.count(), few, compared.before.count());
        if (after >= before * 2 && after - before >= least_tail_ns && z >= 8 &&
            share_of(many, compared.after.count()) >= 0.08)
            found.push_back(slower(compared, before, after, "95th percentile of the duration", before * 1.5, z));
    }
    std::set<std::string> reported;
    for (size_t i = before_all; i < found.size(); ++i) reported.insert(found[i].subject);
    return detect_first_token(survey, reported, found);
}

} // namespace hone::signal
