// Errors with the same cause that recur or grow; tools, parsers and limits of providers have detectors of their own.
#include "signal/analysis/clusters.h"
#include "signal/detect/detectors.h"

namespace hone::signal {

Result<> detect_errors(Survey& survey, std::vector<Candidate>& found) {
    for (const Cluster& cluster : TRY(recurring_clusters(survey, FailedPart::others)))
        found.push_back(candidate_of(cluster, Detector::error_cluster, "fails"));
    return {};
}

Result<> detect_tool_failures(Survey& survey, std::vector<Candidate>& found) {
    for (const Cluster& cluster : TRY(recurring_clusters(survey, FailedPart::tools)))
        found.push_back(candidate_of(cluster, Detector::tool_failure, "fails"));
    return {};
}

Result<> detect_provider_limits(Survey& survey, std::vector<Candidate>& found) {
    for (const Cluster& cluster : TRY(recurring_clusters(survey, FailedPart::limits))) {
        Candidate candidate = candidate_of(cluster, Detector::provider_limit, "is rejected by the provider");
        candidate.explanation += " The provider limits requests or is overloaded: the call itself is not the problem.";
        found.push_back(std::move(candidate));
    }
    return {};
}

} // namespace hone::signal
