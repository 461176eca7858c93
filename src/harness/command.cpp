// Any executable as a harness: the prompt is its standard input, as whole lines, then the input ends; what it prints is
// its result, line by line, or Claude-style JSON events. Its exit code decides. One process per turn.
#include "harness/claude_stream.h"
#include "harness/driver.h"
#include "harness/reading.h"

#include <fmt/format.h>

namespace hone::harness {

namespace {

class Command final : public Driver {
public:
    Result<Launch> launch(const Setup& setup) override {
        if (setup.program.empty()) return invalid("the command harness needs a command");
        m_harness_session = setup.session;
        Launch launch;
        launch.argv = {setup.program};
        launch.argv.insert(launch.argv.end(), setup.arguments.begin(), setup.arguments.end());
        launch.env = {{"HOME", setup.home},
                      {"HONE_SESSION", setup.session},
                      {"HONE_RESUMED", setup.resume.empty() ? "0" : "1"},
                      {"HONE_MODEL", setup.model},
                      {"HONE_SYSTEM_PROMPT_FILE", "/hone/system_prompt.md"},
                      {"HONE_CONTEXT_FILE", "/hone/AGENTS.md"},
                      {"HONE_GATEWAY", setup.gateway},
                      {"HONE_MCP_URL", setup.gateway + "/mcp"},
                      {"ANTHROPIC_BASE_URL", setup.gateway + "/anthropic"},
                      {"ANTHROPIC_API_KEY", setup.placeholder_key},
                      {"OPENAI_BASE_URL", setup.gateway + "/openai/v1"},
                      {"OPENAI_API_KEY", setup.placeholder_key},
                      {"GOOGLE_GEMINI_BASE_URL", setup.gateway + "/gemini"},
                      {"GEMINI_API_KEY", setup.placeholder_key}};
        launch.files.push_back({"/hone/system_prompt.md", setup.system_prompt});
        launch.files.push_back({"/hone/AGENTS.md", setup.context});
        for (const Setup::SkillFolder& skill : setup.skills)
            launch.folders.push_back({"/hone/skills/" + skill.name, skill.path});
        return launch;
    }

    void begin(Output&) override {}

    void send(std::string_view text, Output& output) override {
        open_turn();
        output.input += text;
        if (!text.ends_with('\n')) output.input += '\n'; // a shell's `read` takes a last line without an end for none
        output.close_input = true;
    }

    void interrupt(Output&) override {}

    void read(std::string_view bytes, Output& output) override {
        m_lines.add(bytes, [&](std::string_view line) { read_line(line, output); });
    }

    void close(Output& output) override { output.close_input = true; }

    void end(Exit exit, Output& output) override {
        if (const std::string rest = m_lines.rest(); !rest.empty()) read_line(rest, output);
        if (!busy()) return;
        const bool succeeded = exit.code == 0 && !exit.by_signal && !m_said_failed;
        if (!m_said_result || !succeeded)
            output.events.push_back({.kind = EventKind::result,
                                     .text = succeeded
                                                 ? m_last_text
                                                 : fmt::format("The command ended with {} {}.",
                                                               exit.by_signal ? "signal" : "exit code", exit.code),
                                     .failed = !succeeded});
        m_turns_open = 0;
        m_succeeded = succeeded;
    }

private:
    void read_line(std::string_view line, Output& output) {
        if (line.starts_with('{'))
            if (const auto object = read_object(line); object && !text_at(*object, "type").empty()) {
                const ClaudeStream::Turn turn = m_stream.read(*object, output.events);
                if (turn != ClaudeStream::Turn::open) m_said_result = true;
                if (turn == ClaudeStream::Turn::failed) m_said_failed = true;
                return;
            }
        m_last_text = line;
        output.events.push_back({.kind = EventKind::message, .text = std::string(line)});
    }

    Lines m_lines;
    ClaudeStream m_stream;
    std::string m_last_text;
    bool m_said_result = false;
    bool m_said_failed = false;
};

} // namespace

std::unique_ptr<Driver> make_command() {
    return std::make_unique<Command>();
}

} // namespace hone::harness
