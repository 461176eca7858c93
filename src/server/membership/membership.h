// This server among those that share the database: its lease, the others, and what one server does for all (chaining
// the audit log). On SQLite it is alone, and the same code runs. Thread-safe; one duty.
#pragma once

#include "access/audit/seal.h"
#include "base/duty.h"
#include "base/metrics.h"
#include "lease/servers.h"

namespace hone::server {

struct MembershipOptions {
    std::string name;
    std::string version;
    int64_t schema_version = 0;
    std::string roles;
    std::string span_store;
    std::string object_store;
    Duration lost_after{};
    // Another process has joined under this name: this one must end.
    std::function<void()> on_replaced;
};

class Membership {
public:
    Membership(sql::Database& database, const Clock& clock, MembershipOptions options);

    // Joins and renews from then on.
    Result<> start(const std::string& address);
    // The lease ends: the others need not wait for it. At the end of a drain.
    void leave();
    // The other servers whose runs and workspaces are theirs.
    Result<std::vector<std::string>> others() const { return m_servers.others(m_options.lost_after); }
    lease::Servers& servers() { return m_servers; }
    const std::string& name() const { return m_servers.name(); }
    // How long ago the lease was renewed.
    Duration lease_age() const;
    // Why this server is not to be used now; empty: it can be.
    std::string not_ready() const;
    void metrics(MetricsWriter& out) const;

    static constexpr Duration renewal = std::chrono::seconds(5);

private:
    Result<Duration> step();

    const Clock& m_clock;
    sql::Database& m_database;
    const MembershipOptions m_options;
    const bool m_is_alone; // on SQLite
    lease::Servers m_servers;
    std::optional<bool> m_chains; // whether this server chains the audit log; of the duty's thread
    std::atomic<bool> m_is_replaced{false};
    std::atomic<int64_t> m_sealed{0};
    Duty m_duty; // last: its thread uses what stands above
};

} // namespace hone::server
