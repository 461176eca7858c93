// Secrets of things that are not skills. The same data keys seal them, so that every rotation reaches them too.
#include "base/log.h"
#include "secret/context.h"
#include "secret/vault.h"

namespace hone::secret {

namespace {

constexpr int64_t kept_per_step = 50;

} // namespace

Result<> Vault::keep(sql::Transaction& transaction, const Scope& scope, const std::string& owner_id,
                     const std::string& name, const SecretBytes& value) const {
    if (value.empty()) return invalid(name + " must not be empty");
    if (value.size() > largest_secret)
        return too_large(name + " must be at most " + std::to_string(largest_secret) + " bytes long");
    const int64_t version = TRY(current_version(transaction, scope));
    const SecretBytes key = TRY(data_key(transaction, scope.text(), version));
    const sql::Blob sealed{crypto::seal(key, context_of_kept(scope.text(), owner_id, name, version), value.reveal())};
    TRY(transaction.execute(
        "INSERT INTO kept_secrets (owner_id, name, scope, space_id, key_version, sealed, set_at) VALUES "
        "(?,?,?,?,?,?,?) "
        "ON CONFLICT (owner_id, name) DO UPDATE SET key_version = excluded.key_version, sealed = excluded.sealed, "
        "set_at = excluded.set_at",
        owner_id, name, scope.text(), scope.space, version, sealed, m_clock.now()));
    return {};
}

Result<> Vault::forget(sql::Transaction& transaction, const std::string& owner_id) const {
    TRY(transaction.execute("DELETE FROM kept_secrets WHERE owner_id = ?", owner_id));
    return {};
}

Result<> Vault::forget(sql::Transaction& transaction, const std::string& owner_id, const std::string& name) const {
    TRY(transaction.execute("DELETE FROM kept_secrets WHERE owner_id = ? AND name = ?", owner_id, name));
    return {};
}

Result<std::vector<std::string>> Vault::kept_names(sql::Transaction& transaction, const std::string& owner_id) const {
    std::vector<std::string> names;
    for (const auto& row :
         TRY(transaction.query("SELECT name FROM kept_secrets WHERE owner_id = ? ORDER BY name LIMIT 1000", owner_id)))
        names.push_back(row.text(0));
    return names;
}

Result<SecretBytes> Vault::reveal(const Scope& scope, const std::string& owner_id, const std::string& name,
                                  std::string_view purpose) const {
    auto value = m_database.read([&](sql::Transaction& transaction) -> Result<SecretBytes> {
        const auto rows = TRY(transaction.query(
            "SELECT key_version, sealed FROM kept_secrets WHERE owner_id = ? AND name = ? AND scope = ?", owner_id,
            name, scope.text()));
        if (rows.empty()) return not_found(name + " of " + owner_id);
        const int64_t version = rows.front().integer(0);
        const SecretBytes key = TRY(data_key(transaction, scope.text(), version));
        return crypto::unseal(key, context_of_kept(scope.text(), owner_id, name, version), rows.front().blob(1));
    });
    log(Level::debug, "secret opened",
        {{"owner", owner_id},
         {"name", name},
         {"purpose", purpose},
         {"outcome", value.ok() ? "ok" : value.error().message}});
    return value;
}

Result<bool> Vault::reseal_some_kept(sql::Transaction& transaction, const std::string& scope, int64_t& count) const {
    count = 0;
    const auto newest =
        TRY(transaction.query("SELECT COALESCE(MAX(version), 0) FROM data_keys WHERE scope = ?", scope));
    const int64_t version = newest.front().integer(0);
    const auto rows =
        TRY(transaction.query("SELECT owner_id, name, key_version, sealed FROM kept_secrets WHERE scope = ? AND "
                              "key_version < ? ORDER BY owner_id, name LIMIT ?",
                              scope, version, kept_per_step));
    if (rows.empty()) return false;
    const SecretBytes new_key = TRY(data_key(transaction, scope, version));
    for (const auto& row : rows) {
        const SecretBytes old_key = TRY(data_key(transaction, scope, row.integer(2)));
        const SecretBytes value =
            TRY(crypto::unseal(old_key, context_of_kept(scope, row.text(0), row.text(1), row.integer(2)), row.blob(3)));
        const sql::Blob sealed{
            crypto::seal(new_key, context_of_kept(scope, row.text(0), row.text(1), version), value.reveal())};
        TRY(transaction.execute("UPDATE kept_secrets SET key_version = ?, sealed = ? WHERE owner_id = ? AND name = ?",
                                version, sealed, row.text(0), row.text(1)));
        ++count;
    }
    return true;
}

} // namespace hone::secret
