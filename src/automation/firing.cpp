#include "automation/firing.h"

#include "base/log.h"
#include "base/text.h"
#include "broker/spending/budget.h"

#include <fmt/format.h>

namespace hone::automation {

using access::Caller, access::Permission;

namespace {

bool is_failure(run::State state) {
    return state == run::State::failed || state == run::State::timed_out || state == run::State::lost;
}

} // namespace

struct Firing::Case {
    Slot slot;
    Automation automation;
    std::optional<std::string> prompt;
    std::optional<run::Settings> settings;
    std::string owner;
    std::string owner_name;
    std::optional<Time> last_fired_at;
    bool is_due = false;
};

Result<Firing::Case> Firing::read(const SlotId& id) const {
    Case one;
    one.slot = TRY(m_automations.slot(id));
    one.automation = TRY(m_automations.find(Caller::system(), {}, one.slot.automation_id.text()));
    const auto rows = TRY(m_database.query("SELECT s.prompt, a.settings, a.owner, a.owner_name, a.last_fired_at FROM "
                                           "automation_slots s JOIN automations a ON a.id = s.automation_id WHERE "
                                           "s.id = ?",
                                           id));
    if (rows.empty()) return not_found("slot " + id.text());
    const sql::Row row = rows.front();
    one.prompt = row.optional_text(0);
    if (const auto settings = row.optional_text(1)) one.settings = TRY(json::read<run::Settings>(*settings));
    one.owner = row.text(2);
    one.owner_name = row.text(3);
    one.last_fired_at = row.optional_time(4);
    one.is_due = one.slot.outcome == SlotOutcome::due;
    return one;
}

Result<> Firing::act(const SlotId& id) {
    const auto one = read(id);
    // Deleted with its automation.
    if (!one.ok()) return one.error().code == Code::not_found ? Result<>() : one.error();
    if (!one.value().is_due) return {};
    if (const auto verdict = TRY(evaluate(one.value()))) return close(one.value(), *verdict);
    return start(one.value());
}

Result<std::optional<Firing::Verdict>> Firing::evaluate(const Case& one) const {
    const Automation& automation = one.automation;
    const auto skip = [](SlotReason reason, std::string note) {
        return std::optional(Verdict{SlotOutcome::skipped, reason, std::move(note)});
    };
    if (automation.paused && !one.slot.by_hand) return skip(SlotReason::paused, automation.pause_reason);
    if (!one.settings && !automation.preset_name) return skip(SlotReason::preset_missing, "its preset was deleted");
    const Duration cool_off = std::chrono::seconds(automation.cool_off_seconds);
    if (!one.slot.by_hand && cool_off > Duration(0) && one.last_fired_at &&
        one.slot.due_at - *one.last_fired_at < cool_off)
        return skip(SlotReason::cool_off,
                    fmt::format("it fired at {} and cools off for {} s",
                                to_text(*one.last_fired_at).substr(0, 19) + "Z", automation.cool_off_seconds));
    if (const auto verdict = TRY(evaluate_overlap(one))) return verdict;
    const int64_t queued = TRY(m_runs.count_queued(automation.space_id));
    if (queued >= capacity.queued_in_space)
        return skip(SlotReason::capacity, fmt::format("{} runs of the space wait for a place", queued));
    return evaluate_budget(one);
}

Result<std::optional<Firing::Verdict>> Firing::evaluate_overlap(const Case& one) const {
    const Automation& automation = one.automation;
    const int64_t count = TRY(m_runs.count_live(automation.id.text()));
    using enum SlotOutcome;
    if (automation.overlap == Overlap::skip && count > 0)
        return std::optional(Verdict{skipped, SlotReason::overlap, "a run of this automation is active"});
    if (automation.overlap == Overlap::parallel && count >= capacity.live_runs)
        return std::optional(
            Verdict{skipped, SlotReason::capacity, fmt::format("{} runs of this automation are active", count)});
    if (automation.overlap != Overlap::queue) return std::optional<Verdict>();
    const auto before = TRY(
        m_database.query("SELECT COUNT(*) FROM automation_slots WHERE automation_id = ? AND outcome = 'due' AND id < ?",
                         automation.id, one.slot.id));
    if (before.front().integer(0) >= capacity.waiting_slots)
        return std::optional(
            Verdict{skipped, SlotReason::capacity, fmt::format("{} slots wait already", capacity.waiting_slots)});
    if (count > 0 || before.front().integer(0) > 0)
        return std::optional(Verdict{due, SlotReason::waiting, "waits for the end of the previous run"});
    return std::optional<Verdict>();
}

Result<std::optional<Firing::Verdict>> Firing::evaluate_budget(const Case& one) const {
    const Automation& automation = one.automation;
    const std::string day = broker::day_of(m_clock.now());
    const auto used_up = [&](std::string_view whose) {
        return std::optional(Verdict{SlotOutcome::skipped, SlotReason::budget,
                                     fmt::format("the {}'s budget for {} is used up", whose, day)});
    };
    const auto over = [](const broker::Spending& spent, std::optional<int64_t> tokens, std::optional<int64_t> micro) {
        return (tokens && spent.tokens >= *tokens) || (micro && spent.cost_nano_usd >= *micro * 1000);
    };
    const DayBudget& budget = automation.budget;
    if (budget.tokens_per_day || budget.cost_micro_usd_per_day) {
        const auto spent = TRY(m_ledger.spent_by_automation(automation.id.text(), day));
        if (over(spent, budget.tokens_per_day, budget.cost_micro_usd_per_day)) return used_up("automation");
    }
    const auto limits = TRY(broker::read_space_budget(m_database, automation.space_id));
    if (!limits.tokens_per_day && !limits.cost_micro_usd_per_day) return std::optional<Verdict>();
    const auto spent = TRY(m_ledger.spent_by_space(automation.space_id.text(), day));
    if (over(spent, limits.tokens_per_day, limits.cost_micro_usd_per_day)) return used_up("space");
    return std::optional<Verdict>();
}

// Whose rights the run has, as they are now: people leave, keys are revoked.
Result<Caller> Firing::owner_of(const Case& one) const {
    if (one.owner.empty()) return Caller::system();
    Caller owner;
    owner.name = one.owner_name;
    if (const auto key_id = parse_id<access::KeyTag>(one.owner); key_id.ok()) {
        const access::Key key = TRY(m_access.keys.find(key_id.value()));
        if (key.state != access::KeyState::active)
            return forbidden("the key " + key.name + " has expired or was revoked");
        owner.kind = access::CallerKind::key;
        owner.key = key.id;
        owner.scope = TRY(access::scope_of(key.scopes));
        if (!key.user_id) {
            if (key.role) owner.roles.emplace(key.space_id, *key.role);
            return owner;
        }
        owner.user = *key.user_id;
    } else {
        owner.kind = access::CallerKind::user;
        owner.user = access::UserId(one.owner);
        owner.scope = access::permissions_of(access::Role::owner) | access::installation_permissions();
    }
    const auto user = m_access.users.find(owner.user);
    if (!user.ok() && user.error().code != Code::not_found) return user.error();
    if (!user.ok() || user.value().disabled) return forbidden(one.owner_name + " is disabled");
    owner.installation_owner = user.value().installation_owner;
    owner.roles = TRY(m_access.users.roles_of(owner.user));
    return owner;
}

run::StartRun Firing::wanted_run(const Case& one, const Values& values) {
    run::StartRun wanted;
    wanted.project = one.automation.project_id.text();
    wanted.prompt = one.prompt ? *one.prompt : fill_template(one.automation.prompt, values);
    wanted.title = std::string(truncate_utf8(one.automation.name, 100));
    if (one.settings)
        wanted.settings = *one.settings;
    else
        wanted.preset = one.automation.preset_id->text();
    return wanted;
}

// The values of the trigger go to the worker as data, beside the prompt.
run::AutomationStart Firing::start_of(const Case& one, const Values& values) {
    const DayBudget& budget = one.automation.budget;
    run::AutomationStart start;
    start.id = one.automation.id.text();
    start.name = one.automation.name;
    if (budget.tokens_per_day || budget.cost_micro_usd_per_day)
        start.budget_per_day =
            run::Budget{budget.tokens_per_day, budget.cost_micro_usd_per_day, budget.soft_percent, {}, {}};
    start.trigger =
        json::Object{{"automation", one.automation.name},
                     {"slot", one.slot.id.text()},
                     {"due_at", to_text(one.slot.due_at)},
                     {"window", json::Object{{"from", values.at("window.from")}, {"to", values.at("window.to")}}},
                     {"trigger", one.slot.values}};
    return start;
}

// In the transaction that makes the run: both, or neither.
Result<> Firing::take_slot(sql::Transaction& transaction, const Case& one, const run::RunId& run) const {
    const Time now = m_clock.now();
    const int64_t taken = TRY(transaction.execute(
        "UPDATE automation_slots SET outcome = 'fired', reason = 'none', note = '', run_id = ?, acted_at = ? WHERE "
        "id = ? AND outcome = 'due'",
        run, now, one.slot.id));
    if (taken == 0) return conflict("another server took the slot");
    if (one.automation.overlap != Overlap::parallel) {
        const int64_t live = TRY(m_runs.count_live(transaction, one.automation.id.text(), run));
        if (live > 0) return conflict("another run of the automation began meanwhile");
    }
    TRY(transaction.execute("UPDATE automations SET last_fired_at = ? WHERE id = ?", now, one.automation.id));
    return {};
}

Result<> Firing::start(const Case& one) {
    const Automation& automation = one.automation;
    const auto owner = owner_of(one);
    const auto allowed = owner.ok() ? m_access.projects.find(owner.value(), automation.space_id,
                                                             automation.project_id.text(), Permission::run_start)
                                    : Result<access::Project>(owner.error());
    if (!allowed.ok()) {
        if (allowed.error().code == Code::unavailable || allowed.error().code == Code::busy) return allowed.error();
        return close(one, {SlotOutcome::failed, SlotReason::owner_gone,
                           one.owner_name + " may no longer start runs in this project; save the automation as "
                                            "a member who may"});
    }
    const auto values = values_of(automation, one.slot);
    run::AutomationStart start = start_of(one, values);
    start.together = [&](sql::Transaction& transaction, const run::RunId& run) {
        return take_slot(transaction, one, run);
    };
    const run::StartRun wanted = wanted_run(one, values);
    const auto run = m_runs.start_for(start, owner.value(), automation.space_id, wanted);
    if (run.ok()) return {};
    const Code code = run.error().code;
    // The next step evaluates it again: then the other run counts, or the database is available.
    if (code == Code::conflict) return {};
    if (code == Code::busy || code == Code::unavailable || code == Code::internal) return run.error();
    return close(one, {SlotOutcome::failed, SlotReason::not_started, run.error().message});
}

Result<> Firing::close(const Case& one, const Verdict& verdict) {
    if (verdict.outcome == SlotOutcome::due) {
        if (one.slot.reason == verdict.reason) return {};
        TRY(m_database.execute("UPDATE automation_slots SET reason = ?, note = ? WHERE id = ? AND outcome = 'due'",
                               name_of(verdict.reason), verdict.note, one.slot.id));
        return {};
    }
    const auto notice = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<std::optional<PausedNotice>> {
        const int64_t closed = TRY(transaction.execute(
            "UPDATE automation_slots SET outcome = ?, reason = ?, note = ?, acted_at = ?, is_open = 0 WHERE id = ? AND "
            "outcome = 'due'",
            name_of(verdict.outcome), name_of(verdict.reason), std::string(truncate_utf8(verdict.note, 1000)),
            m_clock.now(), one.slot.id));
        if (closed == 0 || verdict.outcome != SlotOutcome::failed) return std::optional<PausedNotice>();
        return count_failure(transaction, one.automation.id, verdict.note);
    }));
    if (notice && m_paused) m_paused(*notice);
    return {};
}

Result<> Firing::note_ended() {
    constexpr size_t page = 1000;
    std::string after;
    for (;;) {
        const auto rows =
            TRY(m_database.query(select_slot() + " WHERE s.is_open = 1 AND s.outcome = 'fired' AND s.id > ? ORDER BY "
                                                 "s.id LIMIT ?",
                                 after, static_cast<int64_t>(page)));
        std::vector<Slot> slots;
        std::vector<run::RunId> ids;
        for (const auto& row : rows) {
            slots.push_back(slot_of(row));
            if (slots.back().run_id) ids.push_back(*slots.back().run_id);
        }
        const auto runs = TRY(m_runs.find_all(ids));
        for (const Slot& slot : slots) {
            const auto run = slot.run_id ? runs.find(*slot.run_id) : runs.end();
            if (run == runs.end()) // a deleted run neither succeeded nor failed
                TRY(run_ended(slot, run::State::cancelled, ""));
            else if (run::is_over(run->second.state))
                TRY(run_ended(slot, run->second.state, run->second.reason));
        }
        if (rows.size() < page) return {};
        after = slots.back().id.text();
    }
}

Result<> Firing::run_ended(const Slot& slot, run::State state, const std::string& reason) {
    const auto notice = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<std::optional<PausedNotice>> {
        const int64_t noted = TRY(transaction.execute(
            "UPDATE automation_slots SET run_state = ?, is_open = 0 WHERE id = ? AND is_open = 1 AND outcome = "
            "'fired'",
            name_of(state), slot.id));
        if (noted == 0) return std::optional<PausedNotice>();
        if (state == run::State::succeeded)
            TRY(transaction.execute("UPDATE automations SET failure_streak = 0 WHERE id = ?", slot.automation_id));
        if (!is_failure(state)) return std::optional<PausedNotice>();
        return count_failure(transaction, slot.automation_id,
                             reason.empty() ? "the run " + std::string(name_of(state)) : reason);
    }));
    if (notice && m_paused) m_paused(*notice);
    return {};
}

Result<std::optional<PausedNotice>> Firing::count_failure(sql::Transaction& transaction, const AutomationId& id,
                                                          const std::string& what) const {
    TRY(transaction.execute("UPDATE automations SET failure_streak = failure_streak + 1 WHERE id = ?", id));
    const auto rows = TRY(transaction.query(
        "SELECT space_id, project_id, name, failure_streak, failure_limit, paused FROM automations WHERE id = ?", id));
    if (rows.empty()) return std::optional<PausedNotice>();
    const sql::Row row = rows.front();
    const int64_t streak = row.integer(3), limit = row.integer(4);
    if (limit == 0 || streak < limit || row.flag(5)) return std::optional<PausedNotice>();
    PausedNotice notice{id, row.id<access::SpaceTag>(0), row.id<access::ProjectTag>(1), row.text(2), ""};
    notice.reason = fmt::format("{} failures in a row; the last: {}", streak, truncate_utf8(run::harmless(what), 300));
    TRY(transaction.execute("UPDATE automations SET paused = 1, pause_reason = ?, revision = revision + 1, updated_at "
                            "= ? WHERE id = ?",
                            notice.reason, m_clock.now(), id));
    TRY(m_access.audit.record(transaction, Caller::system(),
                              {"automation_pause", notice.space, id.text(), {{"reason", notice.reason}}}));
    return std::optional(notice);
}

} // namespace hone::automation
