// The options of evaluators that evaluate documents with a model, an agent or a remote service, and those that all
// evaluators of documents share: the output and the mapping.
#pragma once

#include "cli/remote/context.h"
#include "cli/table/command.h"

namespace hone::cli {

std::vector<Option> judge_options();

// {"kind": …, "llm" | "agent" | "remote" | "code" | …: definition}; nothing without one of these options.
Result<std::optional<json::Object>> judge_of(const Context& context);

// --labels, --range or --text; boolean without any of them.
Result<json::Object> output_config(const Context& context);
// --map NAME=PATH, each.
Result<json::Object> mapping_of(const Context& context);

// Its `signing_secret` is shown once.
Result<json::Value> make_signing_secret(const Context& context, const std::string& evaluator_id);

} // namespace hone::cli
