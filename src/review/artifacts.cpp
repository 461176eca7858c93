#include "review/artifacts.h"

#include "access/names.h"
#include "access/project_list.h"
#include "base/log.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "review/label_outbox.h"
#include "sql/columns.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace hone::review {

using access::Caller, access::Page, access::PageRequest, access::Permission, access::SpaceId;

namespace {

// Versions of datasets never change: what their examples name stays as it is.
Result<bool> is_named_by_example(sql::Transaction& transaction, const ArtifactId& id) {
    return !TRY(transaction.query("SELECT 1 FROM dataset_files WHERE artifact_id = ? LIMIT 1", id)).empty();
}

constexpr Pack artifact_columns{
    sql::Column{"id", &Artifact::id},
    sql::Column{"space_id", &Artifact::space_id},
    sql::Column{"project_id", &Artifact::project_id},
    sql::Column{"run_id", &Artifact::run_id},
    sql::Column{"kind", &Artifact::kind, ArtifactKind::file},
    sql::Column{"name", &Artifact::name},
    sql::Column{"summary", &Artifact::summary},
    sql::Column{"media_type", &Artifact::media_type},
    sql::Column{"bytes", &Artifact::bytes},
    sql::Column{"digest", &Artifact::digest},
    sql::Column{"review", &Artifact::review, ReviewState::pending},
    sql::Column{"reviewer_name", &Artifact::reviewer},
    sql::Column{"comment", &Artifact::comment},
    sql::Column{"reviewed_at", &Artifact::reviewed_at},
    sql::Column{"applied_at", &Artifact::applied_at},
    sql::Column{"kept_by", &Artifact::kept_by},
    sql::Column{"created_at", &Artifact::created_at},
};
const std::string select_artifact = "SELECT " + sql::names(artifact_columns) + " FROM artifacts";
// Content without a row may be in the middle of being saved.
constexpr auto sweep_age = std::chrono::hours(1);
constexpr auto deletion_age = std::chrono::minutes(1);
// A reviewer who saw a content that was replaced just now reads what has changed.
constexpr auto replaced_age = std::chrono::minutes(10);
constexpr int64_t most_replaced = 10'000; // of a run, within that time

Artifact artifact_of(const sql::Row& row) {
    return sql::read<Artifact>(artifact_columns, row);
}

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> endings) {
    const std::string lower = lowercase_ascii(name);
    for (const std::string_view ending : endings)
        if (lower.ends_with(ending)) return true;
    return false;
}

constexpr size_t most_quoted = 3;
constexpr size_t longest_quote = 120;

std::vector<std::string> parts_of(std::string_view content, bool as_array) {
    std::vector<std::string> parts;
    if (as_array) {
        const auto value = json::parse(content);
        for (const json::Value& element : value.value().get_array()) parts.push_back(json::print(element));
        return parts;
    }
    for (const std::string_view line : split(content, '\n')) parts.emplace_back(line);
    return parts;
}

bool is_array(std::string_view content) {
    const auto value = json::parse(content);
    return value.ok() && value.value().is_array();
}

// Those of `some` that `others` does not have, each as often as it is missing there.
std::vector<std::string> missing_in(const std::vector<std::string>& others, const std::vector<std::string>& some) {
    std::map<std::string, int64_t> counts;
    for (const std::string& each : others) ++counts[each];
    std::vector<std::string> missing;
    for (const std::string& each : some)
        if (--counts[each] < 0) missing.push_back(each);
    return missing;
}

// Control characters could act in a terminal.
std::string printable(std::string_view text) {
    std::string out;
    for (const char c : text) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    return out;
}

std::string quoted(std::string_view verb, const std::vector<std::string>& parts) {
    std::string out;
    for (size_t i = 0; i < std::min(parts.size(), most_quoted); ++i)
        out += fmt::format("{}{} {}", out.empty() ? "" : "; ", verb,
                           printable(truncate_utf8(trim(parts[i]), longest_quote)));
    return out;
}

} // namespace

std::string change_summary(std::string_view before, std::string_view after) {
    if (!is_valid_utf8(before) || !is_valid_utf8(after))
        return fmt::format("{} bytes then, {} bytes now", before.size(), after.size());
    const bool arrays = is_array(before) && is_array(after);
    const auto then = parts_of(before, arrays), now = parts_of(after, arrays);
    const auto added = missing_in(then, now), removed = missing_in(now, then);
    std::string out =
        fmt::format("{} {} added, {} removed", added.size(), arrays ? "entries" : "lines", removed.size());
    const std::string first = quoted("removed", removed), second = quoted("added", added);
    if (!first.empty()) out += "; " + first;
    if (!second.empty()) out += "; " + second;
    return out;
}

std::string sniff_media_type(std::string_view name, std::string_view content) {
    if (content.starts_with("\x89PNG\r\n\x1a\n")) return "image/png";
    if (content.starts_with("\xff\xd8\xff")) return "image/jpeg";
    if (content.starts_with("GIF87a") || content.starts_with("GIF89a")) return "image/gif";
    if (content.size() > 12 && content.starts_with("RIFF") && content.substr(8, 4) == "WEBP") return "image/webp";
    if (content.starts_with("%PDF-")) return "application/pdf";
    if (content.find('\0') != std::string_view::npos || !is_valid_utf8(content)) return "application/octet-stream";
    if (ends_with_any(name, {".svg"}) && content.substr(0, 4096).find("<svg") != std::string_view::npos)
        return "image/svg+xml";
    if (ends_with_any(name, {".md", ".markdown"})) return "text/markdown";
    if (ends_with_any(name, {".csv"})) return "text/csv";
    if (ends_with_any(name, {".json"})) return "application/json";
    if (ends_with_any(name, {".jsonl", ".ndjson"})) return "application/x-ndjson";
    return "text/plain";
}

Result<std::string> checked_file_name(std::string_view name) {
    const std::string_view plain = trim(name);
    if (plain.empty() || plain.size() > 200) return invalid("name must be 1 to 200 bytes long");
    if (!is_valid_utf8(plain)) return invalid("name is not valid UTF-8");
    if (plain == "." || plain == ".." || plain.find('/') != std::string_view::npos ||
        plain.find('\\') != std::string_view::npos)
        return invalid("name must be a file's name, without folders");
    for (const char c : plain)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return invalid("name holds a control character");
    return std::string(plain);
}

Result<Artifact> Artifacts::save(const NewArtifact& wanted) {
    Artifact made;
    made.name = TRY(checked_file_name(wanted.name));
    made.summary = repair_utf8(truncate_utf8(wanted.summary, 2000));
    std::erase(made.summary, '\0');
    made.bytes = static_cast<int64_t>(wanted.content.size());
    if (made.bytes > m_caps.bytes) return too_large(fmt::format("an artifact has at most {} MiB", m_caps.bytes >> 20));
    made.digest = to_hex(crypto::hash(wanted.content));
    made.media_type = wanted.kind == ArtifactKind::investigation ? "text/markdown"
                      : wanted.kind == ArtifactKind::labels      ? "application/json"
                                                                 : sniff_media_type(made.name, wanted.content);
    remove_replaced();
    const StillStored of_run = replaced(wanted.run);
    if (of_run.bytes + made.bytes > m_caps.run_bytes || of_run.count >= most_replaced)
        return busy("this run saved and replaced too many artifacts; try again in ten minutes");
    // The content is on disk before anything names it.
    TRY(keep_content(wanted.content));
    made.id = make_id<ArtifactTag>(m_clock);
    auto saved = write_saved(wanted, made);
    if (saved.ok()) return find(Caller::system(), saved.value());
    note_replaced(made.digest, wanted.run, made.bytes);
    return std::move(saved).error();
}

Result<ArtifactId> Artifacts::write_saved(const NewArtifact& wanted, const Artifact& made) {
    const ReviewState review = wanted.approved ? ReviewState::approved : ReviewState::pending;
    const Time now = m_clock.now();
    const int64_t still_stored = replaced().bytes;
    std::optional<Replaced> before;
    auto id = m_database.write([&](sql::Transaction& transaction) -> Result<ArtifactId> {
        const auto same = TRY(transaction.query(
            "SELECT id, review, reviewer, digest, bytes FROM artifacts WHERE run_id = ? AND kind = ? AND name = ?",
            wanted.run, name_of(wanted.kind), made.name));
        if (!same.empty() && same.front().text(1) == name_of(ReviewState::approved) && !same.front().is_null(2))
            return conflict(made.name + " was approved by a person; save it under another name");
        if (!same.empty() && same.front().text(3) != made.digest &&
            TRY(is_named_by_example(transaction, same.front().id<ArtifactTag>(0))))
            return conflict("an example of a dataset names " + made.name + "; save it under another name");
        const auto sums = TRY(transaction.query(
            "SELECT COUNT(*), COALESCE(SUM(bytes), 0) FROM artifacts WHERE run_id = ? AND NOT (kind = ? AND name = ?)",
            wanted.run, name_of(wanted.kind), made.name));
        if (sums.front().integer(0) >= m_caps.count)
            return too_large(fmt::format("a run has at most {} artifacts", m_caps.count));
        if (static_cast<int64_t>(sums.front().real(1)) + made.bytes > m_caps.run_bytes)
            return too_large(
                fmt::format("the artifacts of a run have at most {} MiB together", m_caps.run_bytes >> 20));
        const auto all = TRY(transaction.query("SELECT COALESCE(SUM(bytes), 0) FROM artifacts"));
        if (static_cast<int64_t>(all.front().real(0)) + still_stored + made.bytes > m_caps.all_bytes)
            return too_large(fmt::format("the artifacts of this installation have at most {} MiB together: review or "
                                         "delete some",
                                         m_caps.all_bytes >> 20));
        const ArtifactId saved = same.empty() ? made.id : same.front().id<ArtifactTag>(0);
        if (!same.empty()) {
            before = Replaced{same.front().text(3), wanted.run, same.front().integer(4)};
            TRY(transaction.execute(
                "UPDATE artifacts SET previous_digest = CASE WHEN digest = ? THEN previous_digest ELSE digest END, "
                "summary = ?, media_type = ?, bytes = ?, digest = ?, review = ?, reviewer = NULL, reviewer_name = "
                "NULL, comment = '', reviewed_at = NULL, applied_at = NULL, created_at = ? WHERE id = "
                "?",
                made.digest, made.summary, made.media_type, made.bytes, made.digest, name_of(review), now, saved));
        } else {
            TRY(transaction.execute("INSERT INTO artifacts (id, space_id, project_id, run_id, kind, name, summary, "
                                    "media_type, bytes, digest, "
                                    "review, comment, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?)",
                                    made.id, wanted.space, wanted.project, wanted.run, name_of(wanted.kind), made.name,
                                    made.summary, made.media_type, made.bytes, made.digest, name_of(review), now));
        }
        // Labels that wait for a review again must not be published by an earlier approval.
        TRY(transaction.execute("DELETE FROM label_publications WHERE artifact_id = ?", saved));
        if (wanted.approved && wanted.kind == ArtifactKind::labels)
            TRY(LabelOutbox::enqueue(transaction, m_clock, saved, made.digest));
        return saved;
    });
    if (id.ok() && before && before->digest != made.digest) note_replaced(before->digest, before->run, before->bytes);
    return id;
}

Result<Artifact> Artifacts::find(const Caller& caller, const ArtifactId& id, Permission permission) const {
    if (caller.is_guest()) return unauthorized("log in, or send an API key as `Authorization: Bearer …`");
    const auto rows = TRY(m_database.query(select_artifact + " WHERE id = ?", id));
    if (rows.empty()) return not_found("artifact " + id.text());
    Artifact artifact = artifact_of(rows.front());
    TRY(access::require_in_project(m_access.projects, caller, artifact.space_id, artifact.project_id, permission,
                                   "artifact " + id.text()));
    return artifact;
}

Result<Page<Artifact>> Artifacts::list(const Caller& caller, const SpaceId& space, const ArtifactFilter& filter,
                                       const PageRequest& page) const {
    auto list = TRY(access::ProjectList::create(m_access.projects, caller, space, filter.project, Permission::run_read,
                                                select_artifact));
    if (filter.run) list.where("run_id = ?", *filter.run);
    if (filter.kind) list.where("kind = ?", name_of(*filter.kind));
    if (filter.review) list.where("review = ?", name_of(*filter.review));
    const auto rows = TRY(list.newest_first(m_database, page));
    std::vector<Artifact> artifacts;
    for (const auto& row : rows) artifacts.push_back(artifact_of(row));
    return access::make_page(std::move(artifacts), page, [](const Artifact& artifact) { return artifact.id.text(); });
}

Result<std::string> Artifacts::content(const Artifact& artifact) const {
    if (artifact.digest.empty()) return conflict("the content of " + artifact.name + " is being made");
    return content_of(artifact.digest);
}

Result<std::map<std::string, int64_t>> Artifacts::bytes_by_space() const {
    std::map<std::string, int64_t> bytes;
    for (const auto& row :
         TRY(m_database.query("SELECT a.space_id, CAST(SUM(a.bytes) AS BIGINT) FROM (SELECT DISTINCT space_id, "
                              "digest, bytes FROM artifacts) a GROUP BY a.space_id")))
        bytes[row.text(0)] = row.integer(1);
    return bytes;
}

Result<std::string> Artifacts::keep_content(std::string_view content) {
    return m_contents.keep(content);
}

Result<std::string> Artifacts::content_of(const std::string& digest) const {
    return m_contents.read(digest, static_cast<size_t>(m_caps.bytes));
}

Result<> Artifacts::add_branch(sql::Transaction& transaction, const NewBranchArtifact& wanted) {
    const auto sums = TRY(transaction.query("SELECT COUNT(*) FROM artifacts WHERE run_id = ?", wanted.run));
    if (sums.front().integer(0) >= m_caps.count)
        return too_large(fmt::format("a run has at most {} artifacts", m_caps.count));
    TRY(transaction.execute(
        "INSERT INTO artifacts (id, space_id, project_id, run_id, kind, name, summary, media_type, bytes, digest, "
        "review, comment, created_at) VALUES (?, ?, ?, ?, 'branch', ?, '', 'text/x-diff', 0, '', 'pending', '', ?)",
        wanted.id, wanted.space, wanted.project, wanted.run, wanted.name, m_clock.now()));
    return {};
}

Result<> Artifacts::reopen(sql::Transaction& transaction, const ArtifactId& id) {
    TRY(transaction.execute("UPDATE artifacts SET review = 'pending', reviewer = NULL, reviewer_name = NULL, comment = "
                            "'', reviewed_at = NULL, applied_at = NULL, created_at = ? WHERE id = ?",
                            m_clock.now(), id));
    return {};
}

Result<> Artifacts::describe_branch(sql::Transaction& transaction, const ArtifactId& id, const std::string& summary,
                                    const std::string& digest, int64_t bytes) {
    TRY(transaction.execute("UPDATE artifacts SET summary = ?, digest = ?, bytes = ? WHERE id = ?", summary, digest,
                            bytes, id));
    return {};
}

Error Artifacts::changed_since(const Artifact& now, const std::string& reviewed, const std::string& previous) const {
    std::string message =
        fmt::format("{} was saved again at {}: you reviewed the content {}, now it is {}", now.name,
                    to_text(now.created_at).substr(0, 19) + "Z", truncate_utf8(reviewed, 12), now.digest.substr(0, 12));
    // Any other digest may be of a content that the caller must not read.
    if (reviewed != previous || previous.empty()) return conflict(message + ". Review it again");
    const auto before = content_of(previous);
    const auto after = content_of(now.digest);
    if (before.ok() && after.ok()) message += " (" + change_summary(before.value(), after.value()) + ")";
    return conflict(message + ". Review it again");
}

Result<Artifact> Artifacts::decide(const Caller& caller, const ArtifactId& id, const Verdict& verdict) {
    const Artifact artifact = TRY(find(caller, id, Permission::artifact_review));
    const ReviewState decision = verdict.decision;
    if (artifact.kind == ArtifactKind::branch) return internal("branches are reviewed through /v1/reviews");
    if (decision == ReviewState::pending) return invalid("decide: approved, rejected or changes_requested");
    const std::string comment = TRY(access::checked_description(verdict.comment));
    if (decision == ReviewState::changes_requested && trim(comment).empty())
        return invalid("comment is missing: describe what should be different");
    const std::string action = "artifact_" + std::string(name_of(decision));
    return m_database.write([&](sql::Transaction& transaction) -> Result<Artifact> {
        const int64_t decided = TRY(transaction.execute("UPDATE artifacts SET review = ?, reviewer = ?, reviewer_name "
                                                        "= ?, comment = ?, reviewed_at = ? WHERE id = ? "
                                                        "AND digest = ? AND review IN ('pending', 'changes_requested')",
                                                        name_of(decision), caller.actor(), caller.name, comment,
                                                        m_clock.now(), id, verdict.digest));
        const auto rows = TRY(transaction.query(select_artifact + " WHERE id = ?", id));
        if (rows.empty()) return not_found("artifact " + id.text());
        Artifact now = artifact_of(rows.front());
        if (decided == 0 && now.digest != verdict.digest) {
            const auto replaced = TRY(transaction.query("SELECT previous_digest FROM artifacts WHERE id = ?", id));
            return changed_since(now, verdict.digest, std::string(replaced.front().text(0)));
        }
        if (decided == 0)
            return conflict(fmt::format("{} is {} already, by {}", now.name, name_of(now.review),
                                        now.reviewer.value_or("the preset's policy")));
        if (decision == ReviewState::approved && artifact.kind == ArtifactKind::labels)
            TRY(LabelOutbox::enqueue(transaction, m_clock, id, verdict.digest));
        if (verdict.together) TRY(verdict.together(transaction));
        TRY(m_access.audit.record(transaction, caller,
                                  {action,
                                   artifact.space_id,
                                   id.text(),
                                   {{"run", artifact.run_id}, {"name", artifact.name}, {"digest", verdict.digest}}}));
        return now;
    });
}

Result<> Artifacts::applied(const ArtifactId& id) {
    TRY(m_database.execute("UPDATE artifacts SET applied_at = ? WHERE id = ?", m_clock.now(), id));
    return {};
}

Result<Artifact> Artifacts::keep(const Caller& caller, const ArtifactId& id, bool kept) {
    const Artifact artifact = TRY(find(caller, id, Permission::artifact_review));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("UPDATE artifacts SET kept_by = ? WHERE id = ?",
                                kept ? std::optional(caller.name) : std::nullopt, id));
        return m_access.audit.record(transaction, caller,
                                     {kept ? "artifact_keep" : "artifact_release",
                                      artifact.space_id,
                                      id.text(),
                                      {{"run", artifact.run_id}, {"name", artifact.name}}});
    }));
    return find(Caller::system(), id);
}

Result<> Artifacts::remove(const Caller& caller, const ArtifactId& id) {
    const Artifact artifact = TRY(find(caller, id, Permission::trace_delete));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto open = TRY(transaction.query(
            "SELECT 1 FROM pull_requests WHERE artifact_id = ? AND state IN ('queued', 'pushed', 'open')", id));
        if (!open.empty()) return conflict("its pull request is open: merge, close or withdraw the pull request first");
        if (TRY(is_named_by_example(transaction, id)))
            return conflict("an example of a dataset names it: delete the dataset first");
        if (TRY(transaction.execute("DELETE FROM artifacts WHERE id = ?", id)) == 0)
            return not_found("artifact " + id.text());
        return m_access.audit.record(transaction, caller,
                                     {"artifact_delete",
                                      artifact.space_id,
                                      id.text(),
                                      {{"run", artifact.run_id}, {"name", artifact.name}, {"bytes", artifact.bytes}}});
    }));
    // A worker may be saving the same content right now: what was written a moment ago is left to the sweep.
    const auto removed = m_contents.remove(artifact.digest, deletion_age,
                                           [this](const std::string& digest) { return is_named(digest); });
    if (!removed.ok())
        log(Level::warning, "content of a deleted artifact stays until the next sweep",
            {{"artifact", id.text()}, {"error", removed.error().message}});
    return {};
}

Result<bool> Artifacts::is_named(const std::string& digest) const {
    return !TRY(m_database.query(
                    "SELECT 1 FROM artifacts WHERE digest = ? UNION ALL SELECT 1 FROM review_revisions WHERE "
                    "diff_digest = ? UNION ALL SELECT 1 FROM review_revisions WHERE patch_digest = ? "
                    "UNION ALL SELECT 1 FROM label_publications WHERE digest = ?",
                    digest, digest, digest, digest))
                .empty();
}

void Artifacts::note_replaced(const std::string& digest, const std::string& run, int64_t bytes) {
    const Lock lock(m_mutex);
    m_replaced.push_back({digest, run, bytes, m_clock.steady()});
}

Artifacts::StillStored Artifacts::replaced(const std::string& run) const {
    const Lock lock(m_mutex);
    StillStored sum;
    for (const Replaced& one : m_replaced) {
        if (!run.empty() && one.run != run) continue;
        sum.bytes += one.bytes;
        sum.count += 1;
    }
    return sum;
}

void Artifacts::remove_replaced() {
    std::vector<Replaced> due;
    {
        const Lock lock(m_mutex);
        const Duration now = m_clock.steady();
        // The oldest are first.
        const auto recent =
            std::ranges::find_if(m_replaced, [&](const Replaced& one) { return now - one.since < replaced_age; });
        due.assign(m_replaced.begin(), recent);
        m_replaced.erase(m_replaced.begin(), recent);
    }
    for (const Replaced& one : due) {
        const auto removed =
            m_contents.remove(one.digest, deletion_age, [this](const std::string& digest) { return is_named(digest); });
        if (!removed.ok())
            log(Level::warning, "replaced content stays until the next sweep",
                {{"run", one.run}, {"error", removed.error().message}});
    }
}

Result<Artifacts::Swept> Artifacts::sweep() {
    return m_contents.sweep(sweep_age, [this](const std::string& digest) { return is_named(digest); });
}

Result<std::vector<Artifact>> artifacts_pending_since(sql::Database& database, Time since, int64_t limit) {
    const auto rows = TRY(database.query(
        select_artifact + " WHERE review = 'pending' AND (created_at >= ? OR id IN (SELECT artifact_id FROM "
                          "review_revisions WHERE pushed_at >= ?)) ORDER BY created_at LIMIT ?",
        since, since, limit));
    std::vector<Artifact> artifacts;
    for (const auto& row : rows) artifacts.push_back(artifact_of(row));
    return artifacts;
}

} // namespace hone::review
