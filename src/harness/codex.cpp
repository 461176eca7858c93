// Codex through its app-server: JSON-RPC lines, a thread per session, turns that can be steered and interrupted.
#include "harness/driver.h"
#include "harness/reading.h"
#include "harness/rpc.h"

#include <deque>
#include <fmt/format.h>

namespace hone::harness {

namespace {

// A TOML basic string.
std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            out += fmt::format("\\{}", c);
        else if (byte < 0x20 || byte == 0x7f)
            out += fmt::format("\\u{:04x}", byte);
        else
            out += c;
    }
    return out + "\"";
}

std::string config(const Setup& setup) {
    std::string text = "model_provider = \"hone\"\napproval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n"
                       "check_for_update_on_startup = false\n";
    // Its default lets the provider fetch live pages, which the model gateway rejects.
    text += "web_search = \"disabled\"\n";
    text += "model = " + quoted(setup.model) + "\n";
    if (!setup.system_prompt.empty()) text += "developer_instructions = " + quoted(setup.system_prompt) + "\n";
    text += "[model_providers.hone]\nname = \"hone\"\nbase_url = " + quoted(setup.gateway + "/openai/v1") +
            "\nenv_key = \"HONE_MODEL_KEY\"\nwire_api = \"responses\"\n"
            "request_max_retries = 4\nstream_max_retries = 5\nstream_idle_timeout_ms = 300000\n";
    text += "[mcp_servers.hone]\nurl = " + quoted(setup.gateway + "/mcp") + "\ntool_timeout_sec = 600\n";
    // Without these it clones from and reports to its maker at every start, and retries a dead model without a limit.
    text += "[analytics]\nenabled = false\n[features]\nplugins = false\napps = false\n"
            "unbounded_connection_retries = false\n";
    return text;
}

enum class CodexRequest { initialize, thread, turn, steer, interrupt };

class Codex final : public Driver {
public:
    Result<Launch> launch(const Setup& setup) override {
        if (setup.model.empty()) return invalid("codex needs a model");
        m_workspace = setup.workspace;
        m_resume = setup.resume;
        m_harness_session = setup.resume;
        const std::string home = setup.home + "/codex";
        Launch launch;
        launch.argv = {setup.program, "app-server"};
        launch.env = {{"CODEX_HOME", home}, {"HONE_MODEL_KEY", setup.placeholder_key}};
        launch.files.push_back({home + "/config.toml", config(setup)});
        launch.files.push_back({home + "/AGENTS.md", setup.context});
        for (const Setup::SkillFolder& skill : setup.skills)
            launch.folders.push_back({home + "/skills/" + skill.name, skill.path});
        return launch;
    }

    void begin(Output& output) override {
        output.input +=
            m_rpc.request(CodexRequest::initialize, "initialize",
                          {{"clientInfo", json::Object{{"name", "hone"}, {"title", "Hone"}, {"version", "1"}}}});
    }

    void send(std::string_view text, Output& output) override {
        if (!m_turn.empty()) {
            output.input +=
                m_rpc.request(CodexRequest::steer, "turn/steer",
                              {{"threadId", m_harness_session}, {"expectedTurnId", m_turn}, {"input", input(text)}});
            return;
        }
        open_turn();
        m_waiting.emplace_back(text);
        start_waiting_turn(output);
    }

    void interrupt(Output& output) override {
        if (!m_turn.empty())
            output.input += m_rpc.request(CodexRequest::interrupt, "turn/interrupt",
                                          {{"threadId", m_harness_session}, {"turnId", m_turn}});
    }

    void read(std::string_view bytes, Output& output) override {
        const auto responded = [&](const json::Value& id, const json::Object& message) {
            read_response(id, message, output);
        };
        const auto requested = [&](const json::Value& id, const std::string&, const json::Object&) {
            output.input += m_rpc.refuse(id);
        };
        const auto notified = [&](const std::string& method, const json::Object& params) {
            read_notice(method, params, output);
        };
        m_lines.add(bytes, [&](std::string_view text) { read_message(text, output, responded, requested, notified); });
    }

    void close(Output& output) override { output.close_input = true; }
    void end(Exit exit, Output& output) override { end_turns(exit, output); }

private:
    static json::Array input(std::string_view text) { return {json::Object{{"type", "text"}, {"text", text}}}; }

    void start_waiting_turn(Output& output) {
        if (!m_ready || m_starting || m_waiting.empty()) return;
        m_starting = true;
        output.input += m_rpc.request(CodexRequest::turn, "turn/start",
                                      {{"threadId", m_harness_session}, {"input", input(m_waiting.front())}});
        m_waiting.pop_front();
    }

    void read_response(const json::Value& id, const json::Object& message, Output& output) {
        const auto purpose = m_rpc.take_purpose(id);
        if (!purpose) return;
        if (member(message, "error") != nullptr) return read_refusal(*purpose, message, output);
        const json::Object& result = object_at(message, "result");
        switch (*purpose) {
        case CodexRequest::initialize: {
            output.input += m_rpc.notify("initialized");
            json::Object thread{{"cwd", m_workspace}, {"approvalPolicy", "never"}, {"sandbox", "danger-full-access"}};
            if (!m_resume.empty()) thread["threadId"] = m_resume;
            output.input +=
                m_rpc.request(CodexRequest::thread, m_resume.empty() ? "thread/start" : "thread/resume", thread);
            break;
        }
        case CodexRequest::thread:
            m_harness_session = text_at(object_at(result, "thread"), "id");
            m_ready = true;
            start_waiting_turn(output);
            break;
        case CodexRequest::turn:
            m_turn = text_at(object_at(result, "turn"), "id");
            break;
        case CodexRequest::steer:
        case CodexRequest::interrupt:
            break;
        }
    }

    void read_refusal(CodexRequest purpose, const json::Object& message, Output& output) {
        output.events.push_back(
            {.kind = EventKind::error, .text = text_at(object_at(message, "error"), "message"), .failed = true});
        // A steer that came too late is no failure of the turn; without a thread or a turn there is nothing to wait
        // for.
        if (purpose == CodexRequest::steer || purpose == CodexRequest::interrupt) return;
        m_starting = false;
        close_turn(false);
        output.events.push_back({.kind = EventKind::result, .text = "Codex did not start.", .failed = true});
        if (purpose != CodexRequest::turn) output.close_input = true;
    }

    void read_notice(const std::string& method, const json::Object& params, Output& output) {
        if (method == "item/started") read_item(object_at(params, "item"), false, output);
        if (method == "item/completed") read_item(object_at(params, "item"), true, output);
        if (method == "thread/tokenUsage/updated") read_usage(params, output);
        if (method == "turn/completed") read_turn_end(object_at(params, "turn"), output);
        if (method == "error") {
            const std::string message = text_at(object_at(params, "error"), "message");
            output.events.push_back({.kind = true_at(params, "willRetry") ? EventKind::status : EventKind::error,
                                     .text = message.empty() ? text_at(params, "message") : message,
                                     .failed = !true_at(params, "willRetry")});
        }
        if (method == "mcpServer/startupStatus/updated" && text_at(params, "status") == "failed")
            output.events.push_back({.kind = EventKind::error,
                                     .text = "The tool server " + text_at(params, "name") + " did not respond.",
                                     .failed = true});
    }

    void read_item(const json::Object& item, bool completed, Output& output) {
        const std::string type = text_at(item, "type");
        const std::string id = text_at(item, "id");
        if (type == "agentMessage" && completed)
            output.events.push_back({.kind = EventKind::message, .text = text_at(item, "text")});
        if (type == "reasoning" && completed) read_reasoning(item, output);
        if (type == "commandExecution") read_command(item, id, completed, output);
        if (type == "mcpToolCall") read_tool(item, id, completed, output);
        if (type == "fileChange") read_change(item, id, completed, output);
    }

    static void read_reasoning(const json::Object& item, Output& output) {
        std::string text = text_at(item, "text");
        for (const std::string_view key : {"summary", "content"})
            for (const json::Value& part : array_at(item, key)) {
                if (!text.empty()) text += '\n';
                text += part.is_string() ? std::string(part.get_string())
                                         : (part.is_object() ? text_at(part.get_object(), "text") : std::string());
            }
        if (!text.empty()) output.events.push_back({.kind = EventKind::thinking, .text = std::move(text)});
    }

    static void read_command(const json::Object& item, const std::string& id, bool completed, Output& output) {
        if (!completed) {
            output.events.push_back({.kind = EventKind::tool_call,
                                     .tool = "shell",
                                     .call_id = id,
                                     .input = json::print(json::Object{{"command", text_at(item, "command")}})});
            return;
        }
        const json::Value* code = member(item, "exitCode");
        const bool failed = code == nullptr || !code->is_int64() || code->get_int64() != 0;
        output.events.push_back({.kind = EventKind::tool_result,
                                 .text = text_at(item, "aggregatedOutput"),
                                 .tool = "shell",
                                 .call_id = id,
                                 .failed = failed});
    }

    static void read_tool(const json::Object& item, const std::string& id, bool completed, Output& output) {
        const std::string tool = text_at(item, "server") + "." + text_at(item, "tool");
        if (!completed) {
            output.events.push_back(
                {.kind = EventKind::tool_call, .tool = tool, .call_id = id, .input = shown_at(item, "arguments")});
            return;
        }
        const std::string error = text_at(object_at(item, "error"), "message");
        const json::Value* content = member(object_at(item, "result"), "content");
        output.events.push_back({.kind = EventKind::tool_result,
                                 .text = error.empty() && content != nullptr ? joined_text(*content) : error,
                                 .tool = tool,
                                 .call_id = id,
                                 .failed = text_at(item, "status") != "completed"});
    }

    static void read_change(const json::Object& item, const std::string& id, bool completed, Output& output) {
        if (!completed)
            output.events.push_back({.kind = EventKind::tool_call,
                                     .tool = "edit",
                                     .call_id = id,
                                     .input = json::print(json::Object{{"changes", array_at(item, "changes")}})});
        else
            output.events.push_back({.kind = EventKind::tool_result,
                                     .tool = "edit",
                                     .call_id = id,
                                     .failed = text_at(item, "status") != "completed"});
    }

    // `last` is one request; `inputTokens` includes what the cache held, `outputTokens` the reasoning.
    static void read_usage(const json::Object& params, Output& output) {
        const json::Object& last = object_at(object_at(params, "tokenUsage"), "last");
        const int64_t cached = integer_at(last, "cachedInputTokens");
        const int64_t written = integer_at(last, "cacheWriteInputTokens");
        const int64_t reasoning = integer_at(last, "reasoningOutputTokens");
        Usage usage{.input = std::max<int64_t>(0, integer_at(last, "inputTokens") - cached - written),
                    .cache_read = cached,
                    .cache_write = written,
                    .output = std::max<int64_t>(0, integer_at(last, "outputTokens") - reasoning),
                    .reasoning = reasoning};
        output.events.push_back({.kind = EventKind::usage, .usage = usage});
    }

    void read_turn_end(const json::Object& turn, Output& output) {
        const std::string status = text_at(turn, "status");
        std::string text = text_at(object_at(turn, "error"), "message");
        const json::Array& items = array_at(turn, "items");
        if (text.empty() && !items.empty() && items.back().is_object())
            text = text_at(items.back().get_object(), "text");
        const bool succeeded = status == "completed";
        if (text.empty() && !succeeded) text = "The turn ended: " + status + ".";
        output.events.push_back({.kind = EventKind::result, .text = std::move(text), .failed = !succeeded});
        m_turn.clear();
        m_starting = false;
        close_turn(succeeded);
        start_waiting_turn(output);
    }

    Rpc<CodexRequest> m_rpc;
    Lines m_lines;
    std::string m_workspace;
    std::string m_resume;
    std::string m_turn;                // the running turn's id
    std::deque<std::string> m_waiting; // prompts that could not start a turn yet
    bool m_ready = false;
    bool m_starting = false; // a turn was requested and is not over
};

} // namespace

std::unique_ptr<Driver> make_codex() {
    return std::make_unique<Codex>();
}

} // namespace hone::harness
