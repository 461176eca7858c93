// What the server keeps on its disk and what it removes by itself: runs, their workspaces, layers, images, what ended
// sandboxes left, quarantines, mirrors, artifacts. By age, number and bytes (keep_limits.h). What a live run, an open
// review, a pull request or a person needs stays. A removal is first written into the database or is a rename, so that
// a server that is killed at any moment leaves nothing half removed; the next step removes the rest.
// Thread-safe; `step` and `collect` run one at a time.
#pragma once

#include "access/access.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "forge/push/quarantine.h"
#include "review/artifacts.h"
#include "run/files/uploads.h"
#include "run/run.h"
#include "run/settings/space_policy.h"
#include "run/storage/keep_limits.h"
#include "sandbox/image/store.h"
#include "sandbox/provider/provider.h"

#include <map>
#include <set>

namespace hone::secret {
class Vault;
}

namespace hone::run {

enum class StorageKind { runs, workspaces, quarantines, mirrors, artifacts, layers, images, sandboxes, uploads };
constexpr auto enum_names(StorageKind) {
    using enum StorageKind;
    return std::array{
        EnumName{runs, "runs"},       EnumName{workspaces, "workspaces"}, EnumName{quarantines, "quarantines"},
        EnumName{mirrors, "mirrors"}, EnumName{artifacts, "artifacts"},   EnumName{layers, "layers"},
        EnumName{images, "images"},   EnumName{sandboxes, "sandboxes"},   EnumName{uploads, "uploads"}};
}

struct StoredKind {
    StorageKind kind = StorageKind::runs;
    int64_t count = 0;
    int64_t bytes = 0;
    int64_t needed = 0;
    std::string limits;
    std::optional<int64_t> limit_bytes;
    int64_t removed = 0;
    int64_t freed_bytes = 0;
    static constexpr Pack fields{
        Field{"kind", &StoredKind::kind, "Kind of data."},
        Field{"count", &StoredKind::count, "Number of them."},
        Field{"bytes", &StoredKind::bytes, "Disk that they take. Of runs: 0, they are rows of the database."},
        Field{
            "needed", &StoredKind::needed,
            "Of them, those that stay although they are over a limit: a live run, an open review, an open pull request "
            "or a person needs them."},
        Field{"limits", &StoredKind::limits, "The setting keep_…: age, number and bytes."},
        Field{"limit_bytes", &StoredKind::limit_bytes, "Bytes that the limits allow on this disk."},
        Field{"removed", &StoredKind::removed, "Number that the server removed in the last 30 days."},
        Field{"freed_bytes", &StoredKind::freed_bytes, "Bytes that this freed."},
    };
};

struct StorageView {
    int64_t disk_bytes = 0;
    int64_t free_bytes = 0;
    std::optional<Time> collected_at;
    std::vector<StoredKind> kinds;
    static constexpr Pack fields{
        Field{"disk_bytes", &StorageView::disk_bytes, "Size of the file system of the data directory."},
        Field{"free_bytes", &StorageView::free_bytes, "Bytes that are free on it."},
        Field{"collected_at", &StorageView::collected_at, "Last time that old data was collected since the start."},
        Field{"kinds", &StorageView::kinds, "What is stored, by kind."},
    };
};

// What one collection removed of a kind.
struct Collection {
    std::string id;
    StorageKind kind = StorageKind::runs;
    int64_t removed = 0;
    int64_t bytes = 0;
    Time collected_at{};
    static constexpr Pack fields{
        Field{"id", &Collection::id, "Id."},
        Field{"kind", &Collection::kind, "Kind of data."},
        Field{"removed", &Collection::removed, "Number of things that were removed."},
        Field{"bytes", &Collection::bytes, "Bytes that this freed."},
        Field{"collected_at", &Collection::collected_at, "Time of the collection."},
    };
};

struct StorageParts {
    sql::Database& database;
    const Clock& clock;
    access::Access& access;
    review::Artifacts& artifacts;
    const Uploads& uploads;
    const SpacePolicies& policies;
    std::string data_directory;
    std::string server = "local"; // of runs whose files are here
    StorageLimits limits{};
    sandbox::Provider* provider = nullptr; // null: this machine cannot isolate
    sandbox::Provider* pods = nullptr;     // of a cluster; null: none is connected
    const sandbox::Store* store = nullptr; // of the provider
    forge::Mirrors* mirrors = nullptr;
    forge::Quarantine* quarantine = nullptr;
    const secret::Vault* vault = nullptr;
    bool mounts_volumes = true;
    // Deletes the traces of deleted runs from the project hone-runs of the space.
    std::function<Result<>(const access::SpaceId&, const std::vector<std::string>& traces)> delete_traces{};
    // Called between the steps of each removal; for tests that kill the process there.
    std::function<void(std::string_view)> checkpoint{};
};

class Storage {
public:
    explicit Storage(StorageParts parts) : m_parts(std::move(parts)) {}

    Result<StorageView> view(const access::Caller& caller);
    // Newest first.
    Result<access::Page<Collection>> collections(const access::Caller& caller, const access::PageRequest& page) const;
    // Now, instead of at its time.
    Result<std::vector<Collection>> collect(const access::Caller& caller);

    // Deletes what deleted runs left and, every hour, collects. For a background duty.
    Result<> step();
    void metrics(MetricsWriter& out) const;

    struct Disk {
        int64_t bytes = 0;
        int64_t free = 0;
    };
    // The file system of the data directory.
    Disk disk() const;

private:
    struct Removed {
        int64_t count = 0;
        int64_t bytes = 0;
    };
    using Listed = Result<std::vector<Stored>>;

    Result<std::vector<Collection>> collect_all() REQUIRES_LOCK(m_collecting);
    Result<Removed> collect_kind(StorageKind kind);
    Listed list(StorageKind kind);
    Result<std::optional<int64_t>> remove(StorageKind kind, const Stored& one); // bytes; none: it stays
    const KeepLimits& limits_of(StorageKind kind) const;
    void pass(std::string_view what) const {
        if (m_parts.checkpoint) m_parts.checkpoint(what);
    }

    // --- storage_runs.cpp
    Listed list_runs();
    Result<bool> remove_run(const std::string& id);
    Result<Removed> purge(); // what deleted runs left
    Result<Removed> purge_run(const std::string& run, const std::string& thread);
    Result<> delete_traces(const std::map<std::string, std::vector<std::string>>& by_space);
    Listed list_workspaces();
    Result<bool> mark_workspace(const std::string& run);
    Result<Removed> remove_marked_workspaces();
    Result<std::map<std::string, SpacePolicy>> policies() const;
    Result<std::set<std::string>> origins_of_live() const;
    Result<std::set<std::string>> live_or_kept_runs() const;

    // --- storage_files.cpp
    Listed list_quarantines();
    Listed list_mirrors();
    Listed list_artifacts();
    Listed list_layers();
    Listed list_images();
    Listed list_sandboxes();
    Listed list_uploads();
    Result<bool> remove_artifact(const std::string& id);
    Result<std::set<std::string>> named_images() const;

    const StorageParts m_parts;
    Mutex m_collecting;                                           // one collection at a time
    std::optional<Duration> m_collected GUARDED_BY(m_collecting); // by the steady clock
    mutable Mutex m_mutex;
    std::optional<Time> m_collected_at GUARDED_BY(m_mutex);
    std::map<StorageKind, Removed> m_removed GUARDED_BY(m_mutex); // since the start
};

} // namespace hone::run
