#include "server/monitors.h"

#include "base/file.h"

namespace hone::server {

namespace {

Result<notice::SenderOptions> sender_options(const config::Config& config) {
    notice::SenderOptions options;
    options.public_url = config.public_url;
    while (options.public_url.ends_with('/')) options.public_url.pop_back();
    options.allow_private = config.notice_private_addresses == "true";
    options.smtp.host = config.smtp_host;
    options.smtp.port = static_cast<uint16_t>(config.smtp_port);
    options.smtp.security = config.smtp_security == "tls"    ? notice::SmtpSecurity::tls
                            : config.smtp_security == "none" ? notice::SmtpSecurity::none
                                                             : notice::SmtpSecurity::starttls;
    options.smtp.from = config.smtp_from;
    options.smtp.user = config.smtp_user;
    options.smtp.password = config.smtp_password;
    if (!config.smtp_password_file.empty())
        options.smtp.password = std::string(trim(TRY(read_file(config.smtp_password_file, 4096))));
    options.smtp.ca_file = config.egress_ca_file;
    if (!config.smtp_host.empty() && config.smtp_from.find('@') == std::string::npos)
        return invalid("smtp_host needs smtp_from, the sender address of mails");
    return options;
}

} // namespace

NoticeDuties::NoticeDuties(sql::Database& database, const Clock& clock, access::Access& access,
                           const secret::Vault& vault, notice::SenderOptions options)
    : m_smtp(options.smtp),
      m_notices(database, clock),
      m_destinations(database, clock, access, vault, !options.smtp.host.empty()),
      m_sender(database, clock, m_destinations, std::move(options)) {
    m_notices.set_wake([this] { m_sender.wake(); });
}

Result<std::unique_ptr<NoticeDuties>> NoticeDuties::open(sql::Database& database, const Clock& clock,
                                                         access::Access& access, const secret::Vault& vault,
                                                         const config::Config& config) {
    return std::unique_ptr<NoticeDuties>(new NoticeDuties(database, clock, access, vault, TRY(sender_options(config))));
}

void NoticeDuties::metrics(MetricsWriter& out) const {
    const notice::Sender::Count count = m_sender.count();
    out.counter("notices_sent_total", "Notices that a destination accepted.", count.sent);
    out.counter("notice_failures_total", "Attempts to deliver a notice that failed.", count.failed);
    out.counter("notices_given_up_total", "Notices that were not delivered within a day.", count.given_up);
}

MonitorDuties::MonitorDuties(sql::Database& database, const Clock& clock, access::Access& access,
                             telemetry::Telemetry& telemetry, const broker::UsageLedger& ledger, NoticeDuties& notices,
                             automation::Automations& automations, signal::Signal& signal)
    : m_notices(notices),
      m_series(telemetry),
      m_trigger(automations),
      m_monitors(database, clock, access, m_series, notices.notices()),
      m_issue_monitors(m_monitors),
      m_run_notices(database, clock),
      m_budget_notices(database, clock, ledger),
      m_backlog_notices(access, {telemetry.directory(), [&telemetry] { return telemetry.backlog(); }}),
      m_notice_finder(clock, notices.notices(), {&m_run_notices, &m_budget_notices, &m_backlog_notices}) {
    m_monitors.set_listener(m_trigger);
    signal.set_monitor_maker(m_issue_monitors);
}

void MonitorDuties::start() {
    m_notices.start();
    m_monitors.start();
    m_notice_finder.start();
}

Result<> MonitorDuties::sweep() {
    TRY(m_notices.notices().sweep());
    return m_monitors.sweep();
}

void MonitorDuties::metrics(MetricsWriter& out) const {
    m_notices.metrics(out);
    const auto counts = m_monitors.counts();
    if (!counts.ok()) return;
    out.gauge("monitors", "Monitors that are switched on.", counts.value().enabled);
    out.gauge("monitors_triggered", "Of these, triggered.", counts.value().triggered);
}

} // namespace hone::server
