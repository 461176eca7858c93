// Automations as the server runs them, built in order: the automations, what fires them, the scheduler's thread.
#pragma once

#include "automation/automations.h"
#include "automation/scheduler.h"
#include "base/metrics.h"
#include "notice/notices.h"
#include "telemetry/telemetry.h"

namespace hone::server {

struct AutomationParts {
    sql::Database& database;
    const Clock& clock;
    access::Access& access;
    run::Runs& runs;
    run::Presets& presets;
    const broker::UsageLedger& ledger;
    secret::MasterKeys& keys;
    telemetry::Telemetry& telemetry;
};

class AutomationDuties {
public:
    explicit AutomationDuties(const AutomationParts& parts);

    automation::Automations& automations() { return m_automations; }
    automation::Scheduler& scheduler() { return m_scheduler; }
    // For notices of automations that paused themselves. Before `start`.
    void set_notices(notice::Notices& notices);
    void start() { m_scheduler.start(); }
    void metrics(MetricsWriter& out) const;

private:
    automation::Automations m_automations;
    automation::Firing m_firing;
    automation::Scheduler m_scheduler;
};

} // namespace hone::server
