// What a model gets of an evaluator and a document, and what it may reply. Values of the document are data: they are
// between marks that their own text cannot contain, and the model can reply with a verdict only. Pure; any thread.
#pragma once

#include "evaluate/evaluators/evaluator_version.h"

namespace hone::evaluate {

constexpr size_t largest_judge_text = 1 << 20; // bytes of all rendered messages
constexpr std::string_view verdict_tool = "report_verdict";

struct RenderedMessages {
    std::vector<JudgeMessage> messages;
    json::Array values{};     // of the variables
    std::string text() const; // for the key of the cache
};

// Fills the variables. invalid: a variable is not in the document (`missing_variable`). too_large: more than
// largest_judge_text.
Result<RenderedMessages> render_messages(const LlmDefinition& llm, const std::string& content_hash,
                                         const json::Value& document);
// The names in {{…}}. invalid: braces that are not closed, sections, empty names.
Result<std::vector<std::string>> variables_of(std::string_view text);

// JSON Schema of the object that a model reports. Every property is required, so that strict endpoints take it.
json::Value verdict_schema(const OutputConfig& output, bool explain);
// The same in words, for endpoints without schemas.
std::string verdict_instructions(const OutputConfig& output, bool explain);

// The one JSON object of a text: alone, in one fenced block, or in prose that has no other. invalid: none, or several.
Result<json::Value> object_in_text(std::string_view text);
// From what the model reported to the form that verdict_of checks: the case of labels is repaired where it is clear,
// a score that is null is cannot_judge, what the schema does not have is an error.
Result<Verdict> reported_verdict(const OutputConfig& output, const json::Value& reported);

// The verdict of one or more votes: the label that most have, or the median. Undecided votes are cannot_judge.
Verdict majority_of(const OutputConfig& output, const std::vector<Verdict>& votes);

} // namespace hone::evaluate
