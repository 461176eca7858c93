// Failed spans as clusters: same place, same exception, same innermost cause. Shared by the detectors of errors, tool
// failures, provider limits and unparsable outputs, which divide the failed spans among them. One thread.
#pragma once

#include "signal/analysis/survey.h"
#include "signal/text/failure_text.h"

namespace hone::signal {

// Which failed spans.
enum class FailedPart { tools, unreadable, limits, others };

struct Cluster {
    FailedPart part = FailedPart::others;
    std::string name;               // without numbers and ids
    std::vector<std::string> names; // as spans have it
    std::vector<std::string> tools; // of tool spans whose name is not that of their tool
    bool by_tool = false;           // all its spans are such spans
    std::string tool_around;        // of phases of a tool's call that have spans of their own: the tool
    std::string exception;
    std::string pattern; // template of the cause
    std::string message; // one of them
    Cause cause;
    bool is_merged = false;    // the template leaves out a word that the message has
    bool in_exception = false; // where the message is, else in the status
    int64_t traces = 0;
    int64_t traces_before = 0;
    double share = 0;       // of the traces that have this name
    double least_share = 0; // what it surely is
    double share_before = 0;
    double z = 0; // growth against the baseline

    // Of a small window, whose traces are read completely.
    bool is_small = false;
    int64_t spans = 0;
    int64_t ended = 0;                                    // traces that end with it
    int64_t most_in_trace = 0;                            // spans of it in one trace
    std::vector<std::pair<std::string, int64_t>> parts{}; // causes that it holds, with their spans
    std::vector<std::string> reports{};                   // model calls whose newest message reports it
    bool has_rest = false;                                // rare failures of one place together
    std::vector<std::string> ids{};                       // its spans
};

// Exceptions that state: a program could not read what a model wrote.
inline constexpr std::string_view unreadable_types =
    "match(exception_type, '(?i)(jsondecode|jsonparse|outputpars|parseerror|parsererror|validationerror|schemaerror)')";
bool is_unreadable_type(std::string_view exception);

// Failed spans of this part, only where a failure begins: a parent that fails because its child did is not counted.
// Those that recur or grow; in a small window also those that end a trace or recur within one.
Result<std::vector<Cluster>> recurring_clusters(Survey& survey, FailedPart part);

// A finding about a cluster; `what` is the first part of its title: "{name} {what}: {pattern}".
Candidate candidate_of(const Cluster& cluster, Detector detector, std::string_view what);

// `span_id in (…)`, of at most this many spans.
constexpr size_t most_listed = 150;
std::string filter_of_spans(const std::vector<std::string>& ids);

} // namespace hone::signal
