// The audit log: append-only, hash-chained. Every change records an entry inside its own transaction, so a change and
// its entry are both there or neither is. Thread-safe.
#pragma once

#include "access/page.h"
#include "access/views.h"
#include "sql/sql.h"

namespace hone::access {

struct AuditRecord {
    std::string_view action; // "project_create"
    std::optional<SpaceId> space;
    std::string target; // an id, or an e-mail address for logins
    json::Object details{};
};

struct AuditFilter {
    std::optional<std::string> actor{};  // id or name
    std::optional<std::string> action{}; // whole, or a prefix with *: "project_*"
    std::optional<std::string> target{};
    std::optional<Time> after{};  // at or after
    std::optional<Time> before{}; // before
};

class AuditLog {
public:
    AuditLog(sql::Database& database, const Clock& clock) : m_database(database), m_clock(clock) {}

    // Appends within the transaction of the change itself.
    Result<> record(sql::Transaction& transaction, const Caller& caller, AuditRecord record) const;
    // For things that change nothing else, such as a refused login.
    Result<> record(const Caller& caller, AuditRecord record) const;
    // Whether the log has an entry after `seq` about logins, users, members, roles, keys, projects or spaces, which can
    // take rights away. Sets `seq` to the newest entry. Below 0: nothing was read before.
    Result<bool> rights_changed_since(int64_t& seq) const;

    // Newest first. `space` absent: the entries of the whole installation, for those who may verify it.
    Result<Page<AuditEntry>> list(const Caller& caller, const std::optional<SpaceId>& space, const AuditFilter& filter,
                                  const PageRequest& page) const;
    // Oldest first, the entries after `seq`; for export in pieces.
    Result<std::vector<AuditEntry>> entries_after(const Caller& caller, const std::optional<SpaceId>& space,
                                                  int64_t seq, int64_t limit, const AuditFilter& filter = {}) const;
    // Recomputes every hash; finds gaps, edits and a cut end.
    Result<AuditVerification> verify(const Caller& caller) const;

private:
    Result<> require_reader(const Caller& caller, const std::optional<SpaceId>& space) const;

    sql::Database& m_database;
    const Clock& m_clock;
};

// The hash of an entry: its content, each part with its length before it, and the hash of the entry before.
std::string audit_hash(const AuditEntry& entry, std::string_view details_text);

} // namespace hone::access
