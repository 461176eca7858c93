// Small adapters between monitor/ and its neighbours. Thread-safe.
#pragma once

#include "automation/automations.h"
#include "monitor/monitors.h"
#include "signal/signal.h"
#include "telemetry/telemetry.h"

namespace hone::server {

// monitor::SeriesSource: values of a metric come from the span store, which starts if it does not run.
class StoreSeries final : public monitor::SeriesSource {
public:
    explicit StoreSeries(telemetry::Telemetry& telemetry) : m_telemetry(telemetry) {}
    Result<std::vector<telemetry::SeriesPoint>> series(const telemetry::Series& request) override;
    Result<std::optional<double>> number(const access::ProjectId& project, const std::string& sql) override;

private:
    telemetry::Telemetry& m_telemetry;
};

// monitor::TransitionListener: a triggered monitor fires the automations that have it as their trigger.
class AutomationTrigger final : public monitor::TransitionListener {
public:
    explicit AutomationTrigger(automation::Automations& automations) : m_automations(automations) {}
    Result<> monitor_triggered(const monitor::Transition& transition) override;

private:
    automation::Automations& m_automations;
};

// signal::MonitorMaker: a monitor of what an issue is about.
class IssueMonitors final : public signal::MonitorMaker {
public:
    explicit IssueMonitors(monitor::Monitors& monitors) : m_monitors(monitors) {}
    Result<std::string> make_monitor(const access::Caller& caller, const signal::Issue& issue) override;

private:
    monitor::Monitors& m_monitors;
};

} // namespace hone::server
