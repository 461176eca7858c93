#include "automation/budget_notices.h"

#include "automation/automations.h"
#include "broker/spending/budget.h"

#include <fmt/format.h>

namespace hone::automation {

namespace {

struct BudgetOfDay {
    std::string_view owner;
    std::optional<int64_t> tokens, cost_micro_usd;
    int64_t soft_percent = 0;
    std::string_view consequence; // of a budget that is used up
};

int64_t percent_of(int64_t used, const std::optional<int64_t>& limit) {
    if (!limit) return 0;
    if (*limit <= 0) return 100;
    return static_cast<int64_t>(100.0 * static_cast<double>(used) / static_cast<double>(*limit));
}

Result<> notify_if_used(notice::Notices& notices, notice::Notice notice, const BudgetOfDay& budget,
                        const broker::Spending& spent, const std::string& day) {
    const int64_t percent = std::max(percent_of(spent.tokens, budget.tokens),
                                     percent_of(spent.cost_nano_usd / 1000, budget.cost_micro_usd));
    if (percent < budget.soft_percent) return {};
    const bool all = percent >= 100;
    notice.kind = all ? notice::Kind::budget_spent : notice::Kind::budget_near;
    notice.title = all ? fmt::format("The daily budget of {} is used up", budget.owner)
                       : fmt::format("{} % of the daily budget of {} is used", percent, budget.owner);
    notice.body =
        fmt::format("{} tokens and {:.2f} USD of model calls on {} (UTC).{}{}", spent.tokens,
                    static_cast<double>(spent.cost_nano_usd) / 1e9, day, all ? " " : "", all ? budget.consequence : "");
    TRY(notices.notify(notice));
    return {};
}

} // namespace

Result<> BudgetNotices::find(notice::Notices& notices, Time) {
    const std::string day = broker::day_of(m_clock.now());
    TRY(find_spaces(notices, day));
    return find_automations(notices, day);
}

Result<> BudgetNotices::find_spaces(notice::Notices& notices, const std::string& day) {
    for (const auto& [space, budget] : TRY(broker::limited_space_budgets(m_database))) {
        notice::Notice notice;
        notice.space = space;
        notice.link = "/usage";
        notice.key = day;
        const BudgetOfDay limits{"the space", budget.tokens_per_day, budget.cost_micro_usd_per_day, budget.soft_percent,
                                 "Model calls are rejected until tomorrow, or until the budget is raised."};
        const auto spent = TRY(m_ledger.spent_by_space(space.text(), day));
        TRY(notify_if_used(notices, notice, limits, spent, day));
    }
    return {};
}

Result<> BudgetNotices::find_automations(notice::Notices& notices, const std::string& day) {
    const auto automations = TRY(automations_with_budget(m_database));
    std::vector<std::string> ids;
    for (const BudgetedAutomation& one : automations) ids.push_back(one.id.text());
    const auto spent = TRY(broker::spent_by_automations(m_database, ids, day));
    for (const BudgetedAutomation& one : automations) {
        const auto used = spent.find(one.id.text());
        notice::Notice notice;
        notice.space = one.space_id;
        notice.project = one.project_id;
        notice.link = "/automations/" + one.id.text();
        notice.key = one.id.text() + " " + day;
        const BudgetOfDay limits{
            one.name, one.budget.tokens_per_day, one.budget.cost_micro_usd_per_day, one.budget.soft_percent.value,
            "Its runs are stopped and scheduled times are skipped until tomorrow, or until the budget is raised."};
        TRY(notify_if_used(notices, notice, limits, used == spent.end() ? broker::Spending{} : used->second, day));
    }
    return {};
}

} // namespace hone::automation
