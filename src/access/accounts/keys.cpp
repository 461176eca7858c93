#include "access/accounts/keys.h"

#include "access/names.h"
#include "sql/columns.h"

namespace hone::access {

namespace {

constexpr std::string_view key_start = "hone_";
constexpr Duration used_resolution = std::chrono::minutes(1);
// A run key reads the spans and evals of its project.
constexpr Permission run_key_scope = Permission::project_read;
// Takes the place of a revoked key's hash: no clock that is set back brings the key to life again.
constexpr std::string_view revoked_hash = "revoked ";

std::string join_scopes(const std::vector<std::string>& scopes) {
    std::string text;
    for (const auto& scope : scopes) text += (text.empty() ? "" : " ") + scope;
    return text;
}

std::vector<std::string> split_scopes(std::string_view text) {
    std::vector<std::string> scopes;
    for (const auto part : split(text, ' ')) scopes.emplace_back(part);
    return scopes;
}

constexpr Pack key_columns{
    sql::Column{"id", &Key::id},
    sql::Column{"name", &Key::name},
    sql::Column{"prefix", &Key::prefix},
    sql::Column{"space_id", &Key::space_id},
    sql::Column{"user_id", &Key::user_id},
    sql::Column{"role", &Key::role},
    sql::Column{"scopes", sql::Converted{[](Key& key, const sql::Row& row, size_t at) {
                    key.scopes = split_scopes(row.text(at));
                }}},
    sql::Column{"created_by", &Key::created_by},
    sql::Column{"created_at", &Key::created_at},
    sql::Column{"expires_at", &Key::expires_at},
    sql::Column{"last_used_at", &Key::last_used_at},
    sql::Column{"revoked_at", &Key::revoked_at},
    sql::Column{"key_hash", sql::Converted{[](Key& key, const sql::Row& row, size_t at) {
                    if (row.text(at).starts_with(revoked_hash)) key.state = KeyState::revoked;
                }}},
};

// Where a page of a list ends.
struct KeyPlace {
    int64_t last_used_ns = -1;
    std::string id;
};

Result<KeyPlace> key_place_of(const std::string& cursor, bool by_last_use) {
    if (!by_last_use || cursor.empty()) return KeyPlace{-1, cursor};
    const size_t at = cursor.find(' ');
    const auto time = parse_integer(cursor.substr(0, at));
    if (at == cursor.npos || !time.ok()) return invalid("cursor is not valid for this list");
    return KeyPlace{time.value(), cursor.substr(at + 1)};
}

std::string place_text(const Key& key, bool by_last_use) {
    return by_last_use ? std::to_string(key.last_used_at ? to_ns(*key.last_used_at) : 0) + " " + key.id.text()
                       : key.id.text();
}

std::string select_key() {
    return "SELECT " + sql::names(key_columns) + " FROM api_keys";
}

} // namespace

Result<PermissionSet> scope_of(const std::vector<std::string>& scopes) {
    if (scopes.empty()) return invalid("scopes must not be empty; use [\"all\"] or [\"read\"]");
    if (scopes.size() > 100) return invalid("scopes must not have more than 100 entries");
    PermissionSet set;
    for (const auto& scope : scopes) {
        if (scope == "all")
            set = set | permissions_of(Role::owner) | installation_permissions();
        else if (scope == "read")
            set = set | reading_permissions();
        else if (const auto permission = parse_enum<Permission>(scope))
            set.add(*permission);
        else
            return invalid("scopes: unknown permission \"" + std::string(truncate_utf8(scope, 60)) +
                           "\"; GET /v1/server lists them");
    }
    return set;
}

Key Keys::key_of(const sql::Row& row) const {
    Key key = sql::read<Key>(key_columns, row);
    key.kind = key.user_id ? KeyKind::personal : KeyKind::service;
    const Time now = m_clock.now();
    if (key.state == KeyState::revoked || (key.revoked_at && *key.revoked_at <= now))
        key.state = KeyState::revoked;
    else if (key.expires_at && *key.expires_at <= now)
        key.state = KeyState::expired;
    return key;
}

Result<Page<Key>> Keys::list(const Caller& caller, const std::optional<SpaceId>& space, const KeyFilter& filter,
                             const PageRequest& page) const {
    TRY(space ? caller.require(Permission::key_create, *space) : caller.require(Permission::user_manage));
    std::vector<sql::Value> values;
    const auto value = [&](const auto& one) { values.push_back(sql::to_value(one)); };
    std::string sql = "SELECT " + sql::names(key_columns) +
                      ", (SELECT s.name FROM spaces s WHERE s.id = space_id), "
                      "(SELECT u.email FROM users u WHERE u.id = user_id) FROM api_keys "
                      "WHERE id NOT IN (SELECT key_id FROM run_keys)";
    if (space) {
        sql += " AND space_id = ?";
        value(*space);
    }
    if (space && !caller.permissions_in(*space).has(Permission::key_manage)) {
        sql += " AND (user_id = ? OR id = ?)";
        value(caller.user);
        value(caller.key);
    }
    if (!filter.include_revoked) {
        sql += " AND (revoked_at IS NULL OR revoked_at > ?) AND key_hash NOT LIKE 'revoked %'";
        value(m_clock.now());
    }
    if (filter.unused_for) {
        sql += " AND COALESCE(last_used_at, created_at) < ?";
        value(m_clock.now() - *filter.unused_for);
    }
    const std::string cursor = TRY(page.after());
    const KeyPlace after = TRY(key_place_of(cursor, filter.by_last_use));
    if (filter.by_last_use) {
        sql += " AND (COALESCE(last_used_at, 0) > ? OR (COALESCE(last_used_at, 0) = ? AND id > ?))";
        value(after.last_used_ns);
        value(after.last_used_ns);
        value(after.id);
        sql += " ORDER BY COALESCE(last_used_at, 0), id LIMIT ?";
    } else {
        sql += " AND id > ? ORDER BY id LIMIT ?";
        value(after.id);
    }
    value(page.limit + 1);
    const auto rows = TRY(m_database.run_query(sql, values));
    std::vector<Key> keys;
    for (const auto& row : rows) {
        Key key = key_of(row);
        key.space_name = row.text(sql::width(key_columns));
        if (!row.is_null(sql::width(key_columns) + 1)) key.user_email = row.text(sql::width(key_columns) + 1);
        keys.push_back(std::move(key));
    }
    return make_page(std::move(keys), page, [&](const Key& key) { return place_text(key, filter.by_last_use); });
}

Result<Key> Keys::find(const KeyId& id) const {
    const auto rows = TRY(m_database.query(select_key() + " WHERE id = ?", id));
    if (rows.empty()) return not_found("key " + id.text());
    return key_of(rows.front());
}

// Gives the key a fresh id and secret, and stores it.
Result<Key> Keys::insert(sql::Transaction& transaction, const Caller& caller, Key key) const {
    const std::string secret = std::string(key_start) + crypto::random_token();
    key.id = make_id<KeyTag>(m_clock);
    key.prefix = secret.substr(0, key_start.size() + 6);
    key.created_by = caller.actor();
    key.created_at = m_clock.now();
    key.last_used_at.reset();
    key.revoked_at.reset();
    key.state = KeyState::active;
    key.key = secret;
    std::optional<std::string> role;
    if (key.role) role = name_of(*key.role);
    TRY(transaction.execute("INSERT INTO api_keys (id, space_id, user_id, name, role, scopes, prefix, key_hash, "
                            "created_by, created_at, expires_at) "
                            "VALUES (?,?,?,?,?,?,?,?,?,?,?)",
                            key.id, key.space_id, key.user_id, key.name, role, join_scopes(key.scopes), key.prefix,
                            to_hex(crypto::hash(secret)), key.created_by, key.created_at, key.expires_at));
    return key;
}

Result<Key> Keys::create(const Caller& caller, const SpaceId& space, const NewKey& wanted) {
    TRY(caller.require(Permission::key_create, space));
    Key key;
    key.name = TRY(checked_name("name", wanted.name));
    key.kind = wanted.kind;
    key.space_id = space;
    key.scopes = wanted.scopes;
    key.expires_at = wanted.expires_at;
    const PermissionSet scope = TRY(scope_of(wanted.scopes));
    if (key.expires_at && *key.expires_at <= m_clock.now()) return invalid("expires_at must be in the future");
    PermissionSet rights;
    if (wanted.kind == KeyKind::service) {
        TRY(caller.require(Permission::key_manage, space));
        if (!wanted.role) return invalid("role is missing: a service key has a role of its own");
        key.role = wanted.role;
        rights = permissions_of(*wanted.role) & scope;
        if (!caller.permissions_in(space).contains(rights))
            return forbidden("the key would have permissions that you do not have");
    } else {
        if (wanted.role) return invalid("role belongs to service keys; a personal key has the role of its user");
        if (caller.user.empty()) return forbidden("a service key cannot make personal keys; make a service key");
        key.user_id = caller.user;
        // A key that is limited itself cannot make one that is not.
        if (caller.kind == CallerKind::key && !caller.scope.contains(scope))
            return forbidden("the key would have permissions that you do not have");
    }
    TRY(require_not_outlived(caller, key.expires_at));
    return m_database.write([&](sql::Transaction& transaction) -> Result<Key> {
        Key made = TRY(insert(transaction, caller, key));
        TRY(m_audit.record(
            transaction, caller,
            {"key_create",
             space,
             made.id.text(),
             {{"name", made.name}, {"kind", name_of(made.kind)}, {"scopes", join_scopes(made.scopes)}}}));
        return made;
    });
}

Result<Key> Keys::create_for_run(const NewRunKey& wanted) {
    Key key;
    key.name = wanted.run;
    key.kind = wanted.user ? KeyKind::personal : KeyKind::service;
    key.space_id = wanted.space;
    key.user_id = wanted.user;
    if (!wanted.user) key.role = wanted.role.value_or(Role::viewer);
    key.scopes = {std::string(name_of(run_key_scope))};
    key.expires_at = wanted.expires_at;
    return m_database.write([&](sql::Transaction& transaction) -> Result<Key> {
        TRY(transaction.execute("DELETE FROM api_keys WHERE id IN (SELECT key_id FROM run_keys WHERE run_id = ?)",
                                wanted.run));
        Key made = TRY(insert(transaction, Caller::system(), key));
        std::string starter = wanted.key ? wanted.key->text() : "";
        if (starter.empty() && wanted.started_by_signal) starter = signal_principal;
        TRY(transaction.execute("INSERT INTO run_keys (key_id, run_id, project_id, starter) VALUES (?, ?, ?, ?)",
                                made.id, wanted.run, wanted.project, starter));
        TRY(m_audit.record(transaction, Caller::system(),
                           {"run_key_create", wanted.space, wanted.run, {{"project", wanted.project.text()}}}));
        return made;
    });
}

Result<> Keys::end_for_run(const std::string& run) {
    TRY(m_database.execute("DELETE FROM api_keys WHERE id IN (SELECT key_id FROM run_keys WHERE run_id = ?)", run));
    return {};
}

// A key cannot make itself a successor that lives longer.
Result<> Keys::require_not_outlived(const Caller& caller, const std::optional<Time>& expires_at) const {
    if (caller.kind != CallerKind::key) return {};
    const Key own = TRY(find(caller.key));
    if (own.revoked_at) return forbidden("this key was rotated; use its successor to make keys");
    if (own.expires_at && (!expires_at || *expires_at > *own.expires_at))
        return forbidden("the key would expire later than your key, which expires at " + to_text(*own.expires_at));
    return {};
}

Result<Key> Keys::manageable(const Caller& caller, const KeyId& id) const {
    if (caller.is_guest()) return unauthorized("log in, or send an API key as `Authorization: Bearer …`");
    auto found = find(id);
    if (!found.ok()) return found;
    const Key& key = found.value();
    if (!caller.role_in(key.space_id)) return not_found("key " + id.text());
    const bool own = (key.user_id && *key.user_id == caller.user) || key.id == caller.key;
    if (own) {
        TRY(caller.require(Permission::key_create, key.space_id));
        return found;
    }
    if (!caller.permissions_in(key.space_id).has(Permission::key_manage)) return not_found("key " + id.text());
    return found;
}

Result<Key> Keys::revoke(const Caller& caller, const KeyId& id) {
    Key key = TRY(manageable(caller, id));
    if (key.state == KeyState::revoked) return conflict("the key is revoked already");
    key.revoked_at = m_clock.now();
    key.state = KeyState::revoked;
    return m_database.write([&](sql::Transaction& transaction) -> Result<Key> {
        TRY(transaction.execute("UPDATE api_keys SET revoked_at = ?, key_hash = ? WHERE id = ?", key.revoked_at,
                                std::string(revoked_hash) + id.text(), id));
        TRY(m_audit.record(transaction, caller, {"key_revoke", key.space_id, id.text(), {{"name", key.name}}}));
        return key;
    });
}

Result<Key> Keys::rotate(const Caller& caller, const KeyId& id, Duration grace) {
    const Key old = TRY(manageable(caller, id));
    if (old.state != KeyState::active)
        return conflict("the key is " + std::string(name_of(old.state)) + "; create a new one");
    // The caller receives the new key, so it must not hold more than the caller; a user's own key never does.
    if (old.user_id && *old.user_id != caller.user)
        return forbidden("only its user can rotate a personal key; revoke it instead");
    const PermissionSet scope = TRY(scope_of(old.scopes));
    if (caller.kind == CallerKind::key && !caller.scope.contains(scope))
        return forbidden("the key would have permissions that you do not have");
    if (old.role && !caller.permissions_in(old.space_id).contains(permissions_of(*old.role) & scope))
        return forbidden("the key would have permissions that you do not have");
    TRY(require_not_outlived(caller, old.expires_at));
    return m_database.write([&](sql::Transaction& transaction) -> Result<Key> {
        // Once only: rotating again would let the old key outlive the end it was given.
        const int64_t ended = TRY(transaction.execute(
            "UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", m_clock.now() + grace, id));
        if (ended == 0) return conflict("the key was rotated or revoked already");
        if (grace <= Duration(0))
            TRY(transaction.execute("UPDATE api_keys SET key_hash = ? WHERE id = ?",
                                    std::string(revoked_hash) + id.text(), id));
        Key made = TRY(insert(transaction, caller, old));
        TRY(transaction.execute(
            "INSERT INTO bindings (project_id, principal, role, created_at) "
            "SELECT project_id, CAST(? AS TEXT), role, created_at FROM bindings WHERE principal = ?",
            made.id, id));
        TRY(m_audit.record(
            transaction, caller,
            {"key_rotate",
             old.space_id,
             id.text(),
             {{"name", old.name}, {"new_key", made.id.text()}, {"grace_seconds", grace.count() / 1'000'000'000}}}));
        return made;
    });
}

// The key of a run holds what its starter's key holds at this moment, not at the start. False: that key has ended.
Result<bool> Keys::limit_to_starter(Caller& caller, const std::string& starter) const {
    if (starter.empty()) return true;
    if (starter == signal_principal) {
        caller.acts_for = signal_principal;
        return true;
    }
    const auto rows = TRY(m_database.query(select_key() + " WHERE id = ?", starter));
    if (rows.empty()) return false;
    const Key key = key_of(rows.front());
    const auto scope = scope_of(key.scopes);
    if (key.state != KeyState::active || !scope.ok() || !caller.roles.contains(key.space_id)) return false;
    caller.scope = caller.scope & scope.value();
    if (!key.user_id) caller.acts_for = starter;
    return true;
}

Result<Caller> Keys::authenticate(std::string_view secret, std::string peer, std::string request_id) {
    const auto wrong = [] { return unauthorized("the API key is unknown, expired or revoked"); };
    if (!secret.starts_with(key_start) || secret.size() != key_start.size() + 43) return wrong();
    const auto rows = TRY(m_database.query(select_key() + " WHERE key_hash = ?", to_hex(crypto::hash(secret))));
    if (rows.empty()) return wrong();
    const Key key = key_of(rows.front());
    if (key.state != KeyState::active) return wrong();
    Caller caller;
    const auto bound =
        TRY(m_database.query("SELECT run_id, project_id, starter FROM run_keys WHERE key_id = ?", key.id));
    if (!bound.empty()) {
        caller.run = bound.front().text(0);
        caller.bound_project = bound.front().id<ProjectTag>(1);
    }
    caller.kind = CallerKind::key;
    caller.key = key.id;
    caller.name = key.name;
    auto scope = scope_of(key.scopes);
    if (!scope.ok()) return wrong(); // a scope that this build does not know: fail closed
    caller.scope = scope.value();
    if (key.user_id) {
        const auto user =
            TRY(m_database.query("SELECT u.disabled, u.installation_owner, m.role, r.name, r.permissions FROM users u "
                                 "LEFT JOIN members m ON m.user_id = u.id AND m.space_id = ? "
                                 "LEFT JOIN custom_roles r ON r.id = m.custom_role WHERE u.id = ?",
                                 key.space_id, *key.user_id));
        if (user.empty() || user.front().flag(0)) return wrong();
        caller.user = *key.user_id;
        caller.installation_owner = user.front().flag(1);
        const auto role = user.front().is_null(2) ? std::nullopt : held_role_of(user.front(), 2, 3, 4);
        if (caller.installation_owner)
            caller.roles.emplace(key.space_id, Role::owner);
        else if (role)
            caller.roles.emplace(key.space_id, *role);
        else
            return wrong();
    } else {
        if (!key.role) return wrong();
        caller.roles.emplace(key.space_id, *key.role);
    }
    if (!bound.empty() && !TRY(limit_to_starter(caller, bound.front().text(2)))) return wrong();
    caller.peer = std::move(peer);
    caller.request_id = std::move(request_id);
    const Time now = m_clock.now();
    if (!key.last_used_at || now - *key.last_used_at > used_resolution || *key.last_used_at > now)
        TRY(m_database.execute("UPDATE api_keys SET last_used_at = ? WHERE id = ?", now, key.id));
    return caller;
}

} // namespace hone::access
