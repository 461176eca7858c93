// API keys: 256 random bits, kept only as a hash. A personal key acts as its user, a service key has a role of its own;
// both work in one space and never hold more than their creator. Thread-safe.
#pragma once

#include "access/spaces.h"

namespace hone::access {

struct NewKey {
    std::string name{};
    KeyKind kind = KeyKind::personal;
    std::vector<std::string> scopes{"all"};
    std::optional<Role> role{}; // of a service key
    std::optional<Time> expires_at{};
};

struct KeyFilter {
    bool include_revoked = false;
    std::optional<Duration> unused_for{}; // only keys that were not used for this long; a new key counts as used
    bool by_last_use = false;             // never used and longest unused first, instead of oldest first
};

// The key of a run: reads one project, nothing else, and never more than what started the run. When an API key started
// it, that key's scopes and bindings count each time the run's key is used, and the run's key ends with it.
struct NewRunKey {
    std::string run{};
    SpaceId space{};
    ProjectId project{};
    std::optional<UserId> user{};   // who started it; else
    std::optional<Role> role{};     // the role of the service key that did
    std::optional<KeyId> key{};     // the API key that started it, personal or service
    bool started_by_signal = false; // neither: the server itself did
    Time expires_at{};
};

class Keys {
public:
    Keys(sql::Database& database, const Clock& clock, const AuditLog& audit)
        : m_database(database),
          m_clock(clock),
          m_audit(audit) {}

    // Own keys; with key_manage those of the whole space. Without a space: all keys of the installation, for those who
    // manage its users.
    Result<Page<Key>> list(const Caller& caller, const std::optional<SpaceId>& space, const KeyFilter& filter,
                           const PageRequest& page) const;
    Result<Key> create(const Caller& caller, const SpaceId& space, const NewKey& wanted);
    Result<Key> revoke(const Caller& caller, const KeyId& id);
    // A new key with the same rights; the old one works for `grace` more and cannot be rotated again.
    Result<Key> rotate(const Caller& caller, const KeyId& id, Duration grace);
    // Created by the server when a run starts; it is not listed. A run has one: an older one ends.
    Result<Key> create_for_run(const NewRunKey& wanted);
    Result<> end_for_run(const std::string& run);
    // For showing a key to itself.
    Result<Key> find(const KeyId& id) const;

    // The caller behind "hone_…"; unauthorized when it is unknown, expired, revoked, or its user is disabled or gone.
    Result<Caller> authenticate(std::string_view key, std::string peer, std::string request_id);

private:
    Key key_of(const sql::Row& row) const;
    Result<Key> manageable(const Caller& caller, const KeyId& id) const;
    Result<> require_not_outlived(const Caller& caller, const std::optional<Time>& expires_at) const;
    Result<Key> insert(sql::Transaction& transaction, const Caller& caller, Key key) const;
    Result<bool> limit_to_starter(Caller& caller, const std::string& starter) const;

    sql::Database& m_database;
    const Clock& m_clock;
    const AuditLog& m_audit;
};

// "all", "read" or permission names → a set; errors name the unknown one.
Result<PermissionSet> scope_of(const std::vector<std::string>& scopes);

} // namespace hone::access
