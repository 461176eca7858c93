#include "signal/issue.h"

#include "crypto/crypto.h"
#include "signal/analysis/words.h"

#include <algorithm>
#include <cmath>

namespace hone::signal {

std::string fingerprint_of(const access::ProjectId& project, Detector detector, std::string_view subject) {
    const std::string_view name = name_of(detector);
    return to_hex(crypto::hash(fmt::format("issue\n{}\n{}\n{}", project.text(), name, subject))).substr(0, 32);
}

std::vector<ScoreTerm> score_terms(const Issue& issue, Duration age) {
    const auto part = [](double value) { return std::clamp(value, 0.0, 1.0); };
    std::vector<ScoreTerm> terms;
    const auto add = [&](std::string name, double most, double value, std::string why) {
        terms.push_back({std::move(name), std::round(most * part(value) * 10) / 10, most, std::move(why)});
    };
    // Ten times as many traces are worth a quarter of the term; 10,000 all of it.
    add("affected_traces", 25, std::log10(1.0 + static_cast<double>(issue.traces)) / 4,
        fmt::format("{} trace{}", issue.traces, issue.traces == 1 ? "" : "s"));
    add("share", 20, std::sqrt(issue.share), percent(issue.share) + " of all traces");
    const bool grows = issue.growth > 1.05;
    add("growth", 15, grows ? std::log2(issue.growth) / 3 : 0,
        grows ? times(issue.growth) + " the share of before" : "not growing");
    constexpr double severities[] = {0.1, 0.4, 0.75, 1};
    add("severity", 20, severities[static_cast<size_t>(issue.severity)], std::string(name_of(issue.severity)));
    const double days = std::chrono::duration<double>(age).count() / 86400;
    add("novelty", 10, 1 - days / 7,
        days < 1   ? "first seen today"
        : days < 2 ? "first seen yesterday"
                   : fmt::format("first seen {:.0f} days ago", std::floor(days)));
    // A worker's verdict counts here and nowhere else, so that no text in a trace can hide a problem.
    const bool is_confirmed = issue.verdict == "confirmed", is_rejected = issue.verdict == "rejected";
    const double confidence = is_confirmed  ? std::max(issue.confidence, 0.95)
                              : is_rejected ? issue.confidence * 0.3
                                            : issue.confidence;
    add("confidence", 10, confidence,
        percent(confidence) + (is_confirmed  ? ", confirmed by a worker that read an example"
                               : is_rejected ? ", rejected by a worker that read an example"
                                             : ""));
    return terms;
}

int64_t score_of(const std::vector<ScoreTerm>& terms) {
    double sum = 0;
    for (const ScoreTerm& term : terms) sum += term.points;
    return std::clamp<int64_t>(std::llround(sum), 0, 100);
}

} // namespace hone::signal
