#include "server/adapters/notice_finder.h"

#include "automation/automations.h"
#include "broker/spending/budget.h"
#include "review/artifacts.h"
#include "run/runs.h"

#include <fmt/format.h>

namespace hone::server {

namespace {

// A row may become visible a little after its time stamp.
constexpr Duration overlap = std::chrono::minutes(1);
constexpr int64_t most_per_scan = 500;
// Below this spans count as stored again; well below what is late, so that notices do not repeat.
constexpr Duration settled_wait = std::chrono::seconds(30);

int64_t percent_of(int64_t used, const std::optional<int64_t>& limit) {
    if (!limit) return 0;
    if (*limit <= 0) return 100;
    return static_cast<int64_t>(100.0 * static_cast<double>(used) / static_cast<double>(*limit));
}

} // namespace

Result<> NoticeFinder::step() {
    const Time now = m_clock.now();
    const Time since = m_seen - overlap;
    TRY(find_ended_runs(since));
    TRY(find_waiting_reviews(since));
    TRY(find_budgets());
    TRY(find_backlog());
    m_seen = now;
    return {};
}

Result<> NoticeFinder::find_ended_runs(Time since) {
    for (const run::Run& run : TRY(run::runs_ended_since(m_database, since, m_clock.now(), most_per_scan))) {
        notice::Notice notice;
        notice.space = run.space_id;
        notice.project = run.project_id;
        notice.kind = notice::Kind::run_finished;
        notice.title = fmt::format("Run {}: {}", name_of(run.state), run.title);
        notice.body = fmt::format("Started by {}.{}", run.started_by, run.reason.empty() ? "" : " " + run.reason);
        notice.link = "/runs/" + run.id.text();
        // A session that a follow-up resumes ends again.
        notice.key = run.id.text() + ":" + std::to_string(to_ns(*run.ended_at));
        TRY(m_notices.notify(notice));
    }
    return {};
}

Result<> NoticeFinder::find_waiting_reviews(Time since) {
    const auto artifacts = TRY(review::artifacts_pending_since(m_database, since, most_per_scan));
    std::vector<run::RunId> ids;
    for (const review::Artifact& artifact : artifacts) ids.emplace_back(artifact.run_id);
    const auto titles = TRY(run::run_titles(m_database, ids));
    for (const review::Artifact& artifact : artifacts) {
        const auto title = titles.find(run::RunId(artifact.run_id));
        if (title == titles.end()) continue;
        notice::Notice notice;
        notice.space = artifact.space_id;
        notice.project = artifact.project_id;
        notice.kind = notice::Kind::review_waiting;
        notice.title = fmt::format("Review pending: {} {}", name_of(artifact.kind), artifact.name);
        notice.body = "Saved by the run \"" + title->second + "\".";
        notice.link = "/inbox/" + artifact.id.text();
        notice.key = artifact.id.text();
        TRY(m_notices.notify(notice));
    }
    return {};
}

Result<> NoticeFinder::check_budget(notice::Notice notice, std::string_view whose, const DayLimits& limits,
                                    const broker::Spending& spent, std::string_view consequence) {
    const int64_t percent = std::max(percent_of(spent.tokens, limits.tokens),
                                     percent_of(spent.cost_nano_usd / 1000, limits.cost_micro_usd));
    if (percent < limits.soft_percent) return {};
    const bool all = percent >= 100;
    notice.kind = all ? notice::Kind::budget_spent : notice::Kind::budget_near;
    notice.title = all ? fmt::format("The daily budget of {} is used up", whose)
                       : fmt::format("{} % of the daily budget of {} is used", percent, whose);
    notice.body = fmt::format("{} tokens and {:.2f} USD of model calls on {} (UTC).{}{}", spent.tokens,
                              static_cast<double>(spent.cost_nano_usd) / 1e9, broker::day_of(m_clock.now()),
                              all ? " " : "", all ? consequence : "");
    TRY(m_notices.notify(notice));
    return {};
}

Result<> NoticeFinder::find_budgets() {
    const std::string day = broker::day_of(m_clock.now());
    for (const auto& [space, budget] : TRY(broker::limited_space_budgets(m_database))) {
        notice::Notice notice;
        notice.space = space;
        notice.link = "/usage";
        notice.key = day;
        const auto spent = TRY(m_ledger.spent_by_space(space.text(), day));
        TRY(check_budget(notice, "the space",
                         {budget.tokens_per_day, budget.cost_micro_usd_per_day, budget.soft_percent}, spent,
                         "Model calls are rejected until tomorrow, or until the budget is raised."));
    }
    const auto automations = TRY(automation::automations_with_budget(m_database));
    std::vector<std::string> ids;
    for (const automation::BudgetedAutomation& one : automations) ids.push_back(one.id.text());
    const auto spent = TRY(broker::spent_by_automations(m_database, ids, day));
    for (const automation::BudgetedAutomation& one : automations) {
        const auto used = spent.find(one.id.text());
        notice::Notice notice;
        notice.space = one.space_id;
        notice.project = one.project_id;
        notice.link = "/automations/" + one.id.text();
        notice.key = one.id.text() + " " + day;
        TRY(check_budget(
            notice, one.name,
            {one.budget.tokens_per_day, one.budget.cost_micro_usd_per_day, one.budget.soft_percent.value},
            used == spent.end() ? broker::Spending{} : used->second,
            "Its runs are stopped and scheduled times are skipped until tomorrow, or until the budget is raised."));
    }
    return {};
}

Result<> NoticeFinder::find_backlog() {
    if (!m_backlog.read) return {};
    const telemetry::Backlog backlog = m_backlog.read();
    notice::Notice notice;
    if (backlog.is_late) {
        // The same after a restart, so that there is one notice.
        if (m_late.empty()) m_late = fmt::format("{} {}", m_backlog.name, backlog.first_sequence);
        notice.kind = notice::Kind::spans_late;
        notice.title = backlog.is_failing() ? "Spans are accepted but cannot be stored" : "Spans are stored late";
        notice.body = backlog.problem() + " " + telemetry::backlog_advice();
        notice.key = m_late;
        return notify_owners(std::move(notice));
    }
    if (m_late.empty() || !backlog.why.empty() || backlog.oldest_wait >= settled_wait) return {};
    notice.kind = notice::Kind::spans_caught_up;
    notice.title = "Spans are stored again";
    notice.body = "The spans that waited are in the engine. No accepted span was lost.";
    notice.key = m_late;
    TRY(notify_owners(std::move(notice)));
    m_late.clear();
    return {};
}

// Notices belong to spaces: those in which an owner of the installation is a member, else the first one.
Result<> NoticeFinder::notify_owners(notice::Notice notice) {
    for (const access::SpaceId& space : TRY(m_access.spaces.of_installation_owners(most_per_scan))) {
        notice.space = space;
        TRY(m_notices.notify(notice));
    }
    return {};
}

} // namespace hone::server
