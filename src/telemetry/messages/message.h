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

    static constexpr Pack fields{
        Field{"id", &ToolCall::id, "The call's id, which the tool's result repeats."},
        Field{"name", &ToolCall::name, "The tool."},
        Field{"arguments", &ToolCall::arguments, "JSON text as the model wrote it."},
    };
};

struct MessageMedia {
    std::string kind; // image, audio, video, file
    std::string mime;
    std::string source; // a data: or http address; empty when only the placeholder was recorded

    static constexpr Pack fields{
        Field{"kind", &MessageMedia::kind, "image, audio, video or file."},
        Field{"mime", &MessageMedia::mime, "Media type, such as image/png."},
        Field{"source", &MessageMedia::source, "A data: or http address; empty when it was not recorded."},
    };
};

struct Message {
    std::string role; // system, user, assistant, tool, or the instrumentation's own word
    std::string content;
    std::string tool_call_id;
    std::vector<ToolCall> tool_calls;
    std::vector<MessageMedia> media = {};

    static constexpr Pack fields{
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

    static constexpr Pack fields{
        Field{"id", &Document::id, "The document's id."},
        Field{"content", &Document::content, "Its text."},
        Field{"score", &Document::score, "Relevance as the retriever or reranker gave it."},
        Field{"metadata", &Document::metadata, "JSON text."},
    };
};

} // namespace hone::telemetry
