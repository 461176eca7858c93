#include "cli/commands/skills/skill_export.h"

#include "base/file.h"
#include "cli/commands/skills/agent_pack.h"
#include "cli/remote/view.h"
#include "cli/toolkit/scope.h"

#include <filesystem>

namespace hone::cli {

namespace {

Result<LocalAgent> agent_of(const Context& context) {
    const std::string name = context.value_or_empty("AGENT");
    if (name == "claude") return LocalAgent::claude;
    if (name == "codex") return LocalAgent::codex;
    if (name == "cursor") return LocalAgent::cursor;
    return context.usage("AGENT must be claude, codex or cursor");
}

// Nothing is written before everything can be.
Result<std::vector<PackFile>> whole_files(const Context& context, const std::string& folder) {
    std::vector<PackFile> files = agent_pack(TRY(agent_of(context)), context.remote.target().url);
    for (PackFile& file : files) {
        const auto existing = read_file(folder + "/" + file.path, 1 << 20);
        if (!existing.ok() && existing.error().code != Code::not_found) return existing.error();
        auto content = merged(file, existing.ok() ? existing.value() : "");
        if (!content.ok()) return context.fail(Exit::usage, content.error().message);
        file.content = std::move(content).value();
    }
    return files;
}

Result<> export_pack(Context& context) {
    const std::string folder = context.parsed.value("--to").value_or(".");
    json::Array written;
    for (const PackFile& file : TRY(whole_files(context, folder))) {
        const std::filesystem::path path = std::filesystem::path(folder) / file.path;
        TRY(make_directories(path.parent_path(), 0755));
        TRY(write_file(path, file.content, 0644));
        written.push_back(json::Value(path.string()));
    }
    if (context.json()) {
        print_json(context, json::Object{{"files", std::move(written)}});
        return {};
    }
    for (const json::Value& path : written) context.print("Wrote " + std::string(path.get_string()));
    context.print(
        "The agent reads its key from HONE_API_KEY. Make one that reads, labels and reports issues, and set it:");
    context.print("  hone key create my-agent --scope read --scope eval_write --scope issue_write");
    context.print("  export HONE_API_KEY=hone_…");
    return {};
}

} // namespace

Command skill_export_command() {
    return {.path = "skill export",
            .summary = "Write instructions and the MCP server of Hone for your own coding agent.",
            .arguments = {{.name = "AGENT", .doc = "Agent on your machine.", .choices = {"claude", "codex", "cursor"}}},
            .options = {{.name = "--to", .value = "FOLDER", .doc = "Folder of the project. Default: this one."}},
            .details = "claude: .claude/skills/hone/SKILL.md and .mcp.json; codex: .agents/skills/hone/SKILL.md and "
                       ".codex/config.toml; cursor: .cursor/skills/hone/SKILL.md and .cursor/mcp.json. What is there "
                       "stays; the server hone is added. No key is written.",
            .needs = Needs::server,
            .run = export_pack};
}

} // namespace hone::cli
