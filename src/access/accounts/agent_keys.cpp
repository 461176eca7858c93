#include "access/accounts/agent_keys.h"

#include "sql/columns.h"

namespace hone::access {

namespace {

constexpr std::string_view agent_start = "honemcp_"; // not hone_: an API key has another form

} // namespace

bool is_agent_token(std::string_view token) {
    return token.starts_with(agent_start);
}

Result<std::string> create_agent_key(sql::Transaction& transaction, const Clock& clock, const NewAgentKey& wanted) {
    const auto ended = [] { return unauthorized("the grant of this agent has ended"); };
    const auto user = TRY(transaction.query("SELECT 1 FROM users u WHERE u.id = ? AND u.disabled = 0 AND "
                                            "(u.installation_owner = 1 OR EXISTS (SELECT 1 FROM members m WHERE "
                                            "m.user_id = u.id AND m.space_id = ?))",
                                            wanted.user, wanted.space));
    if (user.empty()) return ended();
    const auto revoked =
        TRY(transaction.query("SELECT 1 FROM api_keys WHERE grant_id = ? AND revoked_at IS NOT NULL", wanted.grant));
    if (!revoked.empty()) return ended();
    TRY(end_agent_key(transaction, wanted.grant));
    std::string scopes;
    for (const std::string& scope : wanted.scopes) scopes += (scopes.empty() ? "" : " ") + scope;
    const std::string token = std::string(agent_start) + crypto::random_token();
    TRY(transaction.execute("INSERT INTO api_keys (id, space_id, user_id, name, role, scopes, prefix, key_hash, "
                            "created_by, created_at, expires_at, grant_id) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
                            make_id<KeyTag>(clock), wanted.space, wanted.user, wanted.name, nullptr, scopes,
                            token.substr(0, agent_start.size() + 6), to_hex(crypto::hash(token)), wanted.user,
                            wanted.created_at, wanted.expires_at, wanted.grant));
    return token;
}

Result<> end_agent_key(sql::Transaction& transaction, const std::string& grant) {
    TRY(transaction.execute("DELETE FROM api_keys WHERE grant_id = ?", grant));
    return {};
}

Result<AgentCaller> authenticate_agent(sql::Database& database, const Clock& clock, std::string_view token,
                                       std::string peer, std::string request_id) {
    const auto wrong = [] { return unauthorized("the token is unknown, expired or revoked"); };
    if (!is_agent_token(token) || token.size() != agent_start.size() + 43) return wrong();
    const auto rows = TRY(database.query(
        "SELECT k.id, k.name, k.space_id, k.scopes, k.grant_id, u.id, u.installation_owner, m.role, r.name, "
        "r.permissions FROM api_keys k JOIN users u ON u.id = k.user_id LEFT JOIN members m ON m.user_id = u.id AND "
        "m.space_id = k.space_id LEFT JOIN custom_roles r ON r.id = m.custom_role WHERE "
        "k.key_hash = ? AND k.grant_id IS NOT NULL AND k.revoked_at IS NULL AND k.expires_at > ? AND u.disabled = 0",
        to_hex(crypto::hash(token)), clock.now()));
    if (rows.empty()) return wrong();
    const sql::Row row = rows.front();
    std::vector<std::string> scopes;
    for (const std::string_view scope : split(row.text(3), ' ')) scopes.emplace_back(scope);
    const auto scope = scope_of(scopes);
    if (!scope.ok()) return wrong(); // a scope that this build does not know: fail closed
    AgentCaller found;
    Caller& caller = found.caller;
    caller.kind = CallerKind::key;
    caller.key = row.id<KeyTag>(0);
    caller.name = row.text(1);
    caller.user = row.id<UserTag>(5);
    caller.scope = scope.value();
    found.grant = row.text(4);
    const auto role = row.is_null(7) ? std::nullopt : held_role_of(row, 7, 8, 9);
    // The rights of an installation owner beyond the space stay with the person.
    if (row.flag(6))
        caller.roles.emplace(row.id<SpaceTag>(2), Role::owner);
    else if (role)
        caller.roles.emplace(row.id<SpaceTag>(2), *role);
    else
        return wrong();
    caller.peer = std::move(peer);
    caller.request_id = std::move(request_id);
    TRY(database.execute(
        "UPDATE api_keys SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)", clock.now(),
        caller.key, clock.now() - std::chrono::minutes(1)));
    return found;
}

} // namespace hone::access
