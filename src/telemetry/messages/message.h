// A message of a chat, a call of a tool, a document, whatever convention they were sent in. Plain data.
#pragma once

#include "base/fields.h"

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

    static constexpr std::tuple fields{
        Field{"role", &Message::role, "system, user, assistant, tool, or the instrumentation's own word."},
        Field{"content", &Message::content, "Text; parts are joined by line ends, media stand as [image]."},
        Field{"tool_call_id", &Message::tool_call_id, "The call that a tool's message responds to."},
        Field{"tool_calls", &Message::tool_calls, "Tool calls that the assistant requests."},
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

} // namespace hone::telemetry
