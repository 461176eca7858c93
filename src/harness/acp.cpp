// Agents that speak the Agent Client Protocol over stdio: OpenCode, Gemini CLI, Qwen Code, GitHub Copilot CLI. One turn
// at a time; a prompt during a turn waits for its end. What differs between them is how they start and get their model.
#include "harness/catalog.h"
#include "harness/driver.h"
#include "harness/reading.h"
#include "harness/rpc.h"

#include <deque>
#include <map>

namespace hone::harness {

namespace {

enum class AcpRequest { initialize, session, prompt, quiet };

// Settings that win over those in the workspace, where repositories and earlier turns may have put some.
const std::string system_settings = "/hone/settings.json";

void launch_opencode(const Setup& setup, Launch& launch) {
    const bool anthropic = setup.model_protocol == "anthropic";
    const json::Object options{{"baseURL", setup.gateway + (anthropic ? "/anthropic/v1" : "/openai/v1")},
                               {"apiKey", setup.placeholder_key}};
    const json::Object provider{{"npm", anthropic ? "@ai-sdk/anthropic" : "@ai-sdk/openai-compatible"},
                                {"name", "Hone"},
                                {"options", options},
                                {"models", json::Object{{setup.model, json::Object{{"name", setup.model}}}}}};
    json::Object config{{"model", "hone/" + setup.model},
                        {"small_model", "hone/" + setup.model},
                        {"autoupdate", false},
                        {"share", "disabled"},
                        {"enabled_providers", json::Array{"hone"}},
                        {"provider", json::Object{{"hone", provider}}},
                        {"permission", json::Object{{"*", "allow"}}},
                        {"instructions", json::Array{"/hone/AGENTS.md"}}};
    launch.argv = {setup.program, "acp"};
    launch.env = {{"OPENCODE_CONFIG_CONTENT", json::print(config)},
                  {"OPENCODE_DISABLE_MODELS_FETCH", "1"},
                  {"OPENCODE_DISABLE_AUTOUPDATE", "1"},
                  {"OPENCODE_DISABLE_LSP_DOWNLOAD", "1"},
                  {"OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"},
                  {"XDG_DATA_HOME", setup.home + "/opencode"}};
    launch.files.push_back({"/hone/AGENTS.md", setup.system_prompt + "\n\n" + setup.context});
    for (const Setup::SkillFolder& skill : setup.skills)
        launch.folders.push_back({setup.home + "/.config/opencode/skills/" + skill.name, skill.path});
}

// Resumed within the minute in which its conversation began, Gemini CLI would take the same name for a new file and so
// empty it before it reads it. It finds a conversation under any name.
constexpr std::string_view keep_gemini_chats = R"(for file in "$HOME"/.gemini/tmp/*/chats/session-*.jsonl; do
    kept=${file%-kept.jsonl}
    kept=${kept%.jsonl}-kept.jsonl
    [ ! -e "$file" ] || [ -e "$kept" ] || mv "$file" "$kept"
done
exec "$@")";

void launch_gemini(const Setup& setup, Launch& launch) {
    const json::Object settings{{"security", json::Object{{"auth", json::Object{{"selectedType", "gemini-api-key"}}},
                                                          {"folderTrust", json::Object{{"enabled", false}}}}},
                                {"general", json::Object{{"enableAutoUpdate", false}, {"maxAttempts", 3}}},
                                {"privacy", json::Object{{"usageStatisticsEnabled", false}}},
                                {"telemetry", json::Object{{"enabled", false}}},
                                {"hooksConfig", json::Object{{"enabled", false}}},
                                {"context", json::Object{{"fileName", json::Array{"GEMINI.md", "AGENTS.md"}}}}};
    launch.argv = {setup.node, setup.program, "--acp", "--yolo", "-m", setup.model, "--allowed-mcp-server-names=hone"};
    if (!setup.resume.empty()) {
        const std::string_view shell[] = {"/bin/sh", "-c", keep_gemini_chats, "sh"};
        launch.argv.insert(launch.argv.begin(), std::begin(shell), std::end(shell));
    }
    launch.env = {{"GEMINI_CLI_NO_RELAUNCH", "true"},
                  {"GEMINI_API_KEY", setup.placeholder_key},
                  {"GOOGLE_GEMINI_BASE_URL", setup.gateway + "/gemini"}};
    // Not as settings of the system: those it takes from root only, whom a sandbox does not have.
    launch.files.push_back({setup.home + "/.gemini/settings.json", json::print(settings)});
    launch.files.push_back({setup.home + "/.gemini/GEMINI.md", setup.system_prompt + "\n\n" + setup.context});
    for (const Setup::SkillFolder& skill : setup.skills)
        launch.folders.push_back({setup.home + "/.gemini/skills/" + skill.name, skill.path});
}

void launch_qwen(const Setup& setup, Launch& launch) {
    const json::Object settings{
        {"security", json::Object{{"auth", json::Object{{"selectedType", "openai"}}}}},
        {"general", json::Object{{"enableAutoUpdate", false}}},
        {"privacy", json::Object{{"usageStatisticsEnabled", false}}},
        {"telemetry", json::Object{{"enabled", false}}},
        // A suggestion is never shown; the next message cuts its call, which is then counted in full.
        {"ui", json::Object{{"enableFollowupSuggestions", false}}},
        {"disableAllHooks", true},
        {"mcp", json::Object{{"allowed", json::Array{"hone"}}}},
        {"tools", json::Object{{"toolSearch", json::Object{{"enabled", false}}}}},
        {"memory", json::Object{{"enableManagedAutoMemory", false}}}};
    // The entry script would start this as a child that outlives it.
    launch.argv = {setup.node, "--expose-gc", setup.program, "--acp", "--yolo", "-m", setup.model};
    launch.env = {{"QWEN_CODE_SUPPRESS_YOLO_WARNING", "1"},
                  {"QWEN_CODE_LEGACY_MCP_BLOCKING", "1"}, // the first turn shall have its tools
                  {"QWEN_CODE_SYSTEM_SETTINGS_PATH", system_settings},
                  {"OPENAI_API_KEY", setup.placeholder_key},
                  {"OPENAI_BASE_URL", setup.gateway + "/openai/v1"},
                  {"QWEN_HOME", setup.home + "/.qwen"}};
    launch.files.push_back({system_settings, json::print(settings)});
    launch.files.push_back({setup.home + "/.qwen/QWEN.md", setup.system_prompt + "\n\n" + setup.context});
    for (const Setup::SkillFolder& skill : setup.skills)
        launch.folders.push_back({setup.home + "/.qwen/skills/" + skill.name, skill.path});
}

// Offline: it talks to no server of GitHub, needs no account, and sends no telemetry; its model is the gateway.
void launch_copilot(const Setup& setup, Launch& launch) {
    const bool anthropic = setup.model_protocol == "anthropic";
    const std::string home = setup.home + "/.copilot";
    launch.argv = {setup.program, "--acp",   "--yolo",    "--no-ask-user", "--no-color", "--no-auto-update",
                   "--no-remote", "--model", setup.model, "--log-level",   "error",      "--disable-builtin-mcps"};
    launch.env = {{"COPILOT_OFFLINE", "true"},
                  {"COPILOT_AUTO_UPDATE", "false"},
                  {"COPILOT_HOME", home},
                  {"COPILOT_PKG_CACHE_HOME", std::string(copilot_unpacked)},
                  {"COPILOT_MODEL", setup.model},
                  {"COPILOT_PROVIDER_TYPE", anthropic ? "anthropic" : "openai"},
                  {"COPILOT_PROVIDER_BASE_URL", setup.gateway + (anthropic ? "/anthropic" : "/openai/v1")},
                  {"COPILOT_PROVIDER_API_KEY", setup.placeholder_key}};
    // A repository's hooks do not run.
    const json::Object settings{{"disableAllHooks", true}, {"ide", json::Object{{"autoConnect", false}}}};
    launch.files.push_back({home + "/settings.json", json::print(settings)});
    launch.files.push_back({home + "/copilot-instructions.md", setup.system_prompt + "\n\n" + setup.context});
    for (const Setup::SkillFolder& skill : setup.skills)
        launch.folders.push_back({home + "/skills/" + skill.name, skill.path});
}

class Acp final : public Driver {
public:
    explicit Acp(std::string flavour) : m_flavour(std::move(flavour)) {}

    Result<Launch> launch(const Setup& setup) override {
        if (setup.model.empty()) return invalid(m_flavour + " needs a model");
        m_workspace = setup.workspace;
        m_mcp = setup.gateway + "/mcp";
        m_resume = setup.resume;
        m_harness_session = setup.resume;
        Launch launch;
        if (m_flavour == "opencode") launch_opencode(setup, launch);
        if (m_flavour == "gemini") launch_gemini(setup, launch);
        if (m_flavour == "qwen") launch_qwen(setup, launch);
        if (m_flavour == "copilot") launch_copilot(setup, launch);
        launch.env.emplace_back("HOME", setup.home);
        return launch;
    }

    void begin(Output& output) override {
        const json::Object files{{"readTextFile", false}, {"writeTextFile", false}};
        output.input += m_rpc.request(
            AcpRequest::initialize, "initialize",
            {{"protocolVersion", 1}, {"clientCapabilities", json::Object{{"fs", files}, {"terminal", false}}}});
    }

    void send(std::string_view text, Output& output) override {
        open_turn();
        m_waiting.emplace_back(text);
        start_waiting_turn(output);
    }

    void interrupt(Output& output) override {
        if (m_prompting) output.input += m_rpc.notify("session/cancel", {{"sessionId", m_harness_session}});
    }

    void read(std::string_view bytes, Output& output) override {
        const auto responded = [&](const json::Value& id, const json::Object& message) {
            read_response(id, message, output);
        };
        const auto requested = [&](const json::Value& id, const std::string& method, const json::Object& params) {
            read_request(id, method, params, output);
        };
        const auto notified = [&](const std::string& method, const json::Object& params) {
            if (method == "session/update" && m_loading)
                m_repeated = true;
            else if (method == "session/update")
                read_update(object_at(params, "update"), output);
        };
        m_lines.add(bytes, [&](std::string_view text) { read_message(text, output, responded, requested, notified); });
    }

    void close(Output& output) override { output.close_input = true; }

    void end(Exit exit, Output& output) override {
        flush(output);
        end_turns(exit, output);
    }

private:
    struct Call {
        std::string tool;
        std::string input;
        bool reported = false;
    };

    void start_waiting_turn(Output& output) {
        if (!m_ready || m_prompting || m_waiting.empty()) return;
        m_prompting = true;
        const json::Array prompt{json::Object{{"type", "text"}, {"text", m_waiting.front()}}};
        m_waiting.pop_front();
        output.input +=
            m_rpc.request(AcpRequest::prompt, "session/prompt", {{"sessionId", m_harness_session}, {"prompt", prompt}});
    }

    void read_response(const json::Value& id, const json::Object& message, Output& output) {
        const auto purpose = m_rpc.take_purpose(id);
        if (!purpose) return;
        if (*purpose == AcpRequest::quiet) return await_quiet(output);
        if (member(message, "error") != nullptr) return read_refusal(*purpose, message, output);
        const json::Object& result = object_at(message, "result");
        switch (*purpose) {
        case AcpRequest::initialize:
            ask_session(output);
            break;
        case AcpRequest::session:
            // Only a new one is named: after a restart of the server the same responses are read by a driver that
            // resumes what was begun then.
            if (const std::string begun = text_at(result, "sessionId"); !begun.empty()) {
                m_harness_session = begun;
                m_loading = false;
            }
            m_repeated = m_loading && m_flavour == "gemini";
            await_quiet(output);
            break;
        case AcpRequest::prompt:
            read_turn_end(result, output);
            break;
        case AcpRequest::quiet: // above
            break;
        }
    }

    // Gemini CLI reports a session as loaded while it still repeats its history. It is done when a request, which
    // it only has to refuse, gets its response with nothing in between.
    void await_quiet(Output& output) {
        if (std::exchange(m_repeated, false)) {
            output.input += m_rpc.request(AcpRequest::quiet, "_hone/quiet", {});
            return;
        }
        m_ready = true;
        m_loading = false;
        start_waiting_turn(output);
    }

    void ask_session(Output& output) {
        const json::Object server{{"type", "http"}, {"name", "hone"}, {"url", m_mcp}, {"headers", json::Array{}}};
        json::Object params{{"cwd", m_workspace}, {"mcpServers", json::Array{server}}};
        if (!m_resume.empty()) params["sessionId"] = m_resume;
        // A loaded session repeats its history as updates; they are in the transcript already.
        m_loading = !m_resume.empty();
        output.input += m_rpc.request(AcpRequest::session, m_resume.empty() ? "session/new" : "session/load", params);
    }

    void read_refusal(AcpRequest purpose, const json::Object& message, Output& output) {
        flush(output);
        const json::Object& error = object_at(message, "error");
        std::string text = text_at(error, "message");
        if (const std::string data = shown_at(error, "data"); !data.empty()) text += ": " + data;
        // Killed before it stored its conversation: what follows goes to a new one.
        if (purpose == AcpRequest::session && !m_resume.empty()) {
            output.events.push_back({.kind = EventKind::status,
                                     .text = "The agent kept nothing of the conversation (" + text +
                                             "). It continues in the same workspace with a new one."});
            m_resume.clear();
            return ask_session(output);
        }
        output.events.push_back({.kind = EventKind::error, .text = text, .failed = true});
        output.events.push_back({.kind = EventKind::result, .text = std::move(text), .failed = true});
        m_prompting = false;
        close_turn(false);
        if (purpose == AcpRequest::prompt)
            start_waiting_turn(output);
        else
            output.close_input = true;
    }

    // Everything is allowed inside the sandbox: the sandbox is the limit.
    void read_request(const json::Value& id, const std::string& method, const json::Object& params, Output& output) {
        if (method != "session/request_permission") {
            output.input += m_rpc.refuse(id);
            return;
        }
        std::string chosen;
        for (const json::Value& value : array_at(params, "options")) {
            if (!value.is_object()) continue;
            const std::string kind = text_at(value.get_object(), "kind");
            if (kind == "allow_always" || (kind == "allow_once" && chosen.empty()))
                chosen = text_at(value.get_object(), "optionId");
        }
        const json::Object outcome = chosen.empty() ? json::Object{{"outcome", "cancelled"}}
                                                    : json::Object{{"outcome", "selected"}, {"optionId", chosen}};
        output.input += m_rpc.respond(id, {{"outcome", outcome}});
    }

    void read_update(const json::Object& update, Output& output) {
        const std::string type = text_at(update, "sessionUpdate");
        if (type == "agent_message_chunk") return add_chunk(EventKind::message, update, output);
        if (type == "agent_thought_chunk") return add_chunk(EventKind::thinking, update, output);
        if (type == "tool_call" || type == "tool_call_update") {
            flush(output);
            read_tool(update, output);
        }
    }

    // Chunks of one message are joined until something else happens.
    void add_chunk(EventKind kind, const json::Object& update, Output& output) {
        const std::string message = text_at(update, "messageId");
        if (!m_chunks.text.empty() && (m_chunks.kind != kind || m_chunks_of != message)) flush(output);
        m_chunks.kind = kind;
        m_chunks_of = message;
        if (const json::Value* content = member(update, "content"); content != nullptr && content->is_object())
            m_chunks.text += text_at(content->get_object(), "text");
    }

    void flush(Output& output) {
        if (!m_chunks.text.empty()) output.events.push_back(std::exchange(m_chunks, Event{}));
    }

    // A call is reported when it runs, because agents fill in title and arguments late.
    void read_tool(const json::Object& update, Output& output) {
        const std::string id = text_at(update, "toolCallId");
        const std::string status = text_at(update, "status");
        if (m_calls.size() > 1000) m_calls.erase(m_calls.begin());
        Call& call = m_calls[id];
        // The title of a command is the command itself.
        if (const std::string title = text_at(update, "title"); !title.empty() && call.tool.empty())
            call.tool = text_at(update, "kind") == "execute" ? "shell" : tool_name(title);
        if (const std::string input = shown_at(update, "rawInput"); !input.empty() && input != "{}") call.input = input;
        const json::Value* content = member(update, "content");
        const std::string text = content != nullptr ? joined_text(*content) : std::string();
        if (!call.reported && status != "pending") {
            call.reported = true;
            if (call.input.empty()) call.input = json::print(json::Object{{"title", text_at(update, "title")}});
            output.events.push_back(
                {.kind = EventKind::tool_call, .tool = call.tool, .call_id = id, .input = call.input});
        }
        if (status != "completed" && status != "failed") return;
        output.events.push_back({.kind = EventKind::tool_result,
                                 .text = text,
                                 .tool = call.tool,
                                 .call_id = id,
                                 .failed = status == "failed"});
        m_calls.erase(id);
    }

    void read_turn_end(const json::Object& result, Output& output) {
        const std::string said = m_chunks.kind == EventKind::message ? m_chunks.text : std::string();
        flush(output);
        read_usage(result, output);
        const std::string reason = text_at(result, "stopReason");
        const bool succeeded = reason == "end_turn";
        output.events.push_back({.kind = EventKind::result,
                                 .text = succeeded ? said : "The turn ended: " + reason + ".",
                                 .failed = !succeeded});
        m_prompting = false;
        close_turn(succeeded);
        start_waiting_turn(output);
    }

    // Copilot counts from the start of its process, with the cache in the input and the thoughts in the output.
    Usage copilot_usage(const json::Object& numbers) {
        const int64_t read = integer_at(numbers, "cachedReadTokens"), thought = integer_at(numbers, "thoughtTokens");
        const int64_t written = integer_at(numbers, "cachedWriteTokens");
        const Usage total{.input = integer_at(numbers, "inputTokens") - read - written,
                          .cache_read = read,
                          .cache_write = written,
                          .output = integer_at(numbers, "outputTokens") - thought,
                          .reasoning = thought};
        const Usage before = std::exchange(m_total, total);
        return {.input = total.input - before.input,
                .cache_read = total.cache_read - before.cache_read,
                .cache_write = total.cache_write - before.cache_write,
                .output = total.output - before.output,
                .reasoning = total.reasoning - before.reasoning};
    }

    void read_usage(const json::Object& result, Output& output) {
        Usage usage;
        if (m_flavour == "copilot") {
            usage = copilot_usage(object_at(result, "usage"));
        } else if (member(result, "usage") != nullptr) { // OpenCode: `inputTokens` is without the cache
            const json::Object& numbers = object_at(result, "usage");
            usage = {.input = integer_at(numbers, "inputTokens"),
                     .cache_read = integer_at(numbers, "cachedReadTokens"),
                     .cache_write = integer_at(numbers, "cachedWriteTokens"),
                     .output = integer_at(numbers, "outputTokens"),
                     .reasoning = integer_at(numbers, "thoughtTokens")};
        } else {
            const json::Object& count = object_at(object_at(object_at(result, "_meta"), "quota"), "token_count");
            usage = {.input = integer_at(count, "input_tokens"), .output = integer_at(count, "output_tokens")};
        }
        if (usage != Usage{}) output.events.push_back({.kind = EventKind::usage, .usage = usage});
    }

    std::string m_flavour;
    Usage m_total; // of Copilot, so far
    Rpc<AcpRequest> m_rpc;
    Lines m_lines;
    std::string m_workspace;
    std::string m_mcp;
    std::string m_resume;
    std::deque<std::string> m_waiting;
    std::map<std::string, Call> m_calls;
    Event m_chunks;
    std::string m_chunks_of;
    bool m_ready = false;
    bool m_loading = false;
    bool m_repeated = false; // since the last request to be quiet
    bool m_prompting = false;
};

} // namespace

std::unique_ptr<Driver> make_acp(std::string flavour) {
    return std::make_unique<Acp>(std::move(flavour));
}

} // namespace hone::harness
