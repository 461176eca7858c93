// Messages, tool calls and documents of a span, derived from its kept attributes and events in any convention. Made
// when a payload is read, not when it is stored, so that nothing is kept twice. Pure and bounded; any thread.
#pragma once

#include "otlp/message.h"
#include "telemetry/messages/message.h"

#include <optional>
#include <string>
#include <vector>

namespace hone::telemetry {

struct PromptTemplate {
    std::string text;
    std::string variables; // JSON text
    std::string version;

    static constexpr Pack fields{
        Field{"text", &PromptTemplate::text, "The template."},
        Field{"variables", &PromptTemplate::variables, "JSON text."},
        Field{"version", &PromptTemplate::version, "The template's version."},
    };
};

struct Conversation {
    std::vector<Message> input;
    std::vector<Message> output;
    std::vector<Document> documents;
    std::vector<std::string> tools; // JSON schemas that were offered to the model
    std::optional<PromptTemplate> prompt_template;

    static constexpr Pack fields{
        Field{"input", &Conversation::input, "Messages sent to the model."},
        Field{"output", &Conversation::output, "Messages that the model returned."},
        Field{"documents", &Conversation::documents, "Documents retrieved or reranked."},
        Field{"tools", &Conversation::tools, "JSON schemas of the tools offered."},
        Field{"prompt_template", &Conversation::prompt_template, "Template of the prompt, if recorded."},
    };
};

Conversation derive_conversation(const otlp::Span& span);

// The messages as one text: a line "role: content" each, tool calls as name(arguments).
std::string render(const std::vector<Message>& messages);

} // namespace hone::telemetry
