#include "server/membership/membership.h"

#include "base/log.h"
#include "sql/migrate.h"

namespace hone::server {

namespace {

constexpr Duration step_period = std::chrono::seconds(1);

lease::ServerInfo self_of(const MembershipOptions& options, const Clock& clock) {
    lease::ServerInfo self;
    self.name = options.name;
    self.version = options.version;
    self.schema_version = options.schema_version;
    self.roles = options.roles;
    self.span_store = options.span_store;
    self.object_store = options.object_store;
    self.started_at = clock.now();
    return self;
}

// A server that is alone writes its row once: an idle server must not write every few seconds.
lease::ServersOptions lease_of(bool is_alone) {
    lease::ServersOptions options;
    if (is_alone) options.length = std::chrono::hours(24 * 365 * 10);
    return options;
}

} // namespace

Membership::Membership(sql::Database& database, const Clock& clock, MembershipOptions options)
    : m_clock(clock),
      m_database(database),
      m_options(std::move(options)),
      m_is_alone(database.engine() == sql::Engine::sqlite),
      m_servers(database, clock, self_of(m_options, clock), lease_of(m_is_alone)),
      m_duty({"lease of the server", step_period}, [this] { return step(); }) {}

Result<> Membership::start(const std::string& address) {
    m_servers.set_address(address);
    TRY(m_servers.join());
    if (m_is_alone) return {};
    // A newer server that saw no older one may have removed something between our check of the database and now.
    if (const auto checked = sql::pending_migrations(m_database); !checked.ok()) {
        (void)m_servers.leave().ok();
        return checked.error();
    }
    if (const std::string apart = TRY(m_servers.spans_apart()); !apart.empty()) log(Level::warning, apart);
    m_duty.start();
    return {};
}

Result<Duration> Membership::step() {
    if (m_is_replaced) return step_period;
    if (lease_age() >= renewal || !m_chains) {
        if (!TRY(m_servers.renew())) {
            m_is_replaced = true;
            log(Level::error, "another process joined under the name of this server: was its data directory copied?",
                {{"server", name()}});
            m_options.on_replaced();
            return step_period;
        }
        m_chains = TRY(m_servers.hold("audit")).has_value();
    }
    if (*m_chains) m_sealed += TRY(access::seal_audit_log(m_database));
    return step_period;
}

void Membership::leave() {
    m_duty.stop();
    if (const auto left = m_servers.leave(); !left.ok())
        log(Level::warning, "the lease of this server was not ended", {{"why", left.error().message}});
}

Duration Membership::lease_age() const {
    return m_is_alone ? Duration{} : m_clock.steady() - m_servers.renewed_at();
}

std::string Membership::not_ready() const {
    return m_is_replaced ? "another process has joined under the name of this server" : "";
}

void Membership::metrics(MetricsWriter& out) const {
    out.gauge("server_lease_age_seconds", "Time since the lease of this server was renewed.",
              static_cast<double>(lease_age().count()) / 1e9);
    out.counter("audit_entries_chained_total", "Entries that this server moved into the chain of the audit log.",
                m_sealed.load());
    const auto servers = m_servers.list();
    if (!servers.ok()) return;
    int64_t live = 0;
    for (const auto& server : servers.value()) live += server.is_live ? 1 : 0;
    out.family(MetricKind::gauge, "servers", "Servers that share the database.");
    out.sample({{"state", "live"}}, live);
    out.sample({{"state", "silent"}}, static_cast<int64_t>(servers.value().size()) - live);
}

} // namespace hone::server
