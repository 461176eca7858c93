// A pack for an engineer's own coding agent: instructions about Hone where the agent reads skills, and Hone's MCP
// server in its configuration. Pure; no secret is in it: the key stays in the environment.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace hone::cli {

enum class LocalAgent { claude, codex, cursor };

enum class Merge {
    replace, // the file is ours
    json,    // our server is added to `mcpServers` of what is there
    toml,    // our table is appended once
};

struct PackFile {
    std::string path; // below the project's folder
    std::string content;
    Merge merge = Merge::replace;
};

std::vector<PackFile> agent_pack(LocalAgent agent, const std::string& server_url);

// The file as it becomes; `existing` is empty when there is none.
Result<std::string> merged(const PackFile& file, const std::string& existing);

} // namespace hone::cli
