// Clusters of a small window, from traces that were read completely. Pure; any thread.
#pragma once

#include "signal/analysis/clusters.h"
#include "signal/analysis/trace_sample.h"

namespace hone::signal {

// Whether the failure of a span begins there: no child failed.
bool is_origin(const SampledTrace& trace, size_t span);
FailedPart part_of(const SampledSpan& span);

// A level below another: failures of one place with one type of cause are one cluster that lists its causes; failures
// that are rare there are one cluster of the place.
std::vector<Cluster> small_clusters(const Sample& sample, FailedPart part);

// A failure that only a text reports: a tool's result or a message to the model, in a trace where no span failed with
// this cause.
struct TextFailure {
    size_t trace = 0;
    size_t span = 0;
    Cause cause;
};
std::vector<TextFailure> text_failures(const Sample& sample);

} // namespace hone::signal
