// The Model Context Protocol over streamable HTTP: what workers (with their run key) and outside agents (with an API
// key) can query and save. Stateless: no session, so a restart of the server is not noticed. Every reply has a byte
// budget and names what was left out.
#pragma once

#include "api/core/call.h"
#include "json/json.h"

#include <span>
#include <string_view>

namespace hone::api {

// A JSON-RPC error that belongs to no request in particular.
json::Object json_rpc_failure(int code, std::string_view message);

enum class ToolUser {
    outside,   // an agent or program with an API key
    worker,    // a run, with its own key: what it saves is reviewed
    evaluator, // a run that evaluates a document, which is untrusted text
};

// Who may use a tool: only those that are stated.
struct ToolUsers {
    bool outside = false;
    bool workers = false;
    bool evaluators = false;
    constexpr bool has(ToolUser user) const {
        return user == ToolUser::outside ? outside : user == ToolUser::worker ? workers : evaluators;
    }
};

// One tool: its arguments are a declared struct, its work is a plain function.
struct McpTool {
    std::string_view name;
    std::string_view description;
    ToolUsers users{};
    json::Value (*schema)();
    Result<json::Value> (*call)(const Call&, const json::Value& arguments);
};

std::span<const McpTool> mcp_tools();

} // namespace hone::api
