#include "run/storage/storage.h"

#include "base/log.h"
#include "run/run_spans.h"
#include "sandbox/image/image.h"
#include "sandbox/image/layer.h"
#include "sandbox/image/volume.h"

#include <sys/statvfs.h>

namespace hone::run {

using access::Caller, access::Page, access::PageRequest, access::Permission;

namespace {

constexpr Duration collect_every = std::chrono::hours(1);
constexpr Duration shown_period = std::chrono::hours(24 * 30);
constexpr Duration history_kept = std::chrono::hours(24 * 365);

Collection collection_of(const sql::Row& row) {
    return {row.text(0), parse_enum<StorageKind>(row.text(1)).value_or(StorageKind::runs), row.integer(2),
            row.integer(3), row.time(4)};
}

} // namespace

const KeepLimits& Storage::limits_of(StorageKind kind) const {
    static const KeepLimits none;
    switch (kind) {
    case StorageKind::runs:
        return m_parts.limits.runs;
    case StorageKind::workspaces:
        return m_parts.limits.workspaces;
    case StorageKind::quarantines:
        return m_parts.limits.quarantines;
    case StorageKind::mirrors:
        return m_parts.limits.mirrors;
    case StorageKind::artifacts:
        return m_parts.limits.artifacts;
    case StorageKind::layers:
        return m_parts.limits.layers;
    case StorageKind::images:
        return m_parts.limits.images;
    case StorageKind::uploads:
        return m_parts.limits.uploads;
    case StorageKind::sandboxes:
        break;
    }
    return none;
}

Storage::Disk Storage::disk() const {
    struct statvfs status {};
    if (::statvfs(m_parts.data_directory.c_str(), &status) != 0) return {};
    const auto unit = static_cast<int64_t>(status.f_frsize);
    return {static_cast<int64_t>(status.f_blocks) * unit, static_cast<int64_t>(status.f_bavail) * unit};
}

Storage::Listed Storage::list(StorageKind kind) {
    switch (kind) {
    case StorageKind::runs:
        return list_runs();
    case StorageKind::workspaces:
        return list_workspaces();
    case StorageKind::quarantines:
        return list_quarantines();
    case StorageKind::mirrors:
        return list_mirrors();
    case StorageKind::artifacts:
        return list_artifacts();
    case StorageKind::layers:
        return list_layers();
    case StorageKind::images:
        return list_images();
    case StorageKind::sandboxes:
        return list_sandboxes();
    case StorageKind::uploads:
        return list_uploads();
    }
    return std::vector<Stored>();
}

Result<StorageView> Storage::view(const Caller& caller) {
    TRY(caller.require(Permission::user_manage));
    StorageView view;
    const Disk disk = this->disk();
    view.disk_bytes = disk.bytes;
    view.free_bytes = disk.free;
    const auto sums = TRY(m_parts.database.query("SELECT kind, CAST(SUM(removed) AS BIGINT), CAST(SUM(bytes) AS "
                                                 "BIGINT) FROM collections WHERE collected_at >= ? "
                                                 "GROUP BY kind",
                                                 m_parts.clock.now() - shown_period));
    for (const auto& each : enum_names(StorageKind{})) {
        StoredKind kind;
        kind.kind = each.value;
        const KeepLimits& limits = limits_of(each.value);
        kind.limits = print_limits(limits);
        kind.limit_bytes = limits.bytes_of(disk.bytes);
        for (const Stored& one : TRY(list(each.value))) {
            ++kind.count;
            kind.bytes += one.bytes;
            kind.needed += one.needed ? 1 : 0;
        }
        for (const auto& row : sums) {
            if (row.text(0) != each.name) continue;
            kind.removed = row.integer(1);
            kind.freed_bytes = row.integer(2);
        }
        view.kinds.push_back(std::move(kind));
    }
    const Lock lock(m_mutex);
    view.collected_at = m_collected_at;
    return view;
}

Result<Page<Collection>> Storage::collections(const Caller& caller, const PageRequest& page) const {
    TRY(caller.require(Permission::user_manage));
    const std::string after = TRY(page.after());
    const auto rows = TRY(m_parts.database.query("SELECT id, kind, removed, bytes, collected_at FROM collections WHERE "
                                                 "? = '' OR id < ? ORDER BY id DESC LIMIT ?",
                                                 after, after, page.limit + 1));
    std::vector<Collection> all;
    for (const auto& row : rows) all.push_back(collection_of(row));
    return access::make_page(std::move(all), page, [](const Collection& one) { return one.id; });
}

Result<std::vector<Collection>> Storage::collect(const Caller& caller) {
    TRY(caller.require(Permission::user_manage));
    TRY(m_parts.access.audit.record(caller, {"storage_collect", {}, "installation"}));
    const Lock lock(m_collecting);
    return collect_all();
}

Result<> Storage::step() {
    const Lock lock(m_collecting);
    TRY(purge());
    m_parts.artifacts.remove_replaced();
    const Duration now = m_parts.clock.steady();
    if (m_collected && now - *m_collected < collect_every) return {};
    TRY(collect_all());
    return {};
}

// A kind that fails is reported and retried in an hour; the others continue.
Result<std::vector<Collection>> Storage::collect_all() {
    m_collected = m_parts.clock.steady();
    std::vector<Collection> done;
    for (const auto& each : enum_names(StorageKind{})) {
        const auto removed = collect_kind(each.value);
        if (!removed.ok()) {
            log(Level::warning, "old data not collected", {{"kind", each.name}, {"why", removed.error().message}});
            continue;
        }
        if (removed.value().count == 0) continue;
        const Collection one{"collection_" + make_ulid(m_parts.clock.now()), each.value, removed.value().count,
                             removed.value().bytes, m_parts.clock.now()};
        TRY(m_parts.database.execute(
            "INSERT INTO collections (id, kind, removed, bytes, collected_at) VALUES (?, ?, ?, ?, ?)", one.id,
            each.name, one.removed, one.bytes, one.collected_at));
        log(Level::info, "old data collected", {{"kind", each.name}, {"removed", one.removed}, {"bytes", one.bytes}});
        done.push_back(one);
    }
    if (m_parts.store != nullptr) m_parts.store->empty_trash();
    TRY(m_parts.database.execute("DELETE FROM collections WHERE collected_at < ?", m_parts.clock.now() - history_kept));
    const Lock lock(m_mutex);
    m_collected_at = m_parts.clock.now();
    return done;
}

Result<Storage::Removed> Storage::collect_kind(StorageKind kind) {
    Removed all;
    KeepLimits limits = limits_of(kind);
    if (kind == StorageKind::runs) limits.count.reset(); // of each space: list_runs applies it
    const std::vector<Stored> stored = TRY(list(kind));
    for (const Stored& one : surplus(stored, limits, disk().bytes, m_parts.clock.now())) {
        const auto bytes = TRY(remove(kind, one));
        if (!bytes) continue;
        ++all.count;
        all.bytes += *bytes;
    }
    // What a removal only announces is done now, with what an earlier server left.
    const auto add = [&](const Removed& more) {
        all.bytes += more.bytes;
        if (kind != StorageKind::runs) all.count += more.count;
    };
    if (kind == StorageKind::runs) add(TRY(purge()));
    if (kind == StorageKind::workspaces) add(TRY(remove_marked_workspaces()));
    if (kind == StorageKind::artifacts) {
        const auto swept = TRY(m_parts.artifacts.sweep());
        all.bytes += swept.bytes;
    }
    if (kind == StorageKind::sandboxes)
        for (sandbox::Provider* provider : {m_parts.provider, m_parts.pods})
            if (provider != nullptr) all.count += TRY(provider->reconcile());
    const Lock lock(m_mutex);
    m_removed[kind].count += all.count;
    m_removed[kind].bytes += all.bytes;
    return all;
}

void Storage::metrics(MetricsWriter& out) const {
    const Lock lock(m_mutex);
    out.family(MetricKind::counter, "collected_total",
               "Things that the server removed because they were old or too many.");
    for (const auto& each : enum_names(StorageKind{})) {
        const auto found = m_removed.find(each.value);
        out.sample({{"kind", each.name}}, found == m_removed.end() ? 0 : found->second.count);
    }
    out.family(MetricKind::counter, "collected_bytes_total", "Bytes that this freed.");
    for (const auto& each : enum_names(StorageKind{})) {
        const auto found = m_removed.find(each.value);
        out.sample({{"kind", each.name}}, found == m_removed.end() ? 0 : found->second.bytes);
    }
    const Disk disk = this->disk();
    out.gauge("disk_bytes", "Size of the file system of the data directory.", disk.bytes);
    out.gauge("disk_free_bytes", "Bytes that are free on it.", disk.free);
}

} // namespace hone::run
