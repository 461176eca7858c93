// The collection of old data as the server has it: the limits of hone.toml, one thread. Built once; thread-safe.
#pragma once

#include "base/duty.h"
#include "config/config.h"
#include "run/run_services.h"
#include "run/storage/storage.h"
#include "server/repositories.h"
#include "telemetry/spans.h"

namespace hone::server {

// The settings keep_…; the error names the setting.
Result<run::StorageLimits> storage_limits(const config::Config& config);

struct StorageDutyParts {
    sql::Database& database;
    const Clock& clock;
    access::Access& access;
    run::RunServices& runs;
    Repositories& repositories;
    sandbox::Provider* provider = nullptr; // null: this machine cannot isolate
    sandbox::Provider* pods = nullptr;     // of a cluster; null: none is connected
    telemetry::Spans& spans;
    const secret::Vault& vault;
    std::string data_directory;
    std::string server;
    run::StorageLimits limits;
};

class StorageDuty {
public:
    static Result<std::unique_ptr<StorageDuty>> open(const StorageDutyParts& parts);

    run::Storage& storage() { return *m_storage; }
    void start() { m_duty.start(); }
    // Something was deleted: what it left on the disk goes now.
    void wake() { m_duty.wake(); }

private:
    StorageDuty() : m_duty({"collection of old data", std::chrono::minutes(1)}, [this] { return m_storage->step(); }) {}

    std::optional<sandbox::Store> m_store;
    std::optional<run::Storage> m_storage;
    Duty m_duty; // last: its thread uses what stands above
};

} // namespace hone::server
