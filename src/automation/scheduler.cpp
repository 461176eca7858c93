#include "automation/scheduler.h"

#include "automation/cron.h"
#include "base/log.h"
#include "sql/columns.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <fmt/format.h>

namespace hone::automation {

namespace {

constexpr size_t most_missed_rows = 1000;   // of one catch-up; older moments share one row
constexpr size_t most_caught_up = 100;      // firings of one catch-up with the policy `all`
constexpr int64_t most_counted = 1'000'000; // moments that are counted one by one

json::Object window_object(Time from, Time to) {
    return {{"from", to_text(from)}, {"to", to_text(to)}};
}

// The scheduled times after `from` up to `now`: the newest ones, and how many are older than those.
struct Moments {
    std::deque<Time> newest;
    std::optional<Time> first;
    std::optional<Time> last_older;
    int64_t older = 0;
};

Moments moments_between(const Cron& cron, const calendar::TimeZone& zone, Time from, Time now) {
    Moments found;
    int64_t counted = 0;
    for (auto moment = cron.next(from, zone); moment && *moment <= now; moment = cron.next(*moment, zone)) {
        if (!found.first) found.first = *moment;
        found.newest.push_back(*moment);
        if (found.newest.size() > most_missed_rows) {
            found.last_older = found.newest.front();
            found.newest.pop_front();
            ++found.older;
        }
        // Years of seconds: the rest is not worth counting one by one.
        if (++counted >= most_counted && now - *moment > std::chrono::hours(24)) {
            moment = now - std::chrono::hours(1);
            counted = 0;
        }
    }
    return found;
}

std::string key_of(Time moment) {
    return "cron " + to_text(moment).substr(0, 19) + "Z";
}

struct Plan {
    AutomationId id;
    Trigger trigger;
    bool paused = false;
    std::string pause_reason;
    CatchUp catch_up = CatchUp::coalesce;
    Time written_up_to{};
    int64_t revision = 0;
    Watch watch;
    access::ProjectId project;
    Time next_at{};
};

constexpr Pack plan_columns{
    sql::Column{"id", &Plan::id},
    sql::Column{"trigger_setup", sql::Converted{[](Plan& plan, const sql::Row& row, size_t at) -> Result<> {
                    plan.trigger = TRY(json::read<Trigger>(row.text(at)));
                    return {};
                }}},
    sql::Column{"paused", &Plan::paused},
    sql::Column{"pause_reason", &Plan::pause_reason},
    sql::Column{"catch_up", &Plan::catch_up},
    sql::Column{"written_up_to", &Plan::written_up_to},
    sql::Column{"revision", &Plan::revision},
    sql::Column{"watch", sql::Converted{[](Plan& plan, const sql::Row& row, size_t at) -> Result<> {
                    plan.watch = TRY(json::read<Watch>(row.text(at)));
                    return {};
                }}},
    sql::Column{"project_id", &Plan::project},
    sql::Column{"next_at", &Plan::next_at},
};

Result<Plan> plan_of(const sql::Row& row) {
    return sql::read<Plan>(plan_columns, row);
}

// The rows that the moments become: due, or skipped with the reason.
std::vector<NewSlot> slots_of(const Plan& plan, const Moments& moments, const Cron& cron,
                              const calendar::TimeZone& zone, Time now, Duration on_time) {
    std::vector<NewSlot> slots;
    const auto& newest = moments.newest;
    // A window reaches back to the moment before; the first one ever is as long as the one after it.
    const bool follows = cron.next(plan.written_up_to - std::chrono::seconds(1), zone) == plan.written_up_to;
    const Time first = *moments.first;
    const Time after_first = cron.next(first, zone).value_or(first);
    const Time begin = follows ? plan.written_up_to : first - (after_first - first);
    if (moments.older > 0) {
        NewSlot many{.automation = plan.id,
                     .key = key_of(*moments.last_older),
                     .due_at = *moments.last_older,
                     .outcome = SlotOutcome::skipped,
                     .reason = plan.paused                      ? SlotReason::paused
                               : plan.catch_up == CatchUp::none ? SlotReason::missed
                                                                : SlotReason::coalesced};
        many.note =
            fmt::format("covers {} scheduled times from {} on", moments.older, to_text(first).substr(0, 19) + "Z");
        many.values = {{"type", "cron"}, {"moments", moments.older}};
        slots.push_back(std::move(many));
    }
    const size_t missed = static_cast<size_t>(
        std::count_if(newest.begin(), newest.end(), [&](Time moment) { return now - moment > on_time; }));
    Time before = moments.older > 0 ? *moments.last_older : begin;
    for (size_t i = 0; i < newest.size(); ++i) {
        NewSlot slot{.automation = plan.id, .key = key_of(newest[i]), .due_at = newest[i]};
        slot.values = {{"type", "cron"}, {"window", window_object(before, newest[i])}};
        before = newest[i];
        const auto skip = [&](SlotReason reason, std::string note) {
            slot.outcome = SlotOutcome::skipped;
            slot.reason = reason;
            slot.note = std::move(note);
        };
        const bool is_last = i + 1 == newest.size();
        if (plan.paused)
            skip(SlotReason::paused, plan.pause_reason);
        else if (i < missed && plan.catch_up == CatchUp::none)
            skip(SlotReason::missed, "no server was running");
        else if (i < missed && plan.catch_up == CatchUp::coalesce && !is_last)
            skip(SlotReason::coalesced, "no server was running; a later firing covers it");
        else if (i + most_caught_up < missed)
            skip(SlotReason::coalesced, "too many scheduled times were missed to catch up with all of them");
        // The firing that covers the missed ones gets all of their time as its window.
        const size_t first_firing = missed == newest.size() ? newest.size() - 1 : missed;
        if (plan.catch_up == CatchUp::coalesce && missed > 0 && i == first_firing && !plan.paused)
            slot.values = {{"type", "cron"},
                           {"window", window_object(begin, newest[i])},
                           {"coalesced", static_cast<int64_t>(first_firing) + moments.older}};
        slots.push_back(std::move(slot));
    }
    return slots;
}

} // namespace

Result<Time> Scheduler::step(Time now) {
    Result<> outcome;
    const auto note = [&](Result<> done) {
        if (!done.ok()) outcome = std::move(done);
    };
    note(write_due(now, false));
    note(act_on_due());
    note(m_firing.note_ended());
    // Measuring can take seconds; schedules come first.
    note(write_due(now, true));
    note(act_on_due());
    note(tidy(now));
    {
        const Lock lock(m_mutex);
        m_state.last_step = now;
        ++m_state.steps;
        if (!outcome.ok()) {
            ++m_state.failed_steps;
            m_state.last_error = outcome.error().message;
        }
    }
    if (!outcome.ok()) return outcome.error();
    return next_step(now);
}

Result<> Scheduler::write_due(Time now, bool metrics) {
    Result<> outcome;
    const auto rows = TRY(m_database.query("SELECT " + sql::names(plan_columns) +
                                               " FROM automations WHERE next_at <= ? AND trigger_type = ? ORDER BY "
                                               "next_at, id LIMIT 500",
                                           now, metrics ? "metric" : "cron"));
    for (const auto& row : rows) {
        auto written = metrics ? evaluate_metric(row, now) : write_cron(row, now);
        if (written.ok()) continue;
        log(Level::warning, "could not evaluate automation",
            {{"automation", row.text(0)}, {"why", written.error().message}});
        outcome = std::move(written);
    }
    return outcome;
}

Result<> Scheduler::write_cron(const sql::Row& row, Time now) {
    const Plan plan = TRY(plan_of(row));
    const Cron cron = TRY(Cron::parse(plan.trigger.schedule.value_or("")));
    const calendar::TimeZone zone = TRY(calendar::TimeZone::find(plan.trigger.time_zone.value_or("")));
    const Moments moments = moments_between(cron, zone, plan.written_up_to, now);
    std::vector<NewSlot> slots;
    if (moments.first) slots = slots_of(plan, moments, cron, zone, now, m_options.on_time);
    const Time written_up_to = slots.empty() ? plan.written_up_to : slots.back().due_at;
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const int64_t won = TRY(transaction.execute(
            "UPDATE automations SET written_up_to = ?, next_at = ? WHERE id = ? AND written_up_to = ? AND revision = ?",
            written_up_to, cron.next(std::max(now, written_up_to), zone), plan.id, plan.written_up_to, plan.revision));
        if (won == 0) return {}; // another server wrote them, or the automation was changed
        for (const NewSlot& slot : slots) TRY(insert_slot(transaction, m_clock, slot));
        return {};
    });
}

Result<> Scheduler::evaluate_metric(const sql::Row& row, Time now) {
    const Plan plan = TRY(plan_of(row));
    // The newest evaluation that is due; earlier ones that were missed would use outdated values.
    const Time next = *next_evaluation(plan.trigger, now);
    const Time evaluated_at = next - std::chrono::seconds(*plan.trigger.every_seconds);
    const Time from = evaluated_at - std::chrono::seconds(*plan.trigger.window_seconds);
    const auto measured = m_measure(plan.project, plan.trigger, from, evaluated_at);
    Watch watch = plan.watch;
    const bool fires = measured.ok() && update_watch(watch, plan.trigger, measured.value(), evaluated_at);
    NewSlot slot{.automation = plan.id, .key = "metric " + to_text(evaluated_at), .due_at = evaluated_at};
    if (fires)
        slot.values = {{"type", "metric"},
                       {"metric", name_of(*plan.trigger.metric)},
                       {"comparator", name_of(*plan.trigger.comparator)},
                       {"threshold", *plan.trigger.threshold},
                       {"value", measured.value().value},
                       {"samples", measured.value().samples},
                       {"filter", plan.trigger.filter.value_or("")},
                       {"window", window_object(from, evaluated_at)}};
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const int64_t won = TRY(transaction.execute(
            "UPDATE automations SET next_at = ?, watch = ? WHERE id = ? AND next_at = ? AND revision = ?", next,
            json::write(watch), plan.id, plan.next_at, plan.revision));
        if (won > 0 && fires) TRY(insert_slot(transaction, m_clock, slot));
        return {};
    }));
    return measured.ok() ? Result<>() : measured.error();
}

Result<> Scheduler::act_on_due() {
    const auto rows = TRY(m_database.query(
        "SELECT id FROM automation_slots WHERE is_open = 1 AND outcome = 'due' ORDER BY due_at, id LIMIT 1000"));
    Result<> outcome;
    for (const auto& row : rows) {
        auto acted = m_firing.act(row.id<SlotTag>(0));
        if (acted.ok()) continue;
        log(Level::warning, "could not act on due slot", {{"slot", row.text(0)}, {"why", acted.error().message}});
        outcome = std::move(acted);
    }
    return outcome;
}

// Seals secrets of webhooks with the current master key; once an hour deletes old slots.
Result<> Scheduler::tidy(Time now) {
    const std::string key = m_keys.current_id();
    const auto sealed = TRY(m_database.query(
        "SELECT id, hook_key, hook_sealed FROM automations WHERE hook_key <> ? ORDER BY id LIMIT 100", key));
    for (const auto& row : sealed) {
        const std::string context = "webhook of " + row.text(0);
        if (!m_keys.has(row.text(1))) continue;
        const crypto::SecretBytes plain = TRY(m_keys.unseal(row.text(1), context, row.blob(2)));
        TRY(m_database.execute("UPDATE automations SET hook_key = ?, hook_sealed = ? WHERE id = ? AND hook_key = ?",
                               key, sql::Blob{TRY(m_keys.seal(key, context, plain))}, row.text(0), row.text(1)));
    }
    if (m_tidied && now - *m_tidied < std::chrono::hours(1) && now >= *m_tidied) return {};
    m_tidied = now;
    TRY(m_database.execute("DELETE FROM automation_slots WHERE is_open = 0 AND created_at < ?",
                           now - m_options.keep_slots));
    const auto crowded = TRY(m_database.query(
        "SELECT automation_id FROM automation_slots GROUP BY automation_id HAVING COUNT(*) > ? LIMIT 1000",
        m_options.most_slots));
    for (const auto& row : crowded)
        TRY(m_database.execute("DELETE FROM automation_slots WHERE automation_id = ? AND is_open = 0 AND id < (SELECT "
                               "id FROM automation_slots WHERE automation_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?)",
                               row.text(0), row.text(0), m_options.most_slots));
    return {};
}

Result<Time> Scheduler::next_step(Time now) const {
    Time next = now + m_options.longest_sleep;
    const auto planned =
        TRY(m_database.query("SELECT next_at FROM automations WHERE next_at IS NOT NULL ORDER BY next_at LIMIT 1"));
    if (!planned.empty()) next = std::min(next, planned.front().time(0));
    const auto open = TRY(m_database.query("SELECT id FROM automation_slots WHERE is_open = 1 LIMIT 1"));
    if (!open.empty()) next = std::min(next, now + m_options.watch_runs);
    return next;
}

Result<Duration> Scheduler::step_now() {
    constexpr Duration shortest = std::chrono::milliseconds(50);
    const Time next = TRY(step(m_clock.now()));
    return std::clamp<Duration>(next - m_clock.now(), shortest, m_options.longest_sleep);
}

Result<SchedulerState> Scheduler::state() const {
    SchedulerState state;
    {
        const Lock lock(m_mutex);
        state = m_state;
    }
    const Time now = m_clock.now();
    const auto slots =
        TRY(m_database.query("SELECT outcome, COUNT(*) FROM automation_slots WHERE is_open = 1 GROUP BY outcome"));
    for (const auto& row : slots) (row.text(0) == "due" ? state.due_slots : state.live_slots) = row.integer(1);
    const auto all = TRY(m_database.query("SELECT COUNT(*), COALESCE(SUM(paused), 0), MIN(next_at) FROM automations"));
    state.automations = all.front().integer(0);
    state.paused = all.front().integer(1);
    state.next_at = all.front().optional_time(2);
    if (state.next_at && *state.next_at < now)
        state.behind_seconds = std::chrono::duration<double>(now - *state.next_at).count();
    return state;
}

} // namespace hone::automation
