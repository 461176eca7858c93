#include "secret/vault.h"

#include "base/log.h"
#include "secret/context.h"

namespace hone::secret {

namespace {

constexpr size_t most_unwritten_uses = 256;
constexpr std::string_view select_secret =
    "SELECT id, space_id, skill_id, name, created_by, created_at, set_at, last_used_at FROM secrets";

SecretInfo info_of(const sql::Row& row) {
    return {row.id<SecretTag>(0), Scope{row.optional_id<access::SpaceTag>(1)},
            row.text(2),          row.text(3),
            row.text(4),          row.time(5),
            row.time(6),          row.optional_time(7)};
}

} // namespace

Vault::~Vault() {
    if (auto flushed = flush_used(); !flushed.ok())
        log(Level::warning, "use of secrets not recorded", {{"why", flushed.error().message}});
}

Result<bool> Vault::has_data_keys(sql::Database& database) {
    return !TRY(database.query("SELECT 1 FROM data_keys LIMIT 1")).empty();
}

// --- keys ----------------------------------------------------------------------------------------------------------

Result<SecretBytes> Vault::data_key(sql::Transaction& transaction, const std::string& scope, int64_t version) const {
    const auto rows = TRY(transaction.query(
        "SELECT master_key_id, sealed FROM data_keys WHERE scope = ? AND version = ?", scope, version));
    if (rows.empty()) return corrupt("a secret's data key is missing");
    const std::string id = rows.front().text(0);
    // Another server on the same database may have changed the master key.
    if (!m_keys.has(id)) TRY(m_keys.refresh());
    auto key = m_keys.unseal(id, context_of_data_key(scope, version), rows.front().blob(1));
    if (!key.ok() && key.error().code == Code::not_found)
        return unavailable("secrets are encrypted by the master key " + id + ", which this server does not have");
    return key;
}

Result<int64_t> Vault::add_data_key(sql::Transaction& transaction, const Scope& scope, int64_t version) const {
    const SecretBytes key = crypto::random_secret(crypto::sealing_key_bytes);
    const std::string id = m_keys.current_id();
    const std::string sealed = TRY(m_keys.seal(id, context_of_data_key(scope.text(), version), key));
    TRY(transaction.execute("INSERT INTO data_keys (scope, version, space_id, master_key_id, sealed, created_at) "
                            "VALUES (?,?,?,?,?,?)",
                            scope.text(), version, scope.space, id, sql::Blob{sealed}, m_clock.now()));
    return version;
}

Result<int64_t> Vault::current_version(sql::Transaction& transaction, const Scope& scope) const {
    const auto rows =
        TRY(transaction.query("SELECT COALESCE(MAX(version), 0) FROM data_keys WHERE scope = ?", scope.text()));
    const int64_t newest = rows.front().integer(0);
    if (newest > 0) return newest;
    return add_data_key(transaction, scope, 1);
}

// --- secrets -------------------------------------------------------------------------------------------------------

Result<SecretInfo> Vault::set(sql::Transaction& transaction, const access::Caller& caller, const Scope& scope,
                              const std::string& skill_id, const std::string& name, const SecretBytes& value) const {
    if (value.empty()) return invalid(name + " must not be empty; delete the secret instead");
    if (value.size() > largest_secret)
        return too_large(name + " must be at most " + std::to_string(largest_secret) + " bytes long");
    const int64_t version = TRY(current_version(transaction, scope));
    const SecretBytes key = TRY(data_key(transaction, scope.text(), version));
    const sql::Blob sealed{crypto::seal(key, context_of_secret(scope.text(), skill_id, name, version), value.reveal())};
    const Time now = m_clock.now();
    TRY(transaction.execute(
        "INSERT INTO secrets (id, scope, space_id, skill_id, name, key_version, sealed, created_by, created_at, "
        "set_at) "
        "VALUES (?,?,?,?,?,?,?,?,?,?) ON CONFLICT (skill_id, name) DO UPDATE SET key_version = excluded.key_version, "
        "sealed = excluded.sealed, set_at = excluded.set_at, last_used_at = NULL",
        make_id<SecretTag>(m_clock), scope.text(), scope.space, skill_id, name, version, sealed, caller.actor(), now,
        now));
    const auto rows =
        TRY(transaction.query(std::string(select_secret) + " WHERE skill_id = ? AND name = ?", skill_id, name));
    return info_of(rows.front());
}

Result<bool> Vault::remove(sql::Transaction& transaction, const std::string& skill_id, const std::string& name) const {
    return TRY(transaction.execute("DELETE FROM secrets WHERE skill_id = ? AND name = ?", skill_id, name)) > 0;
}

Result<> Vault::remove_all(sql::Transaction& transaction, const std::string& skill_id) const {
    TRY(transaction.execute("DELETE FROM secrets WHERE skill_id = ?", skill_id));
    return {};
}

Result<std::vector<std::string>> Vault::names_of(sql::Transaction& transaction, const std::string& skill_id) const {
    const auto rows = TRY(transaction.query("SELECT name FROM secrets WHERE skill_id = ?", skill_id));
    std::vector<std::string> names;
    for (const auto& row : rows) names.push_back(row.text(0));
    return names;
}

Result<SecretCounts> Vault::counts(Time old_before, Time unused_before) const {
    const auto rows = TRY(m_database.query(
        "SELECT COUNT(*), COUNT(CASE WHEN set_at < ? THEN 1 END), COUNT(CASE WHEN COALESCE(last_used_at, set_at) < ? "
        "THEN 1 END) FROM secrets",
        old_before, unused_before));
    return SecretCounts{rows.front().integer(0), rows.front().integer(1), rows.front().integer(2)};
}

Result<std::vector<SecretInfo>> Vault::list(const std::string& condition, std::span<const sql::Value> values) const {
    const auto rows =
        TRY(m_database.run_query(std::string(select_secret) + condition + " ORDER BY id LIMIT 1000", values));
    std::vector<SecretInfo> all;
    for (const auto& row : rows) all.push_back(info_of(row));
    return all;
}

Result<std::vector<SecretInfo>> Vault::of_skill(const std::string& skill_id) const {
    const std::vector<sql::Value> values{sql::to_value(skill_id)};
    return list(" WHERE skill_id = ?", values);
}

Result<std::vector<SecretInfo>> Vault::all() const {
    return list("", {});
}

Result<SecretBytes> Vault::open(const access::SpaceId& space, const std::string& secret_id, std::string_view purpose) {
    auto value = m_database.read([&](sql::Transaction& transaction) -> Result<SecretBytes> {
        const auto rows = TRY(transaction.query(
            "SELECT scope, skill_id, name, key_version, sealed, space_id FROM secrets WHERE id = ?", secret_id));
        if (rows.empty()) return not_found("secret " + secret_id);
        const auto row = rows.front();
        const auto owner = row.optional_id<access::SpaceTag>(5);
        const bool is_allowed =
            owner ? *owner == space : m_shares != nullptr && TRY(m_shares->is_shared(transaction, row.text(1), space));
        if (!is_allowed) return not_found("secret " + secret_id);
        const SecretBytes key = TRY(data_key(transaction, row.text(0), row.integer(3)));
        return crypto::unseal(key, context_of_secret(row.text(0), row.text(1), row.text(2), row.integer(3)),
                              row.blob(4));
    });
    log(Level::debug, "secret opened",
        {{"secret", secret_id}, {"purpose", purpose}, {"outcome", value.ok() ? "ok" : value.error().message}});
    if (!value.ok()) return value;
    bool full = false;
    {
        const Lock lock(m_mutex);
        m_used[secret_id] = m_clock.now();
        full = m_used.size() >= most_unwritten_uses;
    }
    if (full) TRY(flush_used());
    return value;
}

Result<> Vault::flush_used() {
    std::map<std::string, Time> used;
    {
        const Lock lock(m_mutex);
        used.swap(m_used);
    }
    if (used.empty()) return {};
    auto written = m_database.write([&](sql::Transaction& transaction) -> Result<> {
        for (const auto& [id, time] : used)
            TRY(transaction.execute(
                "UPDATE secrets SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)", time,
                id, time));
        return {};
    });
    if (written.ok()) return {};
    const Lock lock(m_mutex);
    m_used.merge(used); // newer ones stay
    return written;
}

} // namespace hone::secret
