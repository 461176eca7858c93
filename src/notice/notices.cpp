#include "notice/notices.h"

#include "crypto/crypto.h"
#include "notice/delivery.h"

namespace hone::notice {

namespace {

constexpr size_t longest_title = 200;
constexpr size_t longest_body = 4 << 10;
constexpr size_t longest_link = 500;
constexpr size_t longest_key = 200;

// Texts come from traces and workers: what could move a cursor, hide text or break a header line is taken out.
std::string harmless(std::string_view text, size_t longest, bool keep_lines) {
    std::string clean;
    const std::string repaired = repair_utf8(text.substr(0, 4 * longest));
    for (const char letter : repaired) {
        const auto byte = static_cast<unsigned char>(letter);
        if (byte == '\n' && keep_lines)
            clean += letter;
        else
            clean += byte < 0x20 || byte == 0x7f ? ' ' : letter;
    }
    return std::string(truncate_utf8(trim(clean), longest));
}

// A path of this server and nothing else: never a foreign address in a message that people trust.
std::string checked_link(std::string_view link) {
    const bool own = link.starts_with('/') && !link.starts_with("//") && link.size() <= longest_link &&
                     is_printable_ascii(link) && link.find_first_of(" \\\"<>") == link.npos;
    return own ? std::string(link) : std::string();
}

constexpr std::string_view select_notice =
    "SELECT notices.id, notices.space_id, notices.project_id, notices.kind, notices.title, notices.body, notices.link, "
    "notices.created_at FROM notices";

NoticeView view_of(const sql::Row& row, const std::string& read_up_to) {
    NoticeView view;
    view.id = row.id<NoticeTag>(0);
    view.space_id = row.id<access::SpaceTag>(1);
    view.project_id = row.optional_id<access::ProjectTag>(2);
    view.kind = parse_enum<Kind>(row.text(3)).value_or(Kind::run_finished);
    view.title = row.text(4);
    view.body = row.text(5);
    view.link = row.text(6);
    view.created_at = row.time(7);
    view.unread = view.id.text() > read_up_to;
    return view;
}

Result<std::string> read_up_to(sql::Database& database, const access::Caller& caller, const access::SpaceId& space) {
    const auto rows = TRY(database.query("SELECT read_up_to FROM notice_marks WHERE principal = ? AND space_id = ?",
                                         caller.principal(), space));
    return rows.empty() ? std::string() : rows.front().text(0);
}

// The notices of a space that the caller may see.
access::Projects::Condition visible_to(const access::Caller& caller, const access::SpaceId& space) {
    access::Projects::Condition seen = access::Projects::seen_by(caller, space, "notices.project_id");
    seen.sql = " WHERE notices.space_id = ? AND (notices.project_id IS NULL OR " + seen.sql + ")";
    seen.values.insert(seen.values.begin(), sql::to_value(space));
    return seen;
}

} // namespace

Result<bool> Notices::notify(const Notice& notice) {
    const bool is_new = TRY(
        m_database.write([&](sql::Transaction& transaction) -> Result<bool> { return notify(transaction, notice); }));
    if (is_new) wake();
    return is_new;
}

Result<bool> Notices::notify(sql::Transaction& transaction, const Notice& notice) const {
    const auto id = make_id<NoticeTag>(m_clock);
    // A key makes one notice per kind; a long key is replaced by its hash.
    std::string key = std::string(name_of(notice.kind)) + ":" + (notice.key.empty() ? id.text() : notice.key);
    if (key.size() > longest_key || !is_valid_utf8(key) || key.find('\0') != key.npos)
        key = to_base64url(crypto::hash(key));
    const Time now = m_clock.now();
    const int64_t added = TRY(transaction.execute(
        "INSERT INTO notices (id, space_id, project_id, kind, title, body, link, told_key, created_at) "
        "VALUES (?,?,?,?,?,?,?,?,?) ON CONFLICT (space_id, told_key) DO NOTHING",
        id, notice.space, notice.project, name_of(notice.kind), harmless(notice.title, longest_title, false),
        harmless(notice.body, longest_body, true), checked_link(notice.link), key, now));
    if (added == 0) return false;
    const std::string kind = "," + std::string(name_of(notice.kind)) + ",";
    const std::string project = "," + (notice.project ? notice.project->text() : "") + ",";
    const auto wanting =
        TRY(transaction.query("SELECT id, kinds, projects, type FROM destinations WHERE space_id = ? AND "
                              "enabled = 1 ORDER BY id LIMIT 1000",
                              notice.space));
    for (const auto& row : wanting) {
        if (!row.text(1).empty() && row.text(1).find(kind) == std::string::npos) continue;
        // What concerns the whole space goes to those who chose projects, too.
        if (notice.project && !row.text(2).empty() && row.text(2).find(project) == std::string::npos) continue;
        const Time due_at = row.text(3) == "email_digest" ? next_digest(now) : now;
        TRY(transaction.execute("INSERT INTO deliveries (id, notice_id, destination_id, state, attempts, next_at, "
                                "claimed_until, problem, created_at) VALUES (?,?,?,'pending',0,?,0,'',?)",
                                make_id<DeliveryTag>(m_clock), id, row.text(0), due_at, now));
    }
    return true;
}

Result<access::Page<NoticeView>> Notices::list(const access::Caller& caller, const access::SpaceId& space,
                                               const NoticeFilter& filter, const access::PageRequest& page) const {
    TRY(caller.require(access::Permission::project_read, space));
    const std::string mark = TRY(read_up_to(m_database, caller, space));
    const std::string after = TRY(page.after());
    auto condition = visible_to(caller, space);
    const auto add = [&](const char* sql, sql::Value value) {
        condition.sql += sql;
        condition.values.push_back(std::move(value));
    };
    if (filter.project) add(" AND notices.project_id = ?", sql::to_value(*filter.project));
    if (filter.kind) add(" AND notices.kind = ?", sql::to_value(name_of(*filter.kind)));
    if (filter.unread_only) add(" AND notices.id > ?", sql::to_value(mark));
    if (!after.empty()) add(" AND notices.id < ?", sql::to_value(after));
    add(" ORDER BY notices.id DESC LIMIT ?", sql::to_value(page.limit + 1));
    std::vector<NoticeView> views;
    for (const auto& row : TRY(m_database.run_query(std::string(select_notice) + condition.sql, condition.values)))
        views.push_back(view_of(row, mark));
    return access::make_page(std::move(views), page, [](const NoticeView& view) { return view.id.text(); });
}

Result<int64_t> Notices::count_unread(const access::Caller& caller, const access::SpaceId& space) const {
    TRY(caller.require(access::Permission::project_read, space));
    auto condition = visible_to(caller, space);
    condition.values.push_back(sql::to_value(TRY(read_up_to(m_database, caller, space))));
    const auto rows = TRY(
        m_database.run_query("SELECT COUNT(*) FROM notices" + condition.sql + " AND notices.id > ?", condition.values));
    return rows.front().integer(0);
}

Result<UnreadNotices> Notices::unread(const access::Caller& caller, const access::SpaceId& space) const {
    UnreadNotices found;
    found.unread = TRY(count_unread(caller, space));
    const auto marks = TRY(m_database.query("SELECT marked_at FROM notice_marks WHERE principal = ? AND space_id = ?",
                                            caller.principal(), space));
    if (!marks.empty()) found.marked_at = marks.front().time(0);
    const NoticeSettings chosen = TRY(settings(caller, space));
    if (found.unread == 0 || chosen.kinds.empty()) return found;
    auto condition = visible_to(caller, space);
    condition.sql += " AND notices.id > ? AND notices.kind IN (";
    condition.values.push_back(sql::to_value(TRY(read_up_to(m_database, caller, space))));
    for (size_t i = 0; i < chosen.kinds.size(); ++i) {
        condition.sql += i == 0 ? "?" : ",?";
        condition.values.push_back(sql::to_value(name_of(chosen.kinds[i])));
    }
    const auto rows = TRY(m_database.run_query("SELECT COUNT(*) FROM notices" + condition.sql + ")", condition.values));
    found.counted = rows.front().integer(0);
    return found;
}

Result<NoticeSettings> Notices::settings(const access::Caller& caller, const access::SpaceId& space) const {
    TRY(caller.require(access::Permission::project_read, space));
    const auto rows = TRY(m_database.query("SELECT kinds FROM notice_settings WHERE principal = ? AND space_id = ?",
                                           caller.actor(), space));
    if (rows.empty()) return NoticeSettings{{needing_kinds.begin(), needing_kinds.end()}, true};
    NoticeSettings chosen{{}, false};
    for (const std::string_view name : split(rows.front().text(0), ','))
        if (const auto kind = parse_enum<Kind>(name)) chosen.kinds.push_back(*kind);
    return chosen;
}

Result<NoticeSettings> Notices::choose(const access::Caller& caller, const access::SpaceId& space,
                                       const std::vector<Kind>& kinds) {
    TRY(caller.require(access::Permission::project_read, space));
    std::string names;
    for (const auto& known : enum_names(Kind{}))
        if (std::find(kinds.begin(), kinds.end(), known.value) != kinds.end())
            names += (names.empty() ? "" : ",") + std::string(known.name);
    TRY(m_database.execute("INSERT INTO notice_settings (principal, space_id, kinds, chosen_at) VALUES (?,?,?,?) ON "
                           "CONFLICT (principal, space_id) DO UPDATE SET kinds = excluded.kinds, chosen_at = "
                           "excluded.chosen_at",
                           caller.actor(), space, names, m_clock.now()));
    return settings(caller, space);
}

Result<int64_t> Notices::mark_read(const access::Caller& caller, const access::SpaceId& space,
                                   const std::optional<NoticeId>& up_to) {
    TRY(caller.require(access::Permission::project_read, space));
    if (!caller.run.empty()) return forbidden("a worker cannot mark the notices of its person as read");
    std::string mark;
    if (up_to) {
        const auto rows = TRY(m_database.query("SELECT id FROM notices WHERE id = ? AND space_id = ?", *up_to, space));
        if (rows.empty()) return not_found("notice " + up_to->text());
        mark = up_to->text();
    } else {
        const auto rows = TRY(m_database.query("SELECT COALESCE(MAX(id), '') FROM notices WHERE space_id = ?", space));
        mark = rows.front().text(0);
    }
    TRY(m_database.execute("INSERT INTO notice_marks (principal, space_id, read_up_to, marked_at) VALUES (?,?,?,?) "
                           "ON CONFLICT (principal, space_id) DO UPDATE SET read_up_to = excluded.read_up_to, "
                           "marked_at = excluded.marked_at WHERE notice_marks.read_up_to < excluded.read_up_to",
                           caller.principal(), space, mark, m_clock.now()));
    return count_unread(caller, space);
}

Result<int64_t> Notices::sweep(Duration keep) {
    return m_database.execute("DELETE FROM notices WHERE created_at < ?", m_clock.now() - keep);
}

} // namespace hone::notice
