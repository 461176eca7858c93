// The vault: every secret of the installation, sealed by the data key of its space, which is sealed by the master key.
// Values go in through `set` and come out through `open` only, which the broker alone calls; everything else sees
// names and times. Skills decide who may set what; the vault decides nothing but that a value stays where it belongs.
// Thread-safe.
#pragma once

#include "access/audit/audit.h"
#include "base/mutex.h"
#include "secret/master_keys.h"

#include <functional>

namespace hone::secret {

using crypto::SecretBytes;

struct SecretTag {
    static constexpr std::string_view kind = "sec";
};
using SecretId = Id<SecretTag>;

// Whose data key seals a secret: a space's, or the installation's.
struct Scope {
    std::optional<access::SpaceId> space{};
    std::string text() const { return space ? space->text() : "installation"; }
    friend bool operator==(const Scope&, const Scope&) = default;
};

// All that is ever shown of a secret.
struct SecretInfo {
    SecretId id;
    Scope scope;
    std::string skill_id;
    std::string name;
    std::string created_by;
    Time created_at{};
    Time set_at{};
    std::optional<Time> last_used_at;
};

struct Rotation {
    std::string what;       // master, data
    std::string master_key; // id of the current master key
    int64_t data_keys = 0;  // encrypted again, or created
    int64_t secrets = 0;    // encrypted again
    static constexpr Pack fields{
        Field{"what", &Rotation::what, "master or data."},
        Field{"master_key", &Rotation::master_key, "Id of the current master key."},
        Field{"data_keys", &Rotation::data_keys,
              "Number of data keys that were encrypted again (master) or created (data)."},
        Field{"secrets", &Rotation::secrets, "Number of secrets that were encrypted again."},
    };
};

struct EncryptionState {
    std::string master_key;
    std::string source;
    int64_t data_keys = 0;
    int64_t secrets = 0;
    std::optional<Time> oldest_data_key_at;
    static constexpr Pack fields{
        Field{"master_key", &EncryptionState::master_key, "Id of the master key; it does not reveal the key."},
        Field{"source", &EncryptionState::source, "Source of the master key: file, environment or command."},
        Field{"data_keys", &EncryptionState::data_keys,
              "Number of data keys: one per space that has secrets, and one of the installation."},
        Field{"secrets", &EncryptionState::secrets, "Number of secrets of the whole installation."},
        Field{"oldest_data_key_at", &EncryptionState::oldest_data_key_at, "Time of creation of the oldest data key."},
    };
};

constexpr size_t largest_secret = 64 << 10;

// With which spaces a skill of the installation is shared. Implemented by skill/, which registers itself with the
// Vault; without it no secret of the installation opens for a space.
class SkillShares {
public:
    virtual ~SkillShares() = default;
    virtual Result<bool> is_shared(sql::Transaction& transaction, const std::string& skill_id,
                                   const access::SpaceId& space) const = 0;
};

// How many secrets there are, and how many are due for attention.
struct SecretCounts {
    int64_t all = 0;
    int64_t old = 0;
    int64_t unused = 0;
};

class Vault {
public:
    // `reached` is called at each step of a rotation; tests stop the process there.
    Vault(sql::Database& database, const Clock& clock, const access::AuditLog& audit, MasterKeys& keys,
          std::function<void(std::string_view)> reached = {})
        : m_database(database),
          m_clock(clock),
          m_audit(audit),
          m_keys(keys),
          m_reached(std::move(reached)) {}
    ~Vault();
    Vault(const Vault&) = delete;
    Vault& operator=(const Vault&) = delete;

    // Before the first use; `remove_shares` before `shares` is destroyed.
    void set_shares(const SkillShares& shares) { m_shares = &shares; }
    void remove_shares(const SkillShares& shares) {
        if (m_shares == &shares) m_shares = nullptr;
    }

    // Whether this database holds anything that a master key encrypts.
    static Result<bool> has_data_keys(sql::Database& database);

    // Before the first use: finds out whether the master key is the right one and finishes rotations that a crash cut.
    Result<> start();

    // Within the transaction of the skill's change. Sets or replaces; the id stays when it is replaced.
    Result<SecretInfo> set(sql::Transaction& transaction, const access::Caller& caller, const Scope& scope,
                           const std::string& skill_id, const std::string& name, const SecretBytes& value) const;
    // False when there was none.
    Result<bool> remove(sql::Transaction& transaction, const std::string& skill_id, const std::string& name) const;
    Result<> remove_all(sql::Transaction& transaction, const std::string& skill_id) const;
    Result<std::vector<std::string>> names_of(sql::Transaction& transaction, const std::string& skill_id) const;

    // Secrets of things that are not skills, by the id of what owns them: the address of a destination, the key of a
    // webhook. Who owns one forgets it when it goes; with its space it goes by itself.
    Result<> keep(sql::Transaction& transaction, const Scope& scope, const std::string& owner_id,
                  const std::string& name, const SecretBytes& value) const;
    Result<> forget(sql::Transaction& transaction, const std::string& owner_id) const; // all of them
    Result<> forget(sql::Transaction& transaction, const std::string& owner_id, const std::string& name) const;
    Result<std::vector<std::string>> kept_names(sql::Transaction& transaction, const std::string& owner_id) const;
    // not_found when there is none. `purpose` goes into the debug log.
    Result<SecretBytes> reveal(const Scope& scope, const std::string& owner_id, const std::string& name,
                               std::string_view purpose) const;

    // By name, without values. At most 1,000 each.
    Result<std::vector<SecretInfo>> of_skill(const std::string& skill_id) const;
    Result<std::vector<SecretInfo>> all() const;
    // Of the whole installation: `old` were set before `old_before`, `unused` neither set nor used since
    // `unused_before`.
    Result<SecretCounts> counts(Time old_before, Time unused_before) const;

    // For the broker: the value, if it belongs to this space or to a skill that is shared with it. `purpose` goes into
    // the debug log ("run_…: api.github.com"); the broker audits each use with the secret's name.
    Result<SecretBytes> open(const access::SpaceId& space, const std::string& secret_id, std::string_view purpose);
    // Stores when secrets were last used; called regularly by a background duty.
    Result<> flush_used();

    // By installation owners. Secrets can be set and opened all the while.
    Result<Rotation> rotate_master(const access::Caller& caller);
    // Of one scope, or of all.
    Result<Rotation> rotate_data(const access::Caller& caller, const std::optional<Scope>& scope);
    Result<EncryptionState> key_state(const access::Caller& caller) const;

private:
    Result<SecretBytes> data_key(sql::Transaction& transaction, const std::string& scope, int64_t version) const;
    Result<int64_t> add_data_key(sql::Transaction& transaction, const Scope& scope, int64_t version) const;
    Result<int64_t> current_version(sql::Transaction& transaction, const Scope& scope) const;
    Result<int64_t> rewrap_all(sql::Transaction& transaction, const std::string& master_key_id) const;
    Result<int64_t> reseal(const std::string& scope) const;
    Result<bool> reseal_some(sql::Transaction& transaction, const std::string& scope, int64_t& count) const;
    Result<bool> reseal_some_kept(sql::Transaction& transaction, const std::string& scope, int64_t& count) const;
    Result<> drop_unused_data_keys(const std::string& scope) const;
    Result<std::vector<SecretInfo>> list(const std::string& condition, std::span<const sql::Value> values) const;
    void reach(std::string_view step) const {
        if (m_reached) m_reached(step);
    }

    sql::Database& m_database;
    const Clock& m_clock;
    const access::AuditLog& m_audit;
    MasterKeys& m_keys;
    const SkillShares* m_shares = nullptr;
    const std::function<void(std::string_view)> m_reached;
    Mutex m_rotating;
    Mutex m_mutex;
    std::map<std::string, Time> m_used GUARDED_BY(m_mutex);
};

} // namespace hone::secret
