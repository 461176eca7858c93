// The Model Context Protocol over streamable HTTP: what workers (with their run key) and outside agents (with an API
// key) can ask and leave. Stateless: no session, so a restart of the server is not noticed. Every reply has a byte
// budget and says what was left out.
#pragma once

#include "api/call.h"
#include "json/schema.h"

#include <span>
#include <string_view>

namespace hone::api {

// POST /mcp; notifications get 202.
Result<net::Response> talk_mcp(const Call&, const RawBody&);
// GET /mcp: we have nothing to say unasked.
Result<net::Response> refuse_mcp_stream(const Call&);
// DELETE /mcp: there is no session to end.
Result<NoContent> end_mcp(const Call&);

// An error of JSON-RPC that answers no request in particular.
json::Object json_rpc_failure(int code, std::string_view message);

// One tool: its arguments are a declared struct, its work is a plain function.
struct McpTool {
    std::string_view name;
    std::string_view description;
    bool for_runs_only = false; // needs a run key: it leaves something of a run
    json::Value (*schema)();
    Result<json::Value> (*call)(const Call&, const json::Value& arguments);
};

std::span<const McpTool> mcp_tools();

// A schema that every client understands: an object at the top, no references, no null alternatives.
json::Value plain_schema(json::Value schema);

// Makes a reply fit: long texts are cut first, then lists are shortened; both say how much is missing.
void fit(json::Value& reply, size_t bytes);

} // namespace hone::api
