#include "server/space_storage.h"

#include "base/log.h"
#include "sandbox/image/layer.h"
#include "sandbox/image/volume.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace hone::server {

namespace {

constexpr Duration reused_for = std::chrono::minutes(1);

// What is on disk: the volumes of sandboxes are mostly holes. A file may be gone meanwhile.
int64_t bytes_below(const std::string& directory) {
    int64_t bytes = 0;
    std::error_code failed;
    for (std::filesystem::recursive_directory_iterator
             at(directory, std::filesystem::directory_options::skip_permission_denied, failed),
         end;
         !failed && at != end; at.increment(failed)) {
        struct stat found {};
        if (lstat(at->path().c_str(), &found) == 0 && S_ISREG(found.st_mode)) bytes += found.st_blocks * int64_t{512};
    }
    return bytes;
}

using BySpace = std::map<std::string, api::SpaceStorage>;

void add_traces(BySpace& spaces, const SpaceStorageParts& parts, const std::map<std::string, std::string>& projects) {
    const auto uses = parts.spans.retention.disk_use();
    if (!uses.ok()) { // the other numbers are still worth showing
        log(Level::warning, "storage of traces not measured", {{"why", uses.error().message}});
        return;
    }
    for (const telemetry::DiskUse& use : uses.value()) {
        const auto space = projects.find(use.project);
        if (space == projects.end()) continue; // deleted; its spans are removed in the background
        spaces[space->second].spans += use.spans;
        spaces[space->second].traces_bytes += use.bytes;
    }
}

void add_sandboxes(BySpace& spaces, const SpaceStorageParts& parts, const std::vector<run::KeptThread>& threads) {
    const auto store = sandbox::Store::open(parts.data_directory);
    if (!store.ok()) return; // this machine has no sandboxes
    const sandbox::Volumes volumes(store.value(), ::geteuid() == 0);
    for (const run::KeptThread& kept : threads)
        if (const auto bytes = volumes.bytes(kept.thread); bytes.ok())
            spaces[kept.space].threads_bytes += bytes.value();
    if (const auto layers = sandbox::stored_layers(store.value()); layers.ok())
        for (const sandbox::StoredLayer& layer : layers.value()) spaces[layer.space].layers_bytes += layer.bytes;
}

} // namespace

Result<std::vector<api::SpaceStorage>> SpaceStorageRows::rows(const access::Caller& caller) {
    TRY(caller.require(access::Permission::user_manage));
    const Lock lock(m_mutex);
    const Time now = m_parts.clock.now();
    const bool is_old = m_last.empty() || now - m_last.back().measured_at > reused_for;
    if (is_old || m_last.back().measured_at > now) m_last = TRY(measure());
    return m_last;
}

Result<std::vector<api::SpaceStorage>> SpaceStorageRows::measure() const {
    BySpace spaces;
    add_traces(spaces, m_parts, TRY(m_parts.access.projects.spaces()));
    for (const auto& [space, bytes] : TRY(m_parts.run.artifacts.bytes_by_space()))
        spaces[space].artifacts_bytes += bytes;
    for (const auto& [space, bytes] : TRY(m_parts.repos.bytes_by_space())) spaces[space].repositories_bytes += bytes;
    add_sandboxes(spaces, m_parts, TRY(m_parts.run.runs.kept_threads()));
    api::SpaceStorage other;
    other.measured_at = m_parts.clock.now();
    other.other_bytes = bytes_below(m_parts.data_directory);
    std::vector<api::SpaceStorage> rows;
    // What a deleted space left, and layers of the command line, stay in the last row.
    for (const auto& [id, name] : TRY(m_parts.access.spaces.all_names())) {
        api::SpaceStorage& row = rows.emplace_back(spaces[id.text()]);
        row.space_id = id;
        row.space_name = name;
        row.measured_at = other.measured_at;
        row.total_bytes =
            row.traces_bytes + row.artifacts_bytes + row.threads_bytes + row.layers_bytes + row.repositories_bytes;
        other.other_bytes -= row.total_bytes;
    }
    // Sums of the database and of the disk are read one after the other.
    other.total_bytes = other.other_bytes = std::max<int64_t>(0, other.other_bytes);
    rows.push_back(std::move(other));
    return rows;
}

} // namespace hone::server
