// Messages, tool calls and documents of a span, derived from its kept attributes and events in any convention. Made
// when a payload is read, not when it is stored, so that nothing is kept twice. Pure and bounded; any thread.
#pragma once

#include "base/fields.h"
#include "otlp/message.h"
#include "telemetry/media/message_media.h"

#include <optional>
#include <string>
#include <vector>

namespace hone::telemetry {

struct ToolCall {
    std::string id;
    std::string name;
    std::string arguments; // JSON text as the model wrote it

    static constexpr std::tuple fields{
        Field{"id", &ToolCall::id, "The call's id, which the tool's result repeats."},
        Field{"name", &ToolCall::name, "The tool."},
        Field{"arguments", &ToolCall::arguments, "JSON text as the model wrote it."},
    };
};

struct Message {
    std::string role; // system, user, assistant, tool, or the instrumentation's own word
    std::string content;
    std::string tool_call_id;
    std::vector<ToolCall> tool_calls;
    std::vector<MessageMedia> media = {};

    static constexpr std::tuple fields{
        Field{"role", &Message::role, "system, user, assistant, tool, or the instrumentation's own word."},
        Field{"content", &Message::content, "Text; parts are joined by line ends, media stand as [image]."},
        Field{"tool_call_id", &Message::tool_call_id, "The call that a tool's message responds to."},
        Field{"tool_calls", &Message::tool_calls, "Tool calls that the assistant requests."},
        Field{"media", &Message::media, "Images, sounds and files of the message, in the order of its parts."},
    };
};

struct Document {
    std::string id;
    std::string content;
    std::optional<double> score;
    std::string metadata;

    static constexpr std::tuple fields{
        Field{"id", &Document::id, "The document's id."},
        Field{"content", &Document::content, "Its text."},
        Field{"score", &Document::score, "Relevance as the retriever or reranker gave it."},
        Field{"metadata", &Document::metadata, "JSON text."},
    };
};

struct PromptTemplate {
    std::string text;
    std::string variables; // JSON text
    std::string version;

    static constexpr std::tuple fields{
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

    static constexpr std::tuple fields{
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
