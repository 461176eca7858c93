// Notices about the daily budgets of spaces and automations: one a day when the soft limit is reached, and one when
// nothing is left. Thread-safe.
#pragma once

#include "broker/spending/usage_ledger.h"
#include "notice/finder.h"

namespace hone::automation {

class BudgetNotices final : public notice::NoticeSource {
public:
    BudgetNotices(sql::Database& database, const Clock& clock, const broker::UsageLedger& ledger)
        : m_database(database),
          m_clock(clock),
          m_ledger(ledger) {}

    Result<> find(notice::Notices& notices, Time since) override;

private:
    Result<> find_spaces(notice::Notices& notices, const std::string& day);
    Result<> find_automations(notice::Notices& notices, const std::string& day);

    sql::Database& m_database;
    const Clock& m_clock;
    const broker::UsageLedger& m_ledger;
};

} // namespace hone::automation
