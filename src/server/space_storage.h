// What each space keeps on this machine's disk: traces, artifacts, threads, layers, repositories. Reads and sums only.
// Thread-safe; a measurement is reused for a minute, because it reads every folder.
#pragma once

#include "access/access.h"
#include "api/core/call.h"
#include "base/mutex.h"
#include "forge/repos.h"
#include "run/run_services.h"
#include "telemetry/spans.h"

namespace hone::server {

struct SpaceStorageParts {
    const Clock& clock;
    access::Access& access;
    telemetry::Spans& spans;
    run::RunServices& run;
    forge::Repos& repos;
    std::string data_directory;
};

class SpaceStorageRows {
public:
    explicit SpaceStorageRows(SpaceStorageParts parts) : m_parts(std::move(parts)) {}
    // For installation owners.
    Result<std::vector<api::SpaceStorage>> rows(const access::Caller& caller);

private:
    Result<std::vector<api::SpaceStorage>> measure() const;

    const SpaceStorageParts m_parts;
    Mutex m_mutex;
    std::vector<api::SpaceStorage> m_last GUARDED_BY(m_mutex); // empty: not measured yet
};

} // namespace hone::server
