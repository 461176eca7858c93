// The comparison of an experiment with a base, its reports and the gate: what `experiment compare` and `experiment run`
// share. One thread.
#pragma once

#include "cli/remote/context.h"
#include "cli/remote/remote.h"
#include "json/json.h"

#include <string>
#include <vector>

namespace hone::cli {

// --fail-on, --margin, --lower, --markdown and --junit.
std::vector<Option> gate_options();
// Fetches the comparison and writes the files of --markdown and --junit.
Result<json::Value> compare_with(const Context& context, const std::string& base, const std::string& other,
                                 const std::string& dataset);
// With --fail-on regression: the status 10 when the gate of the comparison failed.
Result<> apply_gate(const Context& context, const json::Value& comparison);

// --pairwise and its limits.
std::vector<Option> pairwise_options();
// With --pairwise: starts the comparison and waits for its end.
Result<> compare_pairs(const Context& context, const std::string& base, const std::string& other,
                       const std::string& dataset);

std::vector<Command> experiment_run_commands();
std::vector<Command> experiment_pair_commands();

} // namespace hone::cli
