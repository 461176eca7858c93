// Reservations of budgets that several servers on one PostgreSQL share: a row for each call in flight, written in the
// transaction that compares the limit with what is settled and reserved. Used by Budgets; thread-safe.
#pragma once

#include "broker/spending/usage_ledger.h"

#include <functional>

namespace hone::broker {

// A budget of a day.
struct SharedBudget {
    std::string key;            // "space ID DAY"
    std::string_view id_column; // of model_usage
    std::string id;
    std::string day;
    // Whether a limit is reached by so much.
    std::function<bool(const Spending&)> is_used_up;
};

struct HoldResult {
    std::vector<std::string> holds; // one for each budget; empty: not now
    bool is_used_up = false;        // by what is settled: waiting does not help
};

// Takes all of them or none.
Result<HoldResult> hold_budgets(sql::Database& database, Time now, const std::vector<SharedBudget>& budgets,
                                const Spending& estimate);
Result<> end_hold(sql::Database& database, const std::string& hold);

// A call does not last longer; the hold of a server that was killed counts until then.
constexpr Duration longest_hold = std::chrono::hours(1);

} // namespace hone::broker
