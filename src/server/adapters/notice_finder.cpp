#include "server/adapters/notice_finder.h"

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
    const auto rows = TRY(m_database.query("SELECT id, space_id, project_id, title, state, reason, started_by_name, "
                                           "ended_at FROM runs WHERE ended_at >= ? "
                                           "ORDER BY ended_at LIMIT ?",
                                           since, most_per_scan));
    for (const auto& row : rows) {
        notice::Notice notice;
        notice.space = row.id<access::SpaceTag>(1);
        notice.project = row.id<access::ProjectTag>(2);
        notice.kind = notice::Kind::run_finished;
        notice.title = fmt::format("Run {}: {}", row.text(4), row.text(3));
        notice.body = fmt::format("Started by {}.{}", row.text(6), row.text(5).empty() ? "" : " " + row.text(5));
        notice.link = "/runs/" + row.text(0);
        // A session that was woken by a follow-up ends again.
        notice.key = row.text(0) + ":" + std::to_string(row.integer(7));
        TRY(m_notices.say(notice));
    }
    return {};
}

Result<> NoticeFinder::find_waiting_reviews(Time since) {
    const auto rows = TRY(m_database.query(
        "SELECT artifacts.id, artifacts.space_id, artifacts.project_id, artifacts.kind, artifacts.name, runs.title "
        "FROM "
        "artifacts JOIN runs ON runs.id = artifacts.run_id WHERE artifacts.review = 'pending' AND artifacts.created_at "
        ">= ? ORDER BY artifacts.created_at LIMIT ?",
        since, most_per_scan));
    for (const auto& row : rows) {
        notice::Notice notice;
        notice.space = row.id<access::SpaceTag>(1);
        notice.project = row.id<access::ProjectTag>(2);
        notice.kind = notice::Kind::review_waiting;
        notice.title = fmt::format("Waits for review: {} {}", row.text(3), row.text(4));
        notice.body = "Left by the run \"" + row.text(5) + "\".";
        notice.link = "/inbox/" + row.text(0);
        notice.key = row.text(0);
        TRY(m_notices.say(notice));
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
    notice.title = all ? fmt::format("The day's budget of {} is used up", whose)
                       : fmt::format("{} % of the day's budget of {} is used", percent, whose);
    notice.body = fmt::format("{} tokens and {:.2f} USD of model calls on {} (UTC).{}{}", spent.tokens,
                              static_cast<double>(spent.cost_nano_usd) / 1e9, broker::day_of(m_clock.now()),
                              all ? " " : "", all ? consequence : "");
    TRY(m_notices.say(notice));
    return {};
}

Result<> NoticeFinder::find_budgets() {
    const std::string day = broker::day_of(m_clock.now());
    constexpr std::string_view limited = "(tokens_per_day IS NOT NULL OR cost_micro_usd_per_day IS NOT NULL)";
    const auto spaces = TRY(m_database.query(
        fmt::format("SELECT space_id, tokens_per_day, cost_micro_usd_per_day, soft_percent FROM space_budgets WHERE {} "
                    "ORDER BY space_id LIMIT 10000",
                    limited)));
    for (const auto& row : spaces) {
        notice::Notice notice;
        notice.space = row.id<access::SpaceTag>(0);
        notice.link = "/usage";
        notice.key = day;
        const auto spent = TRY(m_ledger.spent_by_space(row.text(0), day));
        TRY(check_budget(notice, "the space", {row.optional_integer(1), row.optional_integer(2), row.integer(3)}, spent,
                         "Model calls are refused until tomorrow, or until the budget is raised."));
    }
    const auto automations = TRY(m_database.query(
        fmt::format("SELECT id, tokens_per_day, cost_micro_usd_per_day, soft_percent, space_id, project_id, name FROM "
                    "automations WHERE {} ORDER BY id LIMIT 10000",
                    limited)));
    for (const auto& row : automations) {
        notice::Notice notice;
        notice.space = row.id<access::SpaceTag>(4);
        notice.project = row.id<access::ProjectTag>(5);
        notice.link = "/automations/" + row.text(0);
        notice.key = row.text(0) + " " + day;
        const auto spent = TRY(m_ledger.spent_by_automation(row.text(0), day));
        TRY(check_budget(notice, row.text(6), {row.optional_integer(1), row.optional_integer(2), row.integer(3)}, spent,
                         "Its runs are stopped and scheduled times are skipped until tomorrow, or until the budget is "
                         "raised."));
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
    auto spaces = TRY(
        m_database.query("SELECT DISTINCT members.space_id FROM members JOIN users ON users.id = members.user_id WHERE "
                         "users.installation_owner = 1 AND users.disabled = 0 ORDER BY members.space_id LIMIT ?",
                         most_per_scan));
    if (spaces.empty()) spaces = TRY(m_database.query("SELECT id FROM spaces ORDER BY created_at, id LIMIT 1"));
    for (const auto& row : spaces) {
        notice.space = row.id<access::SpaceTag>(0);
        TRY(m_notices.say(notice));
    }
    return {};
}

} // namespace hone::server
