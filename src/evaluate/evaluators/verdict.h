// From a document to the arguments of an evaluator, and from its result to a verdict. What does not fit is an error
// with the reason; nothing is guessed. Pure functions; any thread.
#pragma once

#include "evaluate/evaluators/evaluator_version.h"

namespace hone::evaluate {

// The value at a path of names, indexes and wildcards: `output.items[0].name`, `output.items[*].name` (a list of all
// matches). A path that finds nothing is an error.
Result<json::Value> value_at(const json::Value& document, std::string_view path);

// The document itself without a mapping, else an object of the mapped arguments.
Result<json::Value> arguments_of(const std::map<std::string, MappedArgument>& mapping, const json::Value& document);

// The checked result of an evaluator: true, 0.5, "label", or an object of label, score, explanation and metadata. Of an
// evaluator with a name also a list of such objects, each with a name, alone or as {"results": […]}: one that does not
// fit fails all.
constexpr size_t most_results = 50;
Result<Verdict> verdict_of(const OutputConfig& config, const json::Value& result, std::string_view evaluator = {});

// What can be checked before the code runs: sizes, labels, ranges, paths.
Result<> check(const OutputConfig& config);
Result<> check(const CodeDefinition& code);

} // namespace hone::evaluate
