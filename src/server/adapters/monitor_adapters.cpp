#include "server/adapters/monitor_adapters.h"

#include "base/text.h"
#include "monitor/sql_value.h"
#include "telemetry/guard/sql_guard.h"

namespace hone::server {

Result<std::vector<telemetry::SeriesPoint>> StoreSeries::series(const telemetry::Series& request) {
    return TRY(m_telemetry.store())->series(request);
}

Result<std::optional<double>> StoreSeries::number(const access::ProjectId& project, const std::string& sql) {
    TRY(m_telemetry.store());
    telemetry::SqlRequest request;
    request.project = project.text();
    request.sql = sql;
    request.most_rows = 2;
    request.most_bytes = 64 << 10;
    request.most_memory = monitor::sql_memory;
    request.deadline = monitor::sql_deadline;
    return monitor::number_in_result(TRY(telemetry::SqlGuard(m_telemetry.engine()).run(request)));
}

Result<> AutomationTrigger::monitor_triggered(const monitor::Transition& transition) {
    const monitor::Reading& reading = transition.reading;
    const Time from = reading.at - std::chrono::seconds(transition.window_seconds);
    json::Object values{{"monitor", transition.monitor.text()},
                        {"monitor_name", transition.name},
                        {"filter", transition.filter},
                        {"samples", reading.samples},
                        {"window", json::Object{{"from", to_text(from)}, {"to", to_text(reading.at)}}}};
    if (reading.value) values["value"] = *reading.value;
    if (const auto bound = reading.upper ? reading.upper : reading.lower) values["threshold"] = *bound;
    if (!reading.group.empty()) values["group"] = reading.group;
    TRY(m_automations.monitor_triggered(transition.monitor.text(), transition.id.text(), values));
    return {};
}

// Triggers when what the issue is about is seen again.
Result<std::string> IssueMonitors::make_monitor(const access::Caller& caller, const signal::Issue& issue) {
    monitor::NewMonitor wanted;
    wanted.project = issue.project_id.text();
    wanted.name = std::string(truncate_utf8("Issue: " + issue.title, 80)) + " " +
                  issue.id.text().substr(issue.id.text().size() - 6);
    wanted.description = "Made from the issue " + issue.id.text() + ".";
    wanted.settings.metric = telemetry::Metric::traces;
    wanted.settings.filter = issue.filter;
    wanted.settings.condition.threshold = 0;
    wanted.settings.window_seconds = 3600;
    wanted.settings.frequency_seconds = 600;
    return TRY(m_monitors.create(caller, issue.space_id, wanted)).id.text();
}

} // namespace hone::server
