// Claude Code: stream-json both ways. Events are one JSON object per line; a follow-up during a turn is folded into it.
#include "harness/claude_stream.h"
#include "harness/driver.h"
#include "harness/reading.h"

#include <fmt/format.h>

namespace hone::harness {

namespace {

std::string line(json::Object object) {
    return json::print(json::Value(std::move(object))) + "\n";
}

class ClaudeCode final : public Driver {
public:
    Result<Launch> launch(const Setup& setup) override {
        if (setup.model.empty()) return invalid("claude-code needs a model");
        // It names a new session itself: an id of ours would be "already in use" after a first turn that was killed.
        m_harness_session = setup.resume;
        const std::string config = setup.home + "/claude";
        Launch launch;
        launch.argv = {setup.program,
                       "-p",
                       "--output-format",
                       "stream-json",
                       "--verbose",
                       "--input-format",
                       "stream-json",
                       "--include-partial-messages",
                       "--model",
                       setup.model,
                       "--strict-mcp-config",
                       "--setting-sources",
                       "user",
                       "--dangerously-skip-permissions"};
        if (!setup.resume.empty()) {
            launch.argv.push_back("--resume");
            launch.argv.push_back(setup.resume);
        }
        if (!setup.system_prompt.empty()) {
            launch.argv.push_back("--append-system-prompt");
            launch.argv.push_back(setup.system_prompt);
        }
        // Last: it takes every argument that follows.
        launch.argv.push_back("--mcp-config");
        launch.argv.push_back("/hone/claude-mcp.json");
        launch.env = {{"IS_SANDBOX", "1"},
                      {"ANTHROPIC_BASE_URL", setup.gateway + "/anthropic"},
                      {"ANTHROPIC_API_KEY", setup.placeholder_key},
                      {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"},
                      {"DISABLE_AUTOUPDATER", "1"},
                      {"ENABLE_TOOL_SEARCH", "false"},
                      {"MCP_TOOL_TIMEOUT", "600000"},
                      {"CLAUDE_CONFIG_DIR", config}};
        json::Object server{{"type", "http"}, {"url", setup.gateway + "/mcp"}, {"timeout", 600000}};
        launch.files.push_back(
            {"/hone/claude-mcp.json", json::print(json::Object{{"mcpServers", json::Object{{"hone", server}}}})});
        // An empty settings file of ours lies over any that a worker may have written.
        launch.files.push_back({config + "/settings.json", "{}\n"});
        launch.files.push_back({config + "/CLAUDE.md", setup.context});
        for (const Setup::SkillFolder& skill : setup.skills)
            launch.folders.push_back({config + "/skills/" + skill.name, skill.path});
        return launch;
    }

    void begin(Output&) override {}

    void send(std::string_view text, Output& output) override {
        // A prompt during a turn joins it: one result is for both.
        if (!busy()) open_turn();
        output.input += line({{"type", "user"}, {"message", json::Object{{"role", "user"}, {"content", text}}}});
    }

    void interrupt(Output& output) override {
        output.input += line({{"type", "control_request"},
                              {"request_id", fmt::format("hone-{}", ++m_requests)},
                              {"request", json::Object{{"subtype", "interrupt"}}}});
    }

    void read(std::string_view bytes, Output& output) override {
        m_lines.add(bytes, [&](std::string_view text) {
            const auto object = read_object(text);
            if (!object) {
                output.events.push_back({.kind = EventKind::status, .text = std::string(text)});
                return;
            }
            const ClaudeStream::Turn turn = m_stream.read(*object, output.events);
            if (!m_stream.session().empty()) m_harness_session = m_stream.session();
            if (turn != ClaudeStream::Turn::open) close_turn(turn == ClaudeStream::Turn::succeeded);
        });
    }

    void close(Output& output) override { output.close_input = true; }

    void end(Exit exit, Output& output) override { end_turns(exit, output); }

private:
    Lines m_lines;
    ClaudeStream m_stream;
    int m_requests = 0;
};

} // namespace

std::unique_ptr<Driver> make_claude_code() {
    return std::make_unique<ClaudeCode>();
}

} // namespace hone::harness
