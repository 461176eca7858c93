// What agents do wrong without any span that fails, read from whole traces: results without the tools they need,
// repeated steps, calls that no tool takes, instructions not followed, traces without a result. Each function returns
// where it was seen and the reason for it. Pure; any thread.
#pragma once

#include "signal/analysis/trace_sample.h"

namespace hone::signal {

// One case of a behaviour.
struct Sighting {
    size_t trace = 0;    // index in the sample
    std::string span;    // id of the span that decides
    std::string place;   // name of the agent or the call, without numbers
    std::string about;   // what is concerned: a tool, an instruction; part of the subject
    std::string excerpt; // the decisive part of the trace
};

// Names of the tools that model calls of this agent could use, without those that only return the result.
std::vector<std::string> offered_tools(const SampledTrace& trace, size_t agent);

// A result of an agent that used none of its tools. `about` is "named" when its own texts name one of them.
std::vector<Sighting> unused_tools(const Sample& sample);
// A step that announces the use of a tool and does not call it.
std::vector<Sighting> announced_calls(const Sample& sample);
// A call of a tool that was not offered, or with arguments that do not fit its schema.
std::vector<Sighting> invalid_calls(const Sample& sample);
// Steps of an agent that are nearly the same as two earlier ones, or go back and forth between two.
std::vector<Sighting> repeated_steps(const Sample& sample);
// A limit, a tag or a format that the instruction states and the output does not have.
std::vector<Sighting> ignored_instructions(const Sample& sample);
// An agent that ends at its limit of steps, or without a result.
std::vector<Sighting> missing_results(const Sample& sample);
// A conversation that grows until a call is cut off or rejected.
std::vector<Sighting> growing_contexts(const Sample& sample);

// How alike two texts are, by their words: 0 to 1.
double likeness(std::string_view a, std::string_view b);

} // namespace hone::signal
