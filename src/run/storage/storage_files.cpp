// Quarantines, mirrors, artifacts, layers, images and what ended sandboxes left.
#include "review/stored_artifacts.h"
#include "run/storage/storage.h"
#include "sandbox/image/image.h"
#include "sandbox/image/layer.h"
#include "sandbox/image/tree.h"
#include "json/json.h"

#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>

namespace hone::run {

namespace {

// What was made or fetched a moment ago is about to be used.
constexpr Duration fresh = std::chrono::hours(1);

int64_t bytes_of(const std::string& directory) {
    const Fd opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    return opened.is_open() ? sandbox::measure_tree(opened.get(), INT64_MAX).bytes : 0;
}

} // namespace

// A quarantine whose run is over is opened again from the mirror when the run gets a follow-up.
Storage::Listed Storage::list_quarantines() {
    std::vector<Stored> all;
    if (m_parts.quarantine == nullptr) return all;
    const auto live = TRY(live_or_kept_runs());
    const auto open = TRY(review::runs_with_open_branches(m_parts.database));
    for (const forge::Quarantine::Stored& found : TRY(m_parts.quarantine->stored())) {
        Stored one{found.run, found.used, found.bytes, live.contains(found.run) || open.contains(found.run)};
        if (!found.is_registered && !one.needed) one.age = Duration::zero(); // a removal that was interrupted
        all.push_back(std::move(one));
    }
    return all;
}

Storage::Listed Storage::list_mirrors() {
    std::vector<Stored> all;
    if (m_parts.mirrors == nullptr) return all;
    for (const forge::Mirrors::Stored& found : TRY(m_parts.mirrors->stored())) {
        Stored one{found.id.text(), found.used, found.bytes, found.is_needed};
        if (!found.is_registered)
            one.age = Duration::zero();
        else if (m_parts.clock.now() - found.used < fresh)
            one.needed = true;
        all.push_back(std::move(one));
    }
    return all;
}

Storage::Listed Storage::list_artifacts() {
    const auto live = TRY(live_or_kept_runs());
    std::vector<Stored> all;
    for (const review::StoredArtifact& found : TRY(review::stored_artifacts(m_parts.database)))
        all.push_back({found.id.text(), found.created_at, found.bytes, found.needed || live.contains(found.run_id)});
    return all;
}

Storage::Listed Storage::list_layers() {
    std::vector<Stored> all;
    if (m_parts.store == nullptr) return all;
    for (const sandbox::StoredLayer& found : TRY(sandbox::stored_layers(*m_parts.store)))
        all.push_back({found.key, found.used, found.bytes});
    return all;
}

// Images that a preset or a live run names.
Result<std::set<std::string>> Storage::named_images() const {
    std::set<std::string> names;
    const auto add = [&](const json::Value& settings) {
        const auto read = json::from_value<Settings>(settings);
        if (read.ok()) names.insert(read.value().sandbox.value.image.value);
    };
    for (const auto& row : TRY(m_parts.database.query("SELECT settings FROM presets")))
        add(TRY(json::parse(row.text(0))));
    for (const auto& row : TRY(m_parts.database.query(
             "SELECT manifest FROM runs WHERE state IN ('queued', 'preparing', 'running', 'waiting')"))) {
        const auto manifest = json::read<Manifest>(row.text(0));
        if (manifest.ok()) names.insert(manifest.value().settings.sandbox.value.image.value);
    }
    return names;
}

Storage::Listed Storage::list_images() {
    std::vector<Stored> all;
    if (m_parts.store == nullptr) return all;
    const auto named = TRY(named_images());
    for (const sandbox::ImageView& image : TRY(sandbox::list_images(*m_parts.store))) {
        Stored one{image.name, image.created, image.bytes, named.contains(image.name)};
        struct stat status {};
        if (::stat((m_parts.store->images() + "/" + image.name + ".lock").c_str(), &status) == 0)
            one.used = std::max(one.used, from_ns(status.st_mtim.tv_sec * 1'000'000'000));
        all.push_back(std::move(one));
    }
    return all;
}

// Folders of runs whose end was interrupted. Folders of sandboxes are the provider's own.
Storage::Listed Storage::list_sandboxes() {
    std::vector<Stored> all;
    std::error_code failed;
    std::vector<std::string> folders;
    for (const auto& entry : std::filesystem::directory_iterator(m_parts.data_directory + "/runs", failed))
        folders.push_back(entry.path().filename().string());
    for (const std::string& name : folders) {
        const auto rows = TRY(m_parts.database.query("SELECT ended_at FROM runs WHERE id = ?", name));
        const std::optional<Time> ended = rows.empty() ? Time{} : rows.front().optional_time(0);
        Stored one{name, ended.value_or(m_parts.clock.now()), bytes_of(m_parts.data_directory + "/runs/" + name)};
        one.age = fresh;
        one.needed = !ended;
        all.push_back(std::move(one));
    }
    return all;
}

// An upload that no run has expires after a day; one of a run is kept for a rerun.
Storage::Listed Storage::list_uploads() {
    constexpr Duration unused_kept = std::chrono::hours(24);
    const auto live = TRY(live_or_kept_runs());
    std::vector<Stored> all;
    for (const Uploads::StoredContent& found : TRY(m_parts.uploads.stored())) {
        Stored one{found.content, found.used, found.bytes};
        for (const std::string& run : found.runs) one.needed = one.needed || live.contains(run);
        if (found.runs.empty()) {
            one.age = found.is_named ? unused_kept : fresh;
            one.needed = m_parts.clock.now() - found.used < *one.age;
        }
        all.push_back(std::move(one));
    }
    return all;
}

Result<std::optional<int64_t>> Storage::remove(StorageKind kind, const Stored& one) {
    const auto freed = [&](bool removed) { return removed ? std::optional<int64_t>(one.bytes) : std::nullopt; };
    switch (kind) {
    case StorageKind::runs: {
        const bool removed = TRY(remove_run(one.key));
        pass("a run is deleted");
        return freed(removed);
    }
    case StorageKind::workspaces:
        TRY(mark_workspace(one.key));
        pass("a workspace is marked");
        return std::optional<int64_t>(); // remove_marked_workspaces counts it
    case StorageKind::quarantines:
        if (TRY(live_or_kept_runs()).contains(one.key)) return std::optional<int64_t>(); // a follow-up arrived just now
        TRY(m_parts.quarantine->remove(one.key));
        pass("a quarantine is removed");
        return freed(true);
    case StorageKind::mirrors: {
        const bool removed = TRY(m_parts.mirrors->discard(forge::RepoId(one.key)));
        pass("a mirror is removed");
        return freed(removed);
    }
    case StorageKind::artifacts: {
        // Its content is counted when no row names it any more.
        const bool removed = TRY(review::remove_unneeded(m_parts.database, review::ArtifactId(one.key)));
        pass("an artifact is removed");
        return removed ? std::optional<int64_t>(0) : std::nullopt;
    }
    case StorageKind::layers: {
        const bool removed = TRY(sandbox::remove_layer(*m_parts.store, one.key));
        pass("a layer is removed");
        return freed(removed);
    }
    case StorageKind::images: {
        const auto removed = sandbox::remove_image(*m_parts.store, one.key);
        if (!removed.ok() && removed.error().code != Code::busy) return removed.error();
        pass("an image is removed");
        return freed(removed.ok());
    }
    case StorageKind::uploads:
        TRY(m_parts.uploads.remove(one.key));
        pass("an upload is removed");
        return freed(true);
    case StorageKind::sandboxes:
        TRY(sandbox::remove_tree(m_parts.data_directory + "/runs/" + one.key));
        pass("what an interrupted run left is removed");
        return freed(true);
    }
    return std::optional<int64_t>();
}

} // namespace hone::run
