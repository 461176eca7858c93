// Comments and viewed marks of Reviews.
#include "base/text.h"
#include "review/reviews.h"
#include "sql/columns.h"

#include <fmt/format.h>
#include <map>

namespace hone::review {

using access::Caller, access::Page, access::PageRequest, access::Permission;

namespace {

constexpr Pack comment_columns{
    sql::Column{"id", &Comment::id},
    sql::Column{"artifact_id", &Comment::artifact_id},
    sql::Column{"reply_to", &Comment::reply_to},
    sql::Column{"revision", &Comment::revision},
    sql::Column{"path", &Comment::path},
    sql::Column{"side", &Comment::side, Side::after},
    sql::Column{"line", &Comment::line},
    sql::Column{"body", &Comment::body},
    sql::Column{"author_name", &Comment::author},
    sql::Column{"resolved_by", &Comment::resolved_by},
    sql::Column{"resolved_at", &Comment::resolved_at},
    sql::Column{"told_at", &Comment::told_at},
    sql::Column{"created_at", &Comment::created_at},
    sql::Column{"edited_at", &Comment::edited_at},
};
// After the columns: the author's principal.
const std::string select_comment = "SELECT " + sql::names(comment_columns) + ", author FROM review_comments";
constexpr size_t longest_comment = 10'000;
constexpr int64_t most_comments = 2'000;

Comment comment_of(const sql::Row& row, const Caller& caller) {
    Comment made = sql::read<Comment>(comment_columns, row);
    made.mine = row.text(sql::width(comment_columns)) == caller.principal();
    return made;
}

Result<std::string> checked_body(std::string_view body) {
    if (trim(body).empty()) return invalid("body is empty");
    if (body.size() > longest_comment) return invalid("body has at most 10,000 bytes");
    if (!is_valid_utf8(body) || body.find('\0') != std::string_view::npos) return invalid("body is not text");
    return std::string(body);
}

// Whether the diff shows that line on that side.
bool shows(const FileDiff& file, Side side, int64_t line) {
    for (const Hunk& hunk : file.hunks)
        for (const DiffLine& shown : hunk.lines)
            if ((side == Side::before ? shown.old_line : shown.new_line) == line) return true;
    return false;
}

const FileDiff* find_file(const Diff& diff, const std::string& path) {
    for (const FileDiff& file : diff.files)
        if (file.file.path == path) return &file;
    return nullptr;
}

} // namespace

Result<Page<Comment>> Reviews::comments(const Caller& caller, const ArtifactId& id, const PageRequest& page) const {
    TRY(m_artifacts.find(caller, id));
    const std::string after = TRY(page.after());
    const auto rows = TRY(m_database.query(select_comment + " WHERE artifact_id = ? AND id > ? ORDER BY id LIMIT ?", id,
                                           after, page.limit + 1));
    std::vector<Comment> found;
    for (const auto& row : rows) found.push_back(comment_of(row, caller));
    return access::make_page(std::move(found), page, [](const Comment& comment) { return comment.id.text(); });
}

Result<Comment> Reviews::comment(const Caller& caller, const ArtifactId& id, const NewComment& wanted) {
    const Artifact artifact = TRY(m_artifacts.find(caller, id, Permission::artifact_review));
    if (!caller.run.empty()) return forbidden("a worker cannot review");
    Comment made;
    made.body = TRY(checked_body(wanted.body));
    made.path = wanted.path.value_or("");
    made.side = wanted.side.value_or(Side::after);
    made.line = wanted.line;
    if (wanted.reply_to) {
        if (wanted.path || wanted.line || wanted.side || wanted.revision)
            return invalid("a reply has the position of its thread: send only reply_to and body");
        const auto first = TRY(m_database.query("SELECT id, reply_to, revision, path, side, line FROM review_comments "
                                                "WHERE artifact_id = ? AND id = ?",
                                                id, *wanted.reply_to));
        if (first.empty()) return not_found("comment " + std::string(truncate_utf8(*wanted.reply_to, 60)));
        const sql::Row row = first.front();
        made.reply_to = row.is_null(1) ? row.id<CommentTag>(0) : row.id<CommentTag>(1);
        made.revision = row.integer(2);
        made.path = row.text(3);
        made.side = parse_enum<Side>(row.text(4)).value_or(Side::after);
        made.line = row.optional_integer(5);
    } else if (artifact.kind == ArtifactKind::branch) {
        const Revision revision = TRY(m_branches.revision(id, wanted.revision.value_or(0)));
        made.revision = revision.revision;
        if (made.line && made.path.empty()) return invalid("line needs a path");
        if (!made.path.empty()) {
            const Diff diff = TRY(m_branches.diff(revision));
            const FileDiff* file = find_file(diff, made.path);
            if (file == nullptr) return invalid("path: the diff of this revision has no such file");
            if (made.line && !shows(*file, made.side, *made.line))
                return invalid("line: the diff does not show that line on that side");
        }
    } else if (wanted.path || wanted.line || wanted.side || wanted.revision) {
        return invalid("path, line, side and revision are for branches");
    }
    made.id = make_id<CommentTag>(m_clock);
    made.author = name_of_person(caller);
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto count = TRY(transaction.query("SELECT COUNT(*) FROM review_comments WHERE artifact_id = ?", id));
        if (count.front().integer(0) >= most_comments) return too_large("an artifact has at most 2,000 comments");
        TRY(transaction.execute("INSERT INTO review_comments (id, artifact_id, reply_to, revision, path, side, line, "
                                "body, author, author_name, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                                made.id, id, made.reply_to, made.revision, made.path, name_of(made.side), made.line,
                                made.body, caller.principal(), made.author, m_clock.now()));
        return m_access.audit.record(transaction, caller,
                                     {"review_comment", artifact.space_id, id.text(), {{"comment", made.id.text()}}});
    }));
    const auto rows = TRY(m_database.query(select_comment + " WHERE id = ?", made.id));
    return comment_of(rows.front(), caller);
}

Result<Comment> Reviews::change_comment(const Caller& caller, const ArtifactId& id, const CommentId& comment,
                                        const std::optional<std::string>& body, std::optional<bool> resolved) {
    TRY(m_artifacts.find(caller, id, Permission::artifact_review));
    const auto rows = TRY(m_database.query(select_comment + " WHERE artifact_id = ? AND id = ?", id, comment));
    if (rows.empty()) return not_found("comment " + comment.text());
    const Comment before = comment_of(rows.front(), caller);
    if (!body && !resolved) return invalid("nothing to change: give body or resolved");
    if (body) {
        if (!before.mine) return forbidden("only its author changes a comment");
        if (before.told_at) return conflict("the session has received the comment already; write another one");
        TRY(m_database.execute("UPDATE review_comments SET body = ?, edited_at = ? WHERE id = ?",
                               TRY(checked_body(*body)), m_clock.now(), comment));
    }
    if (resolved) {
        const std::optional<std::string> who = *resolved ? std::optional(name_of_person(caller)) : std::nullopt;
        const std::optional<Time> when = *resolved ? std::optional(m_clock.now()) : std::nullopt;
        TRY(m_database.execute("UPDATE review_comments SET resolved_by = ?, resolved_at = ? WHERE id = ?", who, when,
                               before.reply_to.value_or(comment)));
    }
    const auto after = TRY(m_database.query(select_comment + " WHERE id = ?", comment));
    return comment_of(after.front(), caller);
}

// Open threads that were not sent to the session; oldest first.
Result<std::vector<Comment>> Reviews::untold(const ArtifactId& id) const {
    const auto rows = TRY(m_database.query(select_comment + " WHERE artifact_id = ? AND told_at IS NULL AND "
                                                            "resolved_at IS NULL ORDER BY id LIMIT 500",
                                           id));
    std::vector<Comment> found;
    for (const auto& row : rows) found.push_back(comment_of(row, Caller::system()));
    return found;
}

Result<std::vector<std::string>> Reviews::viewed(const Caller& caller, const ArtifactId& id) const {
    const Artifact artifact = TRY(m_artifacts.find(caller, id));
    const auto rows =
        TRY(m_database.query("SELECT path, revision FROM review_viewed WHERE artifact_id = ? AND viewer = "
                             "? ORDER BY path LIMIT 5000",
                             id, caller.principal()));
    std::vector<std::string> paths;
    if (rows.empty() || artifact.kind != ArtifactKind::branch) return paths;
    const Revision newest = TRY(m_branches.revision(id, 0));
    std::map<int64_t, Diff> diffs;
    const auto file_of = [&](int64_t number, const std::string& path) -> Result<std::string> {
        if (!diffs.contains(number)) diffs.emplace(number, TRY(m_branches.diff(TRY(m_branches.revision(id, number)))));
        const FileDiff* file = find_file(diffs.at(number), path);
        return file == nullptr ? std::string() : json::write(*file);
    };
    for (const auto& row : rows) {
        const std::string& path = row.text(0);
        if (row.integer(1) == newest.revision) {
            paths.push_back(path);
            continue;
        }
        // A mark holds as long as the file's change is the same.
        const auto then = file_of(row.integer(1), path);
        const auto now = file_of(newest.revision, path);
        if (then.ok() && now.ok() && !now.value().empty() && then.value() == now.value()) paths.push_back(path);
    }
    return paths;
}

Result<> Reviews::set_viewed(const Caller& caller, const ArtifactId& id, const std::string& path, bool viewed) {
    const Artifact artifact = TRY(m_artifacts.find(caller, id));
    if (artifact.kind != ArtifactKind::branch) return invalid("viewed marks are for branches");
    const Revision newest = TRY(m_branches.revision(id, 0));
    if (viewed) {
        const Diff diff = TRY(m_branches.diff(newest));
        if (find_file(diff, path) == nullptr) return invalid("path: the diff has no such file");
        TRY(m_database.execute("INSERT INTO review_viewed (artifact_id, viewer, path, revision, viewed_at) VALUES (?, "
                               "?, ?, ?, ?) ON CONFLICT (artifact_id, viewer, path) DO UPDATE SET revision = "
                               "excluded.revision, viewed_at = excluded.viewed_at",
                               id, caller.principal(), path, newest.revision, m_clock.now()));
    } else {
        TRY(m_database.execute("DELETE FROM review_viewed WHERE artifact_id = ? AND viewer = ? AND path = ?", id,
                               caller.principal(), path));
    }
    return {};
}

} // namespace hone::review
