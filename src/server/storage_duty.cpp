#include "server/storage_duty.h"

#include "run/run_spans.h"

#include <unistd.h>

namespace hone::server {

namespace {

Result<> delete_run_traces(access::Access& access, telemetry::Spans& spans, const access::SpaceId& space,
                           const std::vector<std::string>& traces) {
    const auto project = access.projects.find(access::Caller::system(), space, std::string(run::runs_project));
    if (!project.ok()) return project.error().code == Code::not_found ? Result<>() : Result<>(project.error());
    TRY(spans.wait_until_loaded()); // spans that were accepted before must not come back
    TRY(spans.store());
    TRY(spans.retention.delete_traces(project.value().id.text(), traces));
    return {};
}

} // namespace

Result<run::StorageLimits> storage_limits(const config::Config& config) {
    run::StorageLimits limits;
    limits.runs = TRY(run::parse_keep_limits("keep_runs", config.keep_runs));
    limits.workspaces = TRY(run::parse_keep_limits("keep_workspaces", config.keep_workspaces));
    limits.layers = TRY(run::parse_keep_limits("keep_layers", config.keep_layers));
    limits.images = TRY(run::parse_keep_limits("keep_images", config.keep_images));
    limits.quarantines = TRY(run::parse_keep_limits("keep_quarantines", config.keep_quarantines));
    limits.mirrors = TRY(run::parse_keep_limits("keep_mirrors", config.keep_mirrors));
    limits.uploads = TRY(run::parse_keep_limits("keep_uploads", config.keep_uploads));
    limits.artifacts = TRY(run::parse_keep_limits("keep_artifacts", config.keep_artifacts));
    return limits;
}

Result<std::unique_ptr<StorageDuty>> StorageDuty::open(const StorageDutyParts& parts) {
    std::unique_ptr<StorageDuty> duty(new StorageDuty());
    if (parts.provider != nullptr || parts.pods != nullptr)
        duty->m_store = TRY(sandbox::Store::open(parts.data_directory));
    run::StorageParts storage{parts.database,     parts.clock,         parts.access,        parts.runs.artifacts,
                              parts.runs.uploads, parts.runs.policies, parts.data_directory};
    storage.server = parts.server;
    storage.limits = parts.limits;
    storage.provider = parts.provider;
    storage.pods = parts.pods;
    storage.store = duty->m_store ? &*duty->m_store : nullptr;
    storage.mirrors = parts.repositories.mirrors();
    storage.quarantine = parts.repositories.quarantine();
    storage.vault = &parts.vault;
    storage.mounts_volumes = ::geteuid() == 0;
    storage.delete_traces = [&access = parts.access, &spans = parts.spans](const access::SpaceId& space,
                                                                           const std::vector<std::string>& traces) {
        return delete_run_traces(access, spans, space, traces);
    };
    duty->m_storage.emplace(std::move(storage));
    // What waits for a review is not removed, so it must not fill the disk either.
    if (const auto most = parts.limits.artifacts.bytes_of(duty->m_storage->disk().bytes))
        parts.runs.artifacts.set_all_bytes(2 * *most);
    return duty;
}

} // namespace hone::server
