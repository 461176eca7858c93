#include "access/audit/audit.h"

#include "access/audit/seal.h"
#include "crypto/crypto.h"
#include "sql/columns.h"

namespace hone::access {

namespace {

// An entry with what its hash covers beside it.
struct StoredEntry {
    AuditEntry entry;
    std::string details;       // the text that was hashed
    bool is_as_written = true; // false: reading forgave what the hash does not cover
};

constexpr Pack entry_columns{
    sql::Column{"seq", sql::in(&StoredEntry::entry, &AuditEntry::seq)},
    sql::Column{"time", sql::in(&StoredEntry::entry, &AuditEntry::time)},
    sql::Column{"space_id", sql::Converted{[](StoredEntry& made, const sql::Row& row, size_t at) {
                                               made.entry.space_id = row.optional_id<SpaceTag>(at);
                                               if (!row.is_null(at) && row.text(at).empty()) made.is_as_written = false;
                                           },
                                           [](const StoredEntry& made) { return made.entry.space_id; }}},
    sql::Column{"actor_kind", sql::Converted{[](StoredEntry& made, const sql::Row& row, size_t at) {
                                                 const auto kind = parse_enum<CallerKind>(row.text(at));
                                                 made.entry.actor_kind = kind.value_or(CallerKind::system);
                                                 if (!kind) made.is_as_written = false;
                                             },
                                             [](const StoredEntry& made) { return name_of(made.entry.actor_kind); }}},
    sql::Column{"actor_id", sql::in(&StoredEntry::entry, &AuditEntry::actor_id)},
    sql::Column{"actor_name", sql::in(&StoredEntry::entry, &AuditEntry::actor_name)},
    sql::Column{"action", sql::in(&StoredEntry::entry, &AuditEntry::action)},
    sql::Column{"target", sql::in(&StoredEntry::entry, &AuditEntry::target)},
    sql::Column{"details", sql::Converted{[](StoredEntry& made, const sql::Row& row, size_t at) {
                                              made.details = row.text(at);
                                              auto details = json::parse(made.details);
                                              made.entry.details =
                                                  details.ok() ? std::move(details).value() : json::Value(nullptr);
                                          },
                                          [](const StoredEntry& made) { return made.details; }}},
    sql::Column{"peer", sql::in(&StoredEntry::entry, &AuditEntry::peer)},
    sql::Column{"request_id", sql::in(&StoredEntry::entry, &AuditEntry::request_id)},
    sql::Column{"prev_hash", sql::in(&StoredEntry::entry, &AuditEntry::prev_hash)},
    sql::Column{"hash", sql::in(&StoredEntry::entry, &AuditEntry::hash)},
};

// The columns of the inbox: all but the chain's.
constexpr size_t chained_before = 1; // seq
constexpr size_t chained_after = 2;  // prev_hash, hash
constexpr int64_t seal_batch = 500;

std::string inbox_columns() {
    const std::string all = sql::names(entry_columns);
    return all.substr(all.find("time"), all.find(", prev_hash") - all.find("time"));
}

std::string select_entry() {
    return "SELECT " + sql::names(entry_columns) + " FROM audit_entries";
}

std::vector<AuditEntry> entries_of(const sql::Rows& rows) {
    std::vector<AuditEntry> entries;
    entries.reserve(rows.size());
    for (const auto& row : rows) entries.push_back(sql::read<StoredEntry>(entry_columns, row).entry);
    return entries;
}

struct Conditions {
    std::string sql = " WHERE 1 = 1";
    std::vector<sql::Value> values{};
    template <class T>
    void add(std::string_view condition, const T& value) {
        sql += " AND " + std::string(condition);
        values.push_back(sql::to_value(value));
    }
};

Conditions conditions_of(const std::optional<SpaceId>& space, const AuditFilter& filter) {
    Conditions where;
    if (space) where.add("space_id = ?", *space);
    if (filter.actor) {
        where.add("(actor_id = ? OR actor_name = ?)", *filter.actor);
        where.values.push_back(sql::to_value(*filter.actor));
    }
    if (filter.action && filter.action->ends_with('*'))
        where.add("SUBSTR(action, 1, " + std::to_string(filter.action->size() - 1) + ") = ?",
                  filter.action->substr(0, filter.action->size() - 1));
    else if (filter.action)
        where.add("action = ?", *filter.action);
    if (filter.target) where.add("target = ?", *filter.target);
    if (filter.after) where.add("time >= ?", *filter.after);
    if (filter.before) where.add("time < ?", *filter.before);
    return where;
}

} // namespace

std::string audit_hash(const AuditEntry& entry, std::string_view details_text) {
    std::string content;
    const auto add = [&](std::string_view part) { content += std::to_string(part.size()) + ":" + std::string(part); };
    add(std::to_string(entry.seq));
    add(std::to_string(to_ns(entry.time)));
    add(entry.space_id ? entry.space_id->text() : "");
    add(name_of(entry.actor_kind));
    add(entry.actor_id);
    add(entry.actor_name);
    add(entry.action);
    add(entry.target);
    add(details_text);
    add(entry.peer);
    add(entry.request_id);
    add(entry.prev_hash);
    return to_hex(crypto::hash(content));
}

namespace {

struct ChainHead {
    int64_t seq = 0;
    std::string hash;
};

// The update locks the head: entries are chained one at a time on either engine.
Result<ChainHead> lock_head(sql::Transaction& transaction) {
    const auto head = TRY(transaction.query("UPDATE audit_head SET seq = seq WHERE id = 1 RETURNING seq, hash"));
    if (head.empty()) return corrupt("the head of the audit log is missing");
    return ChainHead{head.front().integer(0), head.front().text(1)};
}

Result<> append_to_chain(sql::Transaction& transaction, ChainHead& head, StoredEntry& stored) {
    AuditEntry& entry = stored.entry;
    entry.seq = head.seq + 1;
    entry.prev_hash = head.hash;
    entry.hash = audit_hash(entry, stored.details);
    TRY(transaction.run("INSERT INTO audit_entries (" + sql::names(entry_columns) + ") VALUES (" +
                            sql::marks(sql::width(entry_columns)) + ")",
                        sql::values(entry_columns, stored)));
    head = {entry.seq, entry.hash};
    return {};
}

Result<> write_head(sql::Transaction& transaction, const ChainHead& head) {
    TRY(transaction.execute("UPDATE audit_head SET seq = ?, hash = ? WHERE id = 1", head.seq, head.hash));
    return {};
}

Result<> write_to_inbox(sql::Transaction& transaction, const StoredEntry& stored) {
    const std::vector<sql::Value> all = sql::values(entry_columns, stored);
    std::vector<sql::Value> values{sql::to_value("entry_" + make_ulid(stored.entry.time))};
    values.insert(values.end(), all.begin() + chained_before, all.end() - chained_after);
    TRY(transaction.run(
        "INSERT INTO audit_inbox (id, " + inbox_columns() + ") VALUES (" + sql::marks(values.size()) + ")", values));
    return {};
}

Result<int64_t> seal_some(sql::Transaction& transaction) {
    ChainHead head = TRY(lock_head(transaction));
    const auto rows = TRY(transaction.query(
        "SELECT 0, " + inbox_columns() + ", '', '', id FROM audit_inbox ORDER BY time, id LIMIT ?", seal_batch));
    if (rows.empty()) return int64_t{0};
    std::vector<sql::Value> ids;
    for (const auto& row : rows) {
        auto stored = sql::read<StoredEntry>(entry_columns, row);
        TRY(append_to_chain(transaction, head, stored));
        ids.push_back(sql::to_value(row.text(sql::width(entry_columns))));
    }
    TRY(transaction.run("DELETE FROM audit_inbox WHERE id IN (" + sql::marks(ids.size()) + ")", ids));
    TRY(write_head(transaction, head));
    return static_cast<int64_t>(rows.size());
}

} // namespace

Result<> AuditLog::record(sql::Transaction& transaction, const Caller& caller, AuditRecord record) const {
    StoredEntry stored;
    AuditEntry& entry = stored.entry;
    entry.time = m_clock.now();
    entry.space_id = record.space;
    entry.actor_kind = caller.kind;
    entry.actor_id = caller.actor();
    entry.actor_name = caller.name;
    entry.action = record.action;
    entry.target = record.target;
    entry.peer = caller.peer;
    entry.request_id = caller.request_id;
    stored.details = json::print(std::move(record.details));
    if (m_database.engine() == sql::Engine::postgres) return write_to_inbox(transaction, stored);
    ChainHead head = TRY(lock_head(transaction));
    TRY(append_to_chain(transaction, head, stored));
    return write_head(transaction, head);
}

Result<int64_t> seal_audit_log(sql::Database& database) {
    if (database.engine() == sql::Engine::sqlite) return int64_t{0};
    for (int64_t all = 0;;) {
        const auto waiting = TRY(database.query("SELECT 1 FROM audit_inbox LIMIT 1"));
        if (waiting.empty()) return all;
        all += TRY(database.write([](sql::Transaction& transaction) { return seal_some(transaction); }));
    }
}

Result<> AuditLog::record(const Caller& caller, AuditRecord entry) const {
    return m_database.write(
        [&](sql::Transaction& transaction) -> Result<> { return record(transaction, caller, entry); });
}

Result<> AuditLog::require_reader(const Caller& caller, const std::optional<SpaceId>& space) const {
    return space ? caller.require(Permission::audit_read, *space) : caller.require(Permission::audit_verify);
}

Result<Page<AuditEntry>> AuditLog::list(const Caller& caller, const std::optional<SpaceId>& space,
                                        const AuditFilter& filter, const PageRequest& page) const {
    TRY(require_reader(caller, space));
    TRY(seal_audit_log(m_database));
    Conditions where = conditions_of(space, filter);
    if (const std::string after = TRY(page.after()); !after.empty()) where.add("seq < ?", TRY(parse_integer(after)));
    where.values.push_back(sql::to_value(page.limit + 1));
    const auto rows =
        TRY(m_database.run_query(select_entry() + where.sql + " ORDER BY seq DESC LIMIT ?", where.values));
    return make_page(entries_of(rows), page, [](const AuditEntry& entry) { return std::to_string(entry.seq); });
}

Result<std::vector<AuditEntry>> AuditLog::entries_after(const Caller& caller, const std::optional<SpaceId>& space,
                                                        int64_t seq, int64_t limit, const AuditFilter& filter) const {
    TRY(require_reader(caller, space));
    TRY(seal_audit_log(m_database));
    Conditions where = conditions_of(space, filter);
    where.add("seq > ?", seq);
    where.values.push_back(sql::to_value(limit));
    return entries_of(TRY(m_database.run_query(select_entry() + where.sql + " ORDER BY seq LIMIT ?", where.values)));
}

Result<AuditVerification> AuditLog::verify(const Caller& caller) const {
    TRY(caller.require(Permission::audit_verify));
    TRY(seal_audit_log(m_database));
    // The head is read before and after: entries appended meanwhile are checked too, and look neither cut nor forged.
    const auto head = TRY(m_database.query("SELECT seq, hash FROM audit_head WHERE id = 1"));
    AuditVerification verification;
    std::string previous;
    const auto bad = [&](int64_t seq, std::string why) {
        verification.first_bad_seq = seq;
        verification.head_hash = previous;
        verification.message = "entry " + std::to_string(seq) + " " + why;
        return verification;
    };
    const auto before_first = TRY(m_database.query("SELECT MIN(seq) FROM audit_entries WHERE seq < 1"));
    if (!before_first.front().is_null(0)) return bad(before_first.front().integer(0), "was never recorded");
    for (;;) {
        const auto rows =
            TRY(m_database.query(select_entry() + " WHERE seq > ? ORDER BY seq LIMIT 1000", verification.entries));
        for (const auto& row : rows) {
            const auto stored = sql::read<StoredEntry>(entry_columns, row);
            const AuditEntry& entry = stored.entry;
            if (entry.seq != verification.entries + 1) return bad(verification.entries + 1, "is missing");
            if (entry.prev_hash != previous) return bad(entry.seq, "does not continue the chain");
            if (entry.hash != audit_hash(entry, stored.details) || !stored.is_as_written)
                return bad(entry.seq, "was changed after it was written");
            previous = entry.hash;
            verification.entries = entry.seq;
            if (!head.empty() && entry.seq == head.front().integer(0) && entry.hash != head.front().text(1))
                return bad(entry.seq, "is not the head that was recorded");
        }
        if (rows.size() < 1000) break;
    }
    if (head.empty() || verification.entries < head.front().integer(0))
        return bad(verification.entries + 1, "is missing: the log was cut");
    const auto head_now = TRY(m_database.query("SELECT seq FROM audit_head WHERE id = 1"));
    if (head_now.empty() || verification.entries > head_now.front().integer(0))
        return bad(head_now.empty() ? 1 : head_now.front().integer(0) + 1,
                   "is newer than the head: it was not recorded");
    verification.ok = true;
    verification.head_hash = previous;
    verification.message = std::to_string(verification.entries) + " entries, chain complete";
    return verification;
}

Result<bool> AuditLog::rights_changed_since(int64_t& seq) const {
    TRY(seal_audit_log(m_database));
    const auto head = TRY(m_database.query("SELECT seq FROM audit_head"));
    const int64_t newest = head.empty() ? 0 : head.front().integer(0);
    const int64_t before = std::exchange(seq, newest);
    if (before == newest) return false;
    if (before < 0) return true;
    const auto found = TRY(m_database.query(
        "SELECT 1 FROM audit_entries WHERE seq > ? AND (action LIKE 'log%' OR action LIKE 'user%' OR action LIKE "
        "'member%' OR action LIKE 'key%' OR action LIKE 'project%' OR action LIKE 'space%' OR action LIKE 'role%') "
        "LIMIT 1",
        before));
    return !found.empty();
}

} // namespace hone::access
