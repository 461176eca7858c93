// Rotation of master and data keys. Every step leaves a state in which each secret opens: a data key names the master
// key that wraps it, a secret names the data key that seals it, and a key goes only when nothing names it any more.
// What a crash leaves half done is finished by Vault::start.
#include "base/log.h"
#include "secret/context.h"
#include "secret/vault.h"

namespace hone::secret {

namespace {

constexpr int64_t secrets_per_step = 50;

} // namespace

Result<> Vault::start() {
    const auto rows = TRY(m_database.query("SELECT DISTINCT master_key_id FROM data_keys"));
    bool others = false;
    const auto prepared = m_keys.prepared_id();
    bool prepared_is_used = false;
    for (const auto& row : rows) {
        const std::string& id = row.text(0);
        if (!m_keys.has(id))
            return unavailable("secrets are encrypted by the master key " + id + ", but the given one is " +
                               m_keys.current_id() +
                               ": put the right key back, or give the one before in HONE_MASTER_KEY_OLD");
        if (prepared == id)
            prepared_is_used = true;
        else if (id != m_keys.current_id())
            others = true;
    }
    if (prepared_is_used) {
        TRY(m_keys.promote(*prepared));
        others = others || rows.size() > 1;
    } else {
        m_keys.discard_prepared();
    }
    if (others) {
        const std::string current = m_keys.current_id();
        TRY(m_database.write(
            [&](sql::Transaction& transaction) -> Result<int64_t> { return rewrap_all(transaction, current); }));
        log(Level::info, "data keys wrapped by the new master key", {{"master_key", current}});
    }
    m_keys.forget_others();
    // Two versions of a data key: a rotation was cut.
    const auto scopes = TRY(m_database.query("SELECT scope FROM data_keys GROUP BY scope HAVING COUNT(*) > 1"));
    for (const auto& row : scopes) TRY(reseal(row.text(0)));
    return {};
}

// --- master --------------------------------------------------------------------------------------------------------

Result<int64_t> Vault::rewrap_all(sql::Transaction& transaction, const std::string& master_key_id) const {
    const auto rows = TRY(transaction.query(
        "SELECT scope, version, master_key_id, sealed FROM data_keys WHERE master_key_id <> ?", master_key_id));
    for (const auto& row : rows) {
        const std::string context = context_of_data_key(row.text(0), row.integer(1));
        const SecretBytes key = TRY(m_keys.unseal(row.text(2), context, row.blob(3)));
        const std::string sealed = TRY(m_keys.seal(master_key_id, context, key));
        TRY(transaction.execute("UPDATE data_keys SET master_key_id = ?, sealed = ? WHERE scope = ? AND version = ?",
                                master_key_id, sql::Blob{sealed}, row.text(0), row.integer(1)));
    }
    return static_cast<int64_t>(rows.size());
}

Result<Rotation> Vault::rotate_master(const access::Caller& caller) {
    TRY(caller.require(access::Permission::secret_rotate));
    const Lock lock(m_rotating);
    const std::string old = m_keys.current_id();
    const std::string next = TRY(m_keys.prepare());
    reach("prepared");
    const int64_t count = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<int64_t> {
        const int64_t wrapped = TRY(rewrap_all(transaction, next));
        TRY(m_audit.record(transaction, caller,
                           {"master_key_rotate",
                            {},
                            "installation",
                            {{"old_master_key", old}, {"new_master_key", next}, {"data_keys", wrapped}}}));
        return wrapped;
    }));
    reach("wrapped");
    TRY(m_keys.promote(next));
    reach("promoted");
    // A data key that was made between the two, by the key of before.
    const int64_t late = TRY(m_database.write(
        [&](sql::Transaction& transaction) -> Result<int64_t> { return rewrap_all(transaction, next); }));
    m_keys.forget_others();
    return Rotation{"master", next, count + late, 0};
}

// --- data ----------------------------------------------------------------------------------------------------------

// The next few secrets that an older data key seals; false when there are none left.
Result<bool> Vault::reseal_some(sql::Transaction& transaction, const std::string& scope, int64_t& count) const {
    count = 0;
    const auto newest =
        TRY(transaction.query("SELECT COALESCE(MAX(version), 0) FROM data_keys WHERE scope = ?", scope));
    const int64_t version = newest.front().integer(0);
    const auto rows =
        TRY(transaction.query("SELECT id, skill_id, name, key_version, sealed FROM secrets WHERE scope = ? "
                              "AND key_version < ? ORDER BY id LIMIT ?",
                              scope, version, secrets_per_step));
    if (rows.empty()) return false;
    const SecretBytes new_key = TRY(data_key(transaction, scope, version));
    for (const auto& row : rows) {
        const SecretBytes old_key = TRY(data_key(transaction, scope, row.integer(3)));
        const SecretBytes value = TRY(
            crypto::unseal(old_key, context_of_secret(scope, row.text(1), row.text(2), row.integer(3)), row.blob(4)));
        const sql::Blob sealed{
            crypto::seal(new_key, context_of_secret(scope, row.text(1), row.text(2), version), value.reveal())};
        TRY(transaction.execute("UPDATE secrets SET key_version = ?, sealed = ? WHERE id = ?", version, sealed,
                                row.text(0)));
        ++count;
    }
    return true;
}

Result<int64_t> Vault::reseal(const std::string& scope) const {
    int64_t total = 0;
    for (bool more = true; more;) {
        int64_t count = 0;
        more = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<bool> {
            if (TRY(reseal_some(transaction, scope, count))) return true;
            return reseal_some_kept(transaction, scope, count);
        }));
        total += count;
        reach("resealed some");
    }
    TRY(drop_unused_data_keys(scope));
    return total;
}

Result<> Vault::drop_unused_data_keys(const std::string& scope) const {
    TRY(m_database.execute(
        "DELETE FROM data_keys WHERE scope = ? AND version < (SELECT MAX(version) FROM data_keys WHERE scope = ?) AND "
        "NOT EXISTS (SELECT 1 FROM secrets WHERE secrets.scope = data_keys.scope AND secrets.key_version = "
        "data_keys.version) AND NOT EXISTS (SELECT 1 FROM kept_secrets WHERE kept_secrets.scope = data_keys.scope AND "
        "kept_secrets.key_version = data_keys.version)",
        scope, scope));
    return {};
}

Result<Rotation> Vault::rotate_data(const access::Caller& caller, const std::optional<Scope>& scope) {
    TRY(caller.require(access::Permission::secret_rotate));
    const Lock lock(m_rotating);
    std::vector<Scope> scopes;
    const auto rows = TRY(m_database.query("SELECT DISTINCT scope, space_id FROM data_keys ORDER BY scope"));
    for (const auto& row : rows) {
        const Scope each{row.optional_id<access::SpaceTag>(1)};
        if (!scope || *scope == each) scopes.push_back(each);
    }
    Rotation done{"data", m_keys.current_id(), 0, 0};
    for (const Scope& each : scopes) {
        TRY(m_database.write([&](sql::Transaction& transaction) -> Result<int64_t> {
            const int64_t version = TRY(current_version(transaction, each));
            TRY(m_audit.record(transaction, caller,
                               {"data_key_rotate", each.space, each.text(), {{"version", version + 1}}}));
            return add_data_key(transaction, each, version + 1);
        }));
        reach("data key added");
        done.secrets += TRY(reseal(each.text()));
        ++done.data_keys;
        reach("old data key gone");
    }
    return done;
}

Result<EncryptionState> Vault::key_state(const access::Caller& caller) const {
    TRY(caller.require(access::Permission::secret_rotate));
    const auto keys = TRY(m_database.query("SELECT COUNT(*), MIN(created_at) FROM data_keys"));
    const auto secrets =
        TRY(m_database.query("SELECT (SELECT COUNT(*) FROM secrets) + (SELECT COUNT(*) FROM kept_secrets)"));
    return EncryptionState{m_keys.current_id(), std::string(name_of(m_keys.source())), keys.front().integer(0),
                           secrets.front().integer(0), keys.front().optional_time(1)};
}

} // namespace hone::secret
