// Runs and their workspaces. The row in run_files is the journal of a run's files: it is written with the run and goes
// when nothing of the run is left, also when the run went with its project or space.
#include "base/log.h"
#include "review/stored_artifacts.h"
#include "run/settings/secret_env.h"
#include "run/storage/storage.h"
#include "sandbox/image/tree.h"
#include "sandbox/image/volume.h"

namespace hone::run {

namespace {

constexpr std::string_view is_ended = "state NOT IN ('queued', 'preparing', 'running', 'waiting')";
constexpr std::string_view is_live = "state IN ('queued', 'preparing', 'running', 'waiting')";
constexpr int64_t purge_page = 200;

std::optional<Duration> days(const std::optional<int64_t>& count) {
    return count ? std::optional<Duration>(std::chrono::hours(24 * *count)) : std::nullopt;
}

} // namespace

Result<std::map<std::string, SpacePolicy>> Storage::policies() const {
    return m_parts.policies.all();
}

// Runs whose workspace a fork will copy before its first sandbox, or whose secret variables a live rerun uses.
Result<std::set<std::string>> Storage::origins_of_live() const {
    std::set<std::string> origins;
    for (const auto& row : TRY(m_parts.database.query("SELECT manifest FROM runs WHERE " + std::string(is_live)))) {
        const auto manifest = json::read<Manifest>(row.text(0));
        if (manifest.ok()) origins.insert(*manifest.value().secret_env_of);
    }
    for (const auto& row :
         TRY(m_parts.database.query("SELECT fork_of FROM runs WHERE fork_of IS NOT NULL AND turns = 0 "
                                    "AND " +
                                    std::string(is_live))))
        origins.insert(row.text(0));
    return origins;
}

Result<std::set<std::string>> Storage::live_or_kept_runs() const {
    std::set<std::string> runs;
    for (const auto& row :
         TRY(m_parts.database.query("SELECT id FROM runs WHERE kept_by IS NOT NULL OR " + std::string(is_live))))
        runs.insert(row.text(0));
    return runs;
}

// --- runs ----------------------------------------------------------------------------------------------------------

// Live runs are not in the list. The number of runs is limited for each space, so that a busy one does not displace
// the runs of others: what is over it gets an age of zero.
Storage::Listed Storage::list_runs() {
    const auto needed = TRY(review::runs_with_needed_artifacts(m_parts.database));
    const auto origins = TRY(origins_of_live());
    const auto policies = TRY(this->policies());
    const auto rows = TRY(m_parts.database.query("SELECT id, space_id, ended_at, created_at, kept_by FROM runs WHERE " +
                                                 std::string(is_ended) + " ORDER BY space_id, id DESC"));
    const std::optional<int64_t> most = limits_of(StorageKind::runs).count;
    std::vector<Stored> all;
    std::string space;
    int64_t of_space = 0;
    for (const auto& row : rows) {
        Stored one;
        one.key = row.text(0);
        one.used = row.optional_time(2).value_or(row.time(3));
        one.needed = !row.is_null(4) || needed.contains(one.key) || origins.contains(one.key);
        of_space = row.text(1) == space ? of_space + 1 : 1;
        space = row.text(1);
        if (const auto policy = policies.find(space); policy != policies.end()) one.age = days(policy->second.run_days);
        if (most && of_space > *most) one.age = Duration::zero();
        all.push_back(std::move(one));
    }
    return all;
}

Result<bool> Storage::remove_run(const std::string& id) {
    return m_parts.database.write([&](sql::Transaction& transaction) -> Result<bool> {
        if (TRY(review::has_needed_artifacts(transaction, id))) return false;
        const int64_t gone = TRY(
            transaction.execute("DELETE FROM runs WHERE id = ? AND kept_by IS NULL AND " + std::string(is_ended), id));
        if (gone > 0) TRY(forget_secrets(transaction, m_parts.vault, id));
        return gone > 0;
    });
}

Result<Storage::Removed> Storage::purge() {
    Removed all;
    for (std::string position;;) {
        const auto rows = TRY(m_parts.database.query(
            "SELECT f.run_id, f.thread, f.space_id, f.trace_id FROM run_files f LEFT JOIN runs r ON r.id = f.run_id "
            "WHERE r.id IS NULL AND (f.server IS NULL OR f.server = ?) AND f.run_id > ? ORDER BY f.run_id LIMIT ?",
            m_parts.server, position, purge_page));
        std::map<std::string, std::vector<std::string>> traces;
        std::vector<std::string> purged;
        for (const auto& row : rows) {
            position = row.text(0);
            const auto removed = purge_run(row.text(0), row.text(1));
            if (!removed.ok()) { // a sandbox that is just ending has the workspace
                log(Level::info, "files of a deleted run not removed yet",
                    {{"run", row.text(0)}, {"why", removed.error().message}});
                continue;
            }
            all.bytes += removed.value().bytes;
            traces[row.text(2)].push_back(row.text(3));
            purged.push_back(row.text(0));
        }
        // Without the span engine their rows stay, and the next step deletes the traces.
        const auto deleted = delete_traces(traces);
        if (!deleted.ok()) {
            log(Level::warning, "traces of deleted runs not deleted yet", {{"why", deleted.error().message}});
            purged.clear();
        }
        pass("traces of deleted runs are deleted");
        for (const std::string& run : purged)
            TRY(m_parts.database.execute("DELETE FROM run_files WHERE run_id = ?", run));
        all.count += static_cast<int64_t>(purged.size());
        if (rows.size() < static_cast<size_t>(purge_page)) return all;
    }
}

Result<Storage::Removed> Storage::purge_run(const std::string& run, const std::string& thread) {
    Removed removed{1, 0};
    if (m_parts.store != nullptr && !thread.empty()) {
        const sandbox::Volumes volumes(*m_parts.store, m_parts.mounts_volumes);
        removed.bytes += TRY(volumes.bytes(thread));
        TRY(volumes.remove(thread));
        pass("the workspace of a deleted run is removed");
    }
    if (m_parts.quarantine != nullptr) TRY(m_parts.quarantine->remove(run));
    pass("the quarantine of a deleted run is removed");
    TRY(sandbox::remove_tree(m_parts.data_directory + "/runs/" + run));
    return removed;
}

Result<> Storage::delete_traces(const std::map<std::string, std::vector<std::string>>& by_space) {
    if (!m_parts.delete_traces) return {};
    for (const auto& [space, traces] : by_space) TRY(m_parts.delete_traces(access::SpaceId(space), traces));
    return {};
}

// --- workspaces ----------------------------------------------------------------------------------------------------

Storage::Listed Storage::list_workspaces() {
    std::vector<Stored> all;
    if (m_parts.store == nullptr) return all;
    const sandbox::Volumes volumes(*m_parts.store, m_parts.mounts_volumes);
    const auto origins = TRY(origins_of_live());
    const auto policies = TRY(this->policies());
    const auto rows = TRY(m_parts.database.query(
        "SELECT r.id, f.thread, r.space_id, r.ended_at, r.kept_by, CASE WHEN r." + std::string(is_live) +
            " THEN 1 ELSE 0 END FROM runs r JOIN run_files f ON f.run_id = r.id WHERE f.thread <> '' AND f.server = ?",
        m_parts.server));
    for (const auto& row : rows) {
        Stored one;
        one.key = row.text(0);
        one.bytes = TRY(volumes.bytes(row.text(1)));
        one.used = row.optional_time(3).value_or(m_parts.clock.now());
        one.needed = !row.is_null(4) || row.integer(5) != 0 || origins.contains(one.key);
        if (const auto policy = policies.find(row.text(2)); policy != policies.end())
            one.age = days(policy->second.workspace_days);
        all.push_back(std::move(one));
    }
    return all;
}

// From here on the run takes no follow-ups, so nothing waits for the volume.
Result<bool> Storage::mark_workspace(const std::string& run) {
    const int64_t marked = TRY(m_parts.database.execute(
        "UPDATE runs SET workspace_removed_at = ? WHERE id = ? AND kept_by IS NULL AND " + std::string(is_ended),
        m_parts.clock.now(), run));
    return marked > 0;
}

Result<Storage::Removed> Storage::remove_marked_workspaces() {
    Removed all;
    if (m_parts.store == nullptr) return all; // nor a cluster
    const sandbox::Volumes volumes(*m_parts.store, m_parts.mounts_volumes);
    const auto rows = TRY(m_parts.database.query(
        "SELECT f.run_id, f.thread FROM run_files f JOIN runs r ON r.id = f.run_id WHERE r.workspace_removed_at IS NOT "
        "NULL AND f.thread <> '' AND f.server = ?",
        m_parts.server));
    for (const auto& row : rows) {
        const int64_t bytes = TRY(volumes.bytes(row.text(1)));
        if (const auto removed = volumes.remove(row.text(1)); !removed.ok()) {
            if (removed.error().code == Code::busy) continue; // a person is reading it
            return removed.error();
        }
        pass("the volume of a workspace is removed");
        TRY(m_parts.database.execute("UPDATE run_files SET thread = '' WHERE run_id = ?", row.text(0)));
        all.bytes += bytes;
        all.count += 1;
    }
    // Volumes of `hone sandbox run --thread`, which belong to no run.
    std::vector<std::string> kept;
    for (const auto& row : TRY(m_parts.database.query("SELECT thread FROM run_files WHERE thread <> ''")))
        kept.push_back(row.text(0));
    if (m_parts.pods != nullptr) all.count += TRY(m_parts.pods->remove_other_threads(kept));
    if (const auto age = limits_of(StorageKind::workspaces).age)
        all.count += TRY(volumes.expire(m_parts.clock.now() - *age, kept));
    return all;
}

} // namespace hone::run
