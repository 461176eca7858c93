#include "server/automations.h"

#include "base/log.h"

namespace hone::server {

AutomationDuties::AutomationDuties(const AutomationParts& parts)
    : m_automations(parts.database, parts.clock, parts.access, parts.presets, parts.keys),
      m_firing(parts.database, parts.clock, parts.access, parts.runs, parts.ledger, m_automations),
      m_scheduler(parts.database, parts.clock, m_firing, parts.keys,
                  [&telemetry = parts.telemetry](const access::ProjectId& project, const automation::Trigger& trigger,
                                                 Time from, Time to) -> Result<automation::Measured> {
                      return automation::measure(*TRY(telemetry.store()), project, trigger, from, to);
                  }) {
    m_automations.set_on_change([this] { m_scheduler.wake(); });
}

void AutomationDuties::set_notices(notice::Notices& notices) {
    m_firing.set_paused([&notices](const automation::PausedNotice& paused) {
        notice::Notice notice;
        notice.space = paused.space;
        notice.project = paused.project;
        notice.kind = notice::Kind::automation_paused;
        notice.title = "Automation paused: " + paused.name;
        notice.body = paused.reason;
        notice.link = "/automations/" + paused.automation.text();
        if (const auto kept = notices.notify(notice); !kept.ok())
            log(Level::warning, "notice of a paused automation was not stored", {{"why", kept.error().message}});
        notices.wake();
    });
}

void AutomationDuties::metrics(MetricsWriter& out) const {
    const auto state = m_scheduler.state();
    if (!state.ok()) return;
    const automation::SchedulerState& now = state.value();
    out.gauge("scheduler_last_step_seconds", "When the scheduler last took a step.",
              now.last_step ? static_cast<double>(to_ns(*now.last_step)) / 1e9 : 0.0);
    out.gauge("scheduler_behind_seconds", "How late the most overdue automation is.", now.behind_seconds);
    out.gauge("automation_slots_due", "Scheduled times without an outcome.", now.due_slots);
    out.gauge("automation_slots_live", "Scheduled times whose run has not ended.", now.live_slots);
    out.gauge("automations", "Automations.", now.automations);
    out.gauge("automations_paused", "Automations that are paused.", now.paused);
    out.counter("scheduler_steps_total", "Steps of the scheduler.", now.steps);
    out.counter("scheduler_failed_steps_total", "Steps of the scheduler in which something failed.", now.failed_steps);
}

} // namespace hone::server
