// What `hone doctor` shows: checks of a running server, each with what to do. Writes only row policies. Any thread.
#pragma once

#include "api/core/operations_views.h"
#include "automation/scheduler.h"
#include "base/result.h"
#include "config/config.h"
#include "net/server.h"
#include "objects/object_store.h"
#include "sandbox/provider/provider.h"
#include "server/membership/membership.h"
#include "server/membership/roles.h"
#include "skill/skills.h"
#include "telemetry/engine/merge_state.h"
#include "telemetry/telemetry.h"

namespace hone::server {

struct DiagnosisParts {
    sql::Database& database;
    const Clock& clock;
    const config::Config& config;
    Membership& membership;
    telemetry::Telemetry& telemetry;
    telemetry::MergeState merges;
    automation::Scheduler& scheduler;
    const skill::Skills& skills;
    objects::ObjectStore& objects;
    sandbox::Provider* sandboxes; // null: `no_sandboxes` states why
    const std::string& no_sandboxes;
    net::ServerCounts edge;
    Roles roles;
};

std::vector<api::FindingView> diagnose(const DiagnosisParts& parts);

} // namespace hone::server
