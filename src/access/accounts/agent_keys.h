// Tokens of outside agents: personal keys of the people who let them in, in one space and with few scopes. They have a
// form of their own, which only the MCP endpoint accepts: everywhere else they are unknown keys. Any thread.
#pragma once

#include "access/accounts/keys.h"

namespace hone::access {

struct NewAgentKey {
    std::string grant{};
    std::string name{}; // of the agent
    SpaceId space{};
    UserId user{};
    std::vector<std::string> scopes{};
    Time created_at{};
    Time expires_at{};
};

// The token itself. In a transaction of others. A grant has one: an older one ends. unauthorized when its user is
// disabled or no longer a member, or when a person revoked the older one.
Result<std::string> create_agent_key(sql::Transaction& transaction, const Clock& clock, const NewAgentKey& wanted);
Result<> end_agent_key(sql::Transaction& transaction, const std::string& grant);

bool is_agent_token(std::string_view token);

struct AgentCaller {
    Caller caller;
    std::string grant;
};
// unauthorized when it is unknown, expired or revoked, or its user is disabled or no longer a member.
Result<AgentCaller> authenticate_agent(sql::Database& database, const Clock& clock, std::string_view token,
                                       std::string peer, std::string request_id);

} // namespace hone::access
