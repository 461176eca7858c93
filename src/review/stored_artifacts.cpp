#include "review/stored_artifacts.h"

namespace hone::review {

namespace {

// Of a row `a` of artifacts.
const std::string is_open = "(a.review IN ('pending', 'changes_requested') OR EXISTS (SELECT 1 FROM pull_requests p "
                            "WHERE p.artifact_id = a.id AND p.state IN ('queued', 'pushed', 'open')))";
const std::string is_needed =
    "(a.kept_by IS NOT NULL OR " + is_open +
    " OR EXISTS (SELECT 1 FROM label_publications l WHERE l.artifact_id = a.id) OR EXISTS (SELECT "
    "1 FROM dataset_files d WHERE d.artifact_id = a.id))";

Result<std::set<std::string>> run_ids(sql::Database& database, const std::string& condition) {
    std::set<std::string> runs;
    for (const auto& row : TRY(database.query("SELECT DISTINCT a.run_id FROM artifacts a WHERE " + condition)))
        runs.insert(row.text(0));
    return runs;
}

} // namespace

Result<std::vector<StoredArtifact>> stored_artifacts(sql::Database& database) {
    const auto rows = TRY(database.query("SELECT a.id, a.run_id, a.bytes, CASE WHEN " + is_needed +
                                         " THEN 1 ELSE 0 END, a.created_at FROM artifacts a"));
    std::vector<StoredArtifact> all;
    for (const auto& row : rows)
        all.push_back({row.id<ArtifactTag>(0), row.text(1), row.integer(2), row.integer(3) != 0, row.time(4)});
    return all;
}

Result<std::set<std::string>> runs_with_needed_artifacts(sql::Database& database) {
    return run_ids(database, is_needed);
}

Result<bool> has_needed_artifacts(sql::Transaction& transaction, const std::string& run) {
    return !TRY(transaction.query("SELECT 1 FROM artifacts a WHERE a.run_id = ? AND " + is_needed + " LIMIT 1", run))
                .empty();
}

Result<bool> has_open_pull_request(sql::Transaction& transaction, const std::string& run) {
    return !TRY(transaction.query("SELECT 1 FROM artifacts a JOIN pull_requests p ON p.artifact_id = a.id WHERE "
                                  "a.run_id = ? AND p.state IN ('queued', 'pushed', 'open') LIMIT 1",
                                  run))
                .empty();
}

Result<std::set<std::string>> runs_with_open_branches(sql::Database& database) {
    return run_ids(database, "a.kind = 'branch' AND (a.kept_by IS NOT NULL OR " + is_open + ")");
}

Result<bool> remove_unneeded(sql::Database& database, const ArtifactId& id) {
    return database.write([&](sql::Transaction& transaction) -> Result<bool> {
        const auto needed = TRY(transaction.query("SELECT 1 FROM artifacts a WHERE a.id = ? AND " + is_needed, id));
        if (!needed.empty()) return false;
        return TRY(transaction.execute("DELETE FROM artifacts WHERE id = ?", id)) > 0;
    });
}

} // namespace hone::review
