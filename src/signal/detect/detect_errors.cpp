// Errors with the same message that recur or grow, outside tools and parsers, which have detectors of their own.
#include "signal/detect/clusters.h"
#include "signal/detect/detectors.h"

namespace hone::signal {

Result<> detect_errors(Survey& survey, std::vector<Candidate>& found) {
    const std::string condition = "kind != 'tool' AND NOT " + std::string(unreadable_types);
    for (const Cluster& cluster : TRY(recurring_clusters(survey, condition)))
        found.push_back(candidate_of(cluster, Detector::error_cluster, "fails"));
    return {};
}

Result<> detect_tool_failures(Survey& survey, std::vector<Candidate>& found) {
    for (const Cluster& cluster : TRY(recurring_clusters(survey, "kind = 'tool'")))
        found.push_back(candidate_of(cluster, Detector::tool_failure, "fails"));
    return {};
}

} // namespace hone::signal
