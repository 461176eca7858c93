// Notices and monitors, built in order. NoticeDuties stands low: everybody tells through it. MonitorDuties stands high:
// it knows automations, which hear of transitions, and issues, which become monitors; its threads end first.
#pragma once

#include "api/monitor_services.h"
#include "automation/automations.h"
#include "base/metrics.h"
#include "config/config.h"
#include "server/news.h"
#include "signal/signal.h"
#include "telemetry/telemetry.h"

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
    void metrics(MetricsWriter& out) const;

private:
    NoticeDuties(sql::Database& database, const Clock& clock, access::Access& access, const secret::Vault& vault,
                 notice::SenderOptions options);

    notice::Notices m_notices;
    notice::Destinations m_destinations;
    notice::Sender m_sender;
};

class MonitorDuties final : private monitor::SeriesSource,
                            private monitor::TransitionListener,
                            private signal::MonitorMaker {
public:
    MonitorDuties(sql::Database& database, const Clock& clock, access::Access& access, telemetry::Telemetry& telemetry,
                  const broker::UsageLedger& ledger, NoticeDuties& notices, automation::Automations& automations,
                  signal::Signal& signal);

    void start();
    // Old notices and values go; called by a background duty.
    Result<> sweep();
    api::MonitorServices& services() { return m_services; }
    void metrics(MetricsWriter& out) const;

private:
    Result<std::vector<telemetry::SeriesPoint>> series(const telemetry::Series& request) override;
    Result<> monitor_triggered(const monitor::Transition& transition) override;
    Result<std::string> make_monitor(const access::Caller& caller, const signal::Issue& issue) override;

    sql::Database& m_database;
    telemetry::Telemetry& m_telemetry;
    NoticeDuties& m_notices;
    automation::Automations& m_automations;
    monitor::Monitors m_monitors;
    News m_news;
    api::MonitorServices m_services;
};

} // namespace hone::server
