#include "access/audit.h"

#include "crypto/crypto.h"

namespace hone::access {

namespace {

constexpr std::string_view columns =
    "seq, time, space_id, actor_kind, actor_id, actor_name, action, target, details, peer, request_id, prev_hash, hash";

Result<AuditEntry> entry_of(const sql::Row& row) {
    AuditEntry entry;
    entry.seq = row.integer(0);
    entry.time = row.time(1);
    entry.space_id = row.optional_id<SpaceTag>(2);
    entry.actor_kind = parse_enum<CallerKind>(row.text(3)).value_or(CallerKind::system);
    entry.actor_id = row.text(4);
    entry.actor_name = row.text(5);
    entry.action = row.text(6);
    entry.target = row.text(7);
    auto details = json::parse(row.text(8));
    entry.details = details.ok() ? std::move(details).value() : json::Value(nullptr);
    entry.peer = row.text(9);
    entry.request_id = row.text(10);
    entry.prev_hash = row.text(11);
    entry.hash = row.text(12);
    return entry;
}

// What reading an entry forgives and its hash therefore does not cover.
bool is_as_written(const sql::Row& row) {
    const bool known_kind = parse_enum<CallerKind>(row.text(3)).has_value();
    return known_kind && (row.is_null(2) || !row.text(2).empty());
}

Result<std::vector<AuditEntry>> entries_of(const sql::Rows& rows) {
    std::vector<AuditEntry> entries;
    entries.reserve(rows.size());
    for (const auto& row : rows) entries.push_back(TRY(entry_of(row)));
    return entries;
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

Result<> AuditLog::record(sql::Transaction& transaction, const Caller& caller, AuditRecord record) const {
    // The update locks the head: appends happen one at a time on either engine.
    const auto head = TRY(transaction.query("UPDATE audit_head SET seq = seq + 1 WHERE id = 1 RETURNING seq, hash"));
    if (head.empty()) return corrupt("the head of the audit log is missing");
    AuditEntry entry;
    entry.seq = head.front().integer(0);
    entry.prev_hash = head.front().text(1);
    entry.time = m_clock.now();
    entry.space_id = record.space;
    entry.actor_kind = caller.kind;
    entry.actor_id = caller.actor();
    entry.actor_name = caller.name;
    entry.action = record.action;
    entry.target = record.target;
    entry.peer = caller.peer;
    entry.request_id = caller.request_id;
    const std::string details = json::print(std::move(record.details));
    entry.hash = audit_hash(entry, details);
    TRY(transaction.execute(
        "INSERT INTO audit_entries (" + std::string(columns) + ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)", entry.seq,
        entry.time, entry.space_id, name_of(entry.actor_kind), entry.actor_id, entry.actor_name, entry.action,
        entry.target, details, entry.peer, entry.request_id, entry.prev_hash, entry.hash));
    TRY(transaction.execute("UPDATE audit_head SET hash = ? WHERE id = 1", entry.hash));
    return {};
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
    std::string sql = "SELECT " + std::string(columns) + " FROM audit_entries WHERE 1 = 1";
    std::vector<sql::Value> values;
    const auto where = [&](std::string_view condition, auto value) {
        sql += " AND " + std::string(condition);
        values.push_back(sql::to_value(value));
    };
    if (space) where("space_id = ?", *space);
    if (filter.actor) {
        where("(actor_id = ? OR actor_name = ?)", *filter.actor);
        values.push_back(sql::to_value(*filter.actor));
    }
    if (filter.action && filter.action->ends_with('*'))
        where("SUBSTR(action, 1, " + std::to_string(filter.action->size() - 1) + ") = ?",
              filter.action->substr(0, filter.action->size() - 1));
    else if (filter.action)
        where("action = ?", *filter.action);
    if (filter.target) where("target = ?", *filter.target);
    if (filter.after) where("time >= ?", *filter.after);
    if (filter.before) where("time < ?", *filter.before);
    if (const std::string after = TRY(page.after()); !after.empty()) where("seq < ?", TRY(parse_integer(after)));
    sql += " ORDER BY seq DESC LIMIT ?";
    values.push_back(sql::to_value(page.limit + 1));
    const auto rows = TRY(m_database.run_query(sql, values));
    return make_page(TRY(entries_of(rows)), page, [](const AuditEntry& entry) { return std::to_string(entry.seq); });
}

Result<std::vector<AuditEntry>> AuditLog::entries_after(const Caller& caller, const std::optional<SpaceId>& space,
                                                        int64_t seq, int64_t limit) const {
    TRY(require_reader(caller, space));
    const std::string select = "SELECT " + std::string(columns) + " FROM audit_entries WHERE seq > ?";
    if (space)
        return entries_of(TRY(m_database.query(select + " AND space_id = ? ORDER BY seq LIMIT ?", seq, *space, limit)));
    return entries_of(TRY(m_database.query(select + " ORDER BY seq LIMIT ?", seq, limit)));
}

Result<AuditVerification> AuditLog::verify(const Caller& caller) const {
    TRY(caller.require(Permission::audit_verify));
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
        const auto rows = TRY(m_database.query("SELECT " + std::string(columns) +
                                                   " FROM audit_entries WHERE seq > ? ORDER BY seq LIMIT 1000",
                                               verification.entries));
        for (const auto& row : rows) {
            const AuditEntry entry = TRY(entry_of(row));
            if (entry.seq != verification.entries + 1) return bad(verification.entries + 1, "is missing");
            if (entry.prev_hash != previous) return bad(entry.seq, "does not continue the chain");
            if (entry.hash != audit_hash(entry, row.text(8)) || !is_as_written(row))
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
    const auto head = TRY(m_database.query("SELECT seq FROM audit_head"));
    const int64_t newest = head.empty() ? 0 : head.front().integer(0);
    const int64_t before = std::exchange(seq, newest);
    if (before == newest) return false;
    if (before < 0) return true;
    const auto found = TRY(m_database.query(
        "SELECT 1 FROM audit_entries WHERE seq > ? AND (action LIKE 'log%' OR action LIKE 'user%' OR action LIKE "
        "'member%' OR action LIKE 'key%' OR action LIKE 'project%' OR action LIKE 'space%') LIMIT 1",
        before));
    return !found.empty();
}

} // namespace hone::access
