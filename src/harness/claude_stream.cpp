#include "harness/claude_stream.h"

#include "harness/reading.h"

#include <fmt/format.h>

namespace hone::harness {

namespace {

Usage read_usage(const json::Object& usage) {
    return {.input = integer_at(usage, "input_tokens"),
            .cache_read = integer_at(usage, "cache_read_input_tokens"),
            .cache_write = integer_at(usage, "cache_creation_input_tokens"),
            .output = integer_at(usage, "output_tokens")};
}

} // namespace

ClaudeStream::Turn ClaudeStream::read(const json::Object& event, std::vector<Event>& events) {
    if (const std::string session = text_at(event, "session_id"); !session.empty()) m_session = session;
    const std::string type = text_at(event, "type");
    if (type == "system") read_system(event, events);
    if (type == "assistant" || type == "user") read_blocks(event, events);
    if (type == "result") return read_result(event, events);
    return Turn::open;
}

void ClaudeStream::read_system(const json::Object& event, std::vector<Event>& events) {
    const std::string subtype = text_at(event, "subtype");
    if (subtype == "api_retry")
        events.push_back({.kind = EventKind::status,
                          .text = fmt::format("The model did not respond ({}); attempt {} of {} in {} ms.",
                                              shown_at(event, "error"), integer_at(event, "attempt"),
                                              integer_at(event, "max_retries"), integer_at(event, "retry_delay_ms"))});
    if (subtype != "init") return;
    // A server that is down does not stop the CLI: it continues without its tools, so report it, once.
    for (const json::Value& server : array_at(event, "mcp_servers")) {
        if (!server.is_object() || text_at(server.get_object(), "status") != "failed") continue;
        const std::string name = text_at(server.get_object(), "name");
        if (!m_servers_down.insert(name).second) continue;
        events.push_back(
            {.kind = EventKind::error, .text = "The tool server " + name + " did not respond.", .failed = true});
    }
}

void ClaudeStream::read_blocks(const json::Object& event, std::vector<Event>& events) {
    if (true_at(event, "isReplay")) return;
    const bool from_user = text_at(event, "type") == "user";
    for (const json::Value& value : array_at(object_at(event, "message"), "content")) {
        if (!value.is_object()) continue;
        const json::Object& block = value.get_object();
        const std::string type = text_at(block, "type");
        if (type == "text" && !from_user)
            events.push_back({.kind = EventKind::message, .text = text_at(block, "text")});
        if (type == "thinking") events.push_back({.kind = EventKind::thinking, .text = text_at(block, "thinking")});
        if (type == "tool_use")
            events.push_back({.kind = EventKind::tool_call,
                              .tool = tool_name(text_at(block, "name")),
                              .call_id = text_at(block, "id"),
                              .input = shown_at(block, "input")});
        if (type == "tool_result") {
            const json::Value* content = member(block, "content");
            events.push_back({.kind = EventKind::tool_result,
                              .text = content != nullptr ? joined_text(*content) : std::string(),
                              .call_id = text_at(block, "tool_use_id"),
                              .failed = true_at(block, "is_error")});
        }
    }
}

// `subtype: success` means only that the CLI got to the end; `is_error` is the outcome.
ClaudeStream::Turn ClaudeStream::read_result(const json::Object& event, std::vector<Event>& events) {
    const std::string subtype = text_at(event, "subtype");
    const bool failed = true_at(event, "is_error") || subtype != "success";
    if (const json::Value* usage = member(event, "usage"); usage != nullptr && usage->is_object())
        events.push_back({.kind = EventKind::usage, .usage = read_usage(usage->get_object())});
    std::string text = text_at(event, "result");
    if (failed && text.empty())
        for (const json::Value& error : array_at(event, "errors"))
            if (error.is_string()) text += (text.empty() ? "" : "\n") + std::string(error.get_string());
    if (failed && text.empty()) text = text_at(object_at(event, "error"), "message");
    if (failed && text.empty()) text = "The turn ended: " + subtype + ".";
    events.push_back({.kind = EventKind::result, .text = std::move(text), .failed = failed});
    return failed ? Turn::failed : Turn::succeeded;
}

} // namespace hone::harness
