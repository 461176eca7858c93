// What makes a finding one that people can check: how many traces it touches, since when, when, and which; and which
// findings only show what another one causes. The same queries for all detectors. One thread.
#pragma once

#include "signal/analysis/survey.h"

namespace hone::signal {

// Fills in what candidate.h calls evidence. One query.
Result<> gather_evidence(Survey& survey, Candidate& candidate);

// How many traces since then it touches, and how many there are.
struct Since {
    int64_t touched = 0;
    int64_t traces = 0;
};
Result<Since> count_since(Survey& survey, const Candidate& candidate, int64_t since_ns);

// Ids of the traces that it touches in window and baseline, newest first. Needs only what states its spans: the filter
// and what is narrower.
Result<std::vector<std::string>> newest_traces(Survey& survey, const Candidate& candidate, size_t limit);

// Drops what another finding explains: the slow parent of a slow child, sessions that fail because a tool does, costs
// that grow with tokens, a change that came with a version. Sorted by traces, most first.
std::vector<Candidate> without_consequences(std::vector<Candidate> candidates);

} // namespace hone::signal
