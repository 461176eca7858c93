// Notices and monitors as the server runs them, built in order. NoticeDuties comes early: many parts send notices.
// MonitorDuties comes late: it uses automations, which a triggered monitor fires, and issues, which become monitors;
// its threads end first.
#pragma once

#include "automation/budget_notices.h"
#include "base/metrics.h"
#include "config/config.h"
#include "monitor/backlog_notices.h"
#include "monitor/monitors.h"
#include "notice/sender.h"
#include "run/run_notices.h"
#include "server/adapters/monitor_adapters.h"

namespace hone::server {

class NoticeDuties {
public:
    // Reads the file that smtp_password_file names.
    static Result<std::unique_ptr<NoticeDuties>> open(sql::Database& database, const Clock& clock,
                                                      access::Access& access, const secret::Vault& vault,
                                                      const config::Config& config);
    void start() { m_sender.start(); }
    notice::Notices& notices() { return m_notices; }
    notice::Destinations& destinations() { return m_destinations; }
    notice::Sender& sender() { return m_sender; }
    const notice::SmtpOptions& smtp() const { return m_smtp; }
    void metrics(MetricsWriter& out) const;

private:
    NoticeDuties(sql::Database& database, const Clock& clock, access::Access& access, const secret::Vault& vault,
                 notice::SenderOptions options);

    const notice::SmtpOptions m_smtp;
    notice::Notices m_notices;
    notice::Destinations m_destinations;
    notice::Sender m_sender;
};

class MonitorDuties {
public:
    MonitorDuties(sql::Database& database, const Clock& clock, access::Access& access, telemetry::Telemetry& telemetry,
                  const broker::UsageLedger& ledger, NoticeDuties& notices, automation::Automations& automations,
                  signal::Signal& signal);

    void start();
    // Old notices and values go; called by a background duty.
    Result<> sweep();
    monitor::Monitors& monitors() { return m_monitors; }
    void metrics(MetricsWriter& out) const;

private:
    NoticeDuties& m_notices;
    StoreSeries m_series;
    AutomationTrigger m_trigger;
    monitor::Monitors m_monitors;
    IssueMonitors m_issue_monitors;
    run::RunNotices m_run_notices;
    automation::BudgetNotices m_budget_notices;
    monitor::BacklogNotices m_backlog_notices;
    notice::Finder m_notice_finder;
};

} // namespace hone::server
