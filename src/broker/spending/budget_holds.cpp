#include "broker/spending/budget_holds.h"

#include "base/id.h"

namespace hone::broker {

namespace {

Result<Spending> settled_of(sql::Transaction& transaction, const SharedBudget& budget) {
    const auto rows = TRY(transaction.query(
        "SELECT CAST(COALESCE(SUM(input_tokens + cache_read_tokens + cache_write_tokens + output_tokens + "
        "reasoning_tokens + estimated_tokens), 0) AS BIGINT), CAST(COALESCE(SUM(cost_nano_usd), 0) AS BIGINT) FROM "
        "model_usage WHERE " +
            std::string(budget.id_column) + " = ? AND day = ?",
        budget.id, budget.day));
    return Spending{rows.front().integer(0), rows.front().integer(1)};
}

Result<Spending> held_by_calls(sql::Transaction& transaction, const std::string& key, Time since) {
    const auto rows = TRY(transaction.query(
        "SELECT CAST(COALESCE(SUM(tokens), 0) AS BIGINT), CAST(COALESCE(SUM(cost_nano_usd), 0) AS BIGINT) FROM "
        "budget_holds WHERE budget = ? AND created_at > ?",
        key, since));
    return Spending{rows.front().integer(0), rows.front().integer(1)};
}

} // namespace

Result<HoldResult> hold_budgets(sql::Database& database, Time now, const std::vector<SharedBudget>& budgets,
                                const Spending& estimate) {
    return database.write([&](sql::Transaction& transaction) -> Result<HoldResult> {
        HoldResult result;
        for (const SharedBudget& budget : budgets) {
            const Spending settled = TRY(settled_of(transaction, budget));
            const Spending held = TRY(held_by_calls(transaction, budget.key, now - longest_hold));
            if (budget.is_used_up(settled)) return HoldResult{{}, true};
            if (budget.is_used_up({settled.tokens + held.tokens, settled.cost_nano_usd + held.cost_nano_usd}))
                return HoldResult{};
        }
        for (const SharedBudget& budget : budgets) {
            result.holds.push_back("hold_" + make_ulid(now));
            TRY(transaction.execute("INSERT INTO budget_holds (id, budget, tokens, cost_nano_usd, created_at) VALUES "
                                    "(?, ?, ?, ?, ?)",
                                    result.holds.back(), budget.key, estimate.tokens, estimate.cost_nano_usd, now));
        }
        TRY(transaction.execute("DELETE FROM budget_holds WHERE created_at <= ?", now - longest_hold));
        return result;
    });
}

Result<> end_hold(sql::Database& database, const std::string& hold) {
    TRY(database.execute("DELETE FROM budget_holds WHERE id = ?", hold));
    return {};
}

} // namespace hone::broker
