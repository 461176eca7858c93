// Makes notices of what has no notice of its own: runs that ended, artifacts that wait for a review, budgets of spaces
// and automations that are nearly or wholly spent, spans that are accepted and not stored. Scans every few seconds; a
// notice's key makes what is found twice one notice, so that several servers may scan. step() is what tests call.
#pragma once

#include "access/access.h"
#include "base/duty.h"
#include "broker/spending/usage_ledger.h"
#include "notice/notices.h"
#include "telemetry/ingest/backlog.h"

#include <functional>

namespace hone::server {

// Where this server's spans wait. The name distinguishes it from other servers of the same database.
struct BacklogSource {
    std::string name;
    std::function<telemetry::Backlog()> read;
};

class NoticeFinder {
public:
    NoticeFinder(sql::Database& database, const Clock& clock, access::Access& access, const broker::UsageLedger& ledger,
                 notice::Notices& notices, BacklogSource backlog = {})
        : m_database(database),
          m_clock(clock),
          m_access(access),
          m_ledger(ledger),
          m_notices(notices),
          m_backlog(std::move(backlog)),
          m_seen(clock.now() - look_back),
          m_duty({"notice finder", std::chrono::seconds(5)}, [this] { return step(); }) {}

    Result<> step();
    void start() { m_duty.start(); }

    // What happened while no server ran, or another one was stopped, is not older than this.
    static constexpr Duration look_back = std::chrono::hours(1);

private:
    Result<> find_ended_runs(Time since);
    Result<> find_waiting_reviews(Time since);
    struct DayLimits {
        std::optional<int64_t> tokens, cost_micro_usd;
        int64_t soft_percent = 0;
    };
    Result<> find_budgets();
    // One notice a day when the soft limit is reached, and one when nothing is left.
    Result<> check_budget(notice::Notice notice, std::string_view whose, const DayLimits& limits,
                          const broker::Spending& spent, std::string_view consequence);
    // One when spans have waited too long, and one when they are stored again.
    Result<> find_backlog();
    Result<> notify_owners(notice::Notice notice);

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    const broker::UsageLedger& m_ledger;
    notice::Notices& m_notices;
    const BacklogSource m_backlog;
    std::string m_late; // the key of the notice about spans that wait; empty: they are stored
    Time m_seen;
    Duty m_duty; // last: its thread uses what stands above
};

} // namespace hone::server
