// How much an installation takes and how long its disk lasts, from what is stored. Reads only; any thread.
#pragma once

#include "access/access.h"
#include "api/core/operations_views.h"
#include "broker/spending/usage_ledger.h"
#include "lease/servers.h"
#include "telemetry/retention/retention.h"

namespace hone::server {

struct CapacityParts {
    access::Access& access;
    const Clock& clock;
    telemetry::Retention& retention;
    const broker::UsageLedger& usage;
    std::string data_directory;
    bool spans_are_here = true; // false: in a ClickHouse elsewhere
};

Result<api::CapacityView> measure_capacity(const CapacityParts& parts);

Result<std::vector<api::ServerView>> server_views(const lease::Servers& servers);

} // namespace hone::server
