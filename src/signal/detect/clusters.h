// Failed spans as clusters: same span name, same type of exception, same template of the message. Shared by the
// detectors of errors, tool failures and unparsable outputs, which divide the failed spans among them. One thread.
#pragma once

#include "signal/detect/survey.h"

namespace hone::signal {

struct Cluster {
    std::string name;
    std::string exception;
    std::string pattern;       // template of the message
    std::string message;       // one of them
    bool is_merged = false;    // the template leaves out a word that the message has
    bool in_exception = false; // where the message stands, else in the status
    int64_t traces = 0;
    int64_t traces_before = 0;
    double share = 0;       // of the traces that hold this name
    double least_share = 0; // what it surely is
    double share_before = 0;
    double z = 0; // growth against the baseline
};

// Exceptions that say: a program could not read what a model wrote.
inline constexpr std::string_view unreadable_types =
    "match(exception_type, '(?i)(jsondecode|jsonparse|outputpars|parseerror|parsererror|validationerror|schemaerror)')";

// Failed spans that match `condition`, only where a failure begins: a parent that fails because its child did is not
// counted. Those that recur or grow.
Result<std::vector<Cluster>> recurring_clusters(Survey& survey, std::string_view condition);

// A finding about a cluster; `what` is the first part of its title: "{name} {what}: {pattern}".
Candidate candidate_of(const Cluster& cluster, Detector detector, std::string_view what);

} // namespace hone::signal
