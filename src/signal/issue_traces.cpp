#include "signal/issue_traces.h"

#include "base/text.h"
#include "signal/detect/evidence.h"

#include <set>

namespace hone::signal {

Result<std::vector<std::string>> traces_of_issue(telemetry::Spans& spans, const Issues& issues, const Issue& issue,
                                                 size_t limit, net::Cancel* cancel) {
    std::vector<std::string> traces;
    std::set<std::string> seen;
    const auto take = [&](const std::string& trace) {
        if (traces.size() < limit && seen.insert(trace).second) traces.push_back(trace);
    };
    for (const Example& example : issue.examples) take(example.trace_id);
    for (const Candidate& condition : TRY(issues.conditions(issue))) {
        if (traces.size() >= limit) break;
        if (trim(condition.filter).empty() && condition.narrower.empty()) continue;
        TRY(spans.store()); // the engine runs
        Window window;
        window.project = issue.project_id.text();
        // Spans of what a person or a worker reports can be older than the report.
        if (condition.detector != Detector::reported) window.baseline_from_ns = to_ns(issue.first_seen) - hour_ns;
        window.from_ns = window.baseline_from_ns;
        window.to_ns = INT64_MAX;
        Survey survey = Survey::without_totals(spans.telemetry.engine(), window, cancel);
        for (const std::string& trace : TRY(newest_traces(survey, condition, limit))) take(trace);
    }
    return traces;
}

} // namespace hone::signal
