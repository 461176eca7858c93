#include "cli/commands/skills/agent_pack.h"

#include "json/json.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::cli;

TEST_CASE("each agent gets a skill and the MCP server where it reads them, and no key") {
    for (const auto& [agent, skill, config] :
         {std::tuple{LocalAgent::claude, ".claude/skills/hone/SKILL.md", ".mcp.json"},
          std::tuple{LocalAgent::codex, ".agents/skills/hone/SKILL.md", ".codex/config.toml"},
          std::tuple{LocalAgent::cursor, ".cursor/skills/hone/SKILL.md", ".cursor/mcp.json"}}) {
        const auto files = agent_pack(agent, "https://hone.example.com");
        REQUIRE(files.size() == 2);
        CHECK(files[0].path == skill);
        CHECK(files[0].content.starts_with("---\nname: hone\ndescription: "));
        CHECK(files[1].path == config);
        CHECK(files[1].content.find("https://hone.example.com/mcp") != std::string::npos);
        CHECK(files[1].content.find("HONE_API_KEY") != std::string::npos);
    }
}

TEST_CASE("what an engineer has configured stays") {
    const PackFile servers = agent_pack(LocalAgent::claude, "https://h.example.com")[1];
    const auto joined = merged(servers, R"({"mcpServers":{"other":{"command":"x"}},"kept":true})");
    REQUIRE(joined.ok());
    const auto tree = json::parse(joined.value()).value();
    CHECK(tree.at("kept").as_bool());
    CHECK(tree.at("mcpServers").at("other").at("command") == "x");
    CHECK(tree.at("mcpServers").at("hone").at("url") == "https://h.example.com/mcp");
    CHECK(merged(servers, joined.value()).value() == joined.value());
    CHECK_FALSE(merged(servers, "{ // a comment\n}").ok());
    CHECK_FALSE(merged(servers, R"({"mcpServers":[]})").ok());
    const PackFile toml = agent_pack(LocalAgent::codex, "https://h.example.com")[1];
    const std::string both = merged(toml, "model = \"o3\"\n").value();
    CHECK(both == "model = \"o3\"\n\n" + toml.content);
    CHECK(merged(toml, both).value() == both);
}
