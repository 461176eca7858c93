// Rows of automations and of their ledger, read and written.
#include "automation/automations.h"

#include "automation/cron.h"
#include "broker/spending/usage_ledger.h"

namespace hone::automation {

namespace {

constexpr size_t slot_width = 13;

} // namespace

std::string_view slot_columns() {
    return "s.id, s.automation_id, s.due_key, s.due_at, s.outcome, s.reason, s.note, s.run_id, s.run_state, "
           "s.trigger_values, s.by_hand, s.created_at, s.acted_at";
}

Slot slot_of(const sql::Row& row, size_t first) {
    Slot slot;
    slot.id = row.id<SlotTag>(first);
    slot.automation_id = row.id<AutomationTag>(first + 1);
    slot.due_key = row.text(first + 2);
    slot.due_at = row.time(first + 3);
    slot.outcome = parse_enum<SlotOutcome>(row.text(first + 4)).value_or(SlotOutcome::failed);
    slot.reason = parse_enum<SlotReason>(row.text(first + 5)).value_or(SlotReason::none);
    slot.note = row.text(first + 6);
    slot.run_id = row.optional_id<run::RunTag>(first + 7);
    if (const auto state = row.optional_text(first + 8)) slot.run_state = parse_enum<run::State>(*state);
    auto values = json::parse(row.text(first + 9));
    slot.values = values.ok() ? std::move(values).value() : json::Value(json::Object{});
    slot.by_hand = row.flag(first + 10);
    slot.created_at = row.time(first + 11);
    slot.acted_at = row.optional_time(first + 12);
    return slot;
}

std::string select_automation() {
    return "SELECT a.id, a.space_id, a.project_id, p.name, a.name, a.description, a.preset_id, pr.name, a.prompt, "
           "a.trigger_setup, a.paused, a.pause_reason, a.overlap, a.catch_up, a.cool_off_seconds, a.tokens_per_day, "
           "a.cost_micro_usd_per_day, a.soft_percent, a.failure_limit, a.failure_streak, a.managed_by, a.owner_name, "
           "a.created_at, a.updated_at, COALESCE(a.next_at, CASE WHEN a.managed_by = 'signal' THEN (SELECT "
           "g.next_scan_at FROM signal_settings g WHERE g.project_id = a.project_id) END), a.last_slot, u.tokens, "
           "u.cost, " +
           std::string(slot_columns()) +
           " FROM automations a JOIN projects p ON p.id = a.project_id LEFT JOIN presets pr ON pr.id = a.preset_id "
           "LEFT JOIN automation_slots s ON s.id = a.last_slot LEFT JOIN (SELECT automation_id, SUM(input_tokens + "
           "cache_read_tokens + cache_write_tokens + output_tokens + estimated_tokens) AS tokens, "
           "SUM(COALESCE(cost_nano_usd, 0)) AS cost FROM model_usage WHERE automation_id <> '' AND day = ? GROUP BY "
           "automation_id) u ON u.automation_id = a.id";
}

Result<Automation> automation_of(const sql::Row& row) {
    Automation made;
    made.id = row.id<AutomationTag>(0);
    made.space_id = row.id<access::SpaceTag>(1);
    made.project_id = row.id<access::ProjectTag>(2);
    made.project_name = row.text(3);
    made.name = row.text(4);
    made.description = row.text(5);
    made.preset_id = row.optional_id<run::PresetTag>(6);
    made.preset_name = row.optional_text(7);
    made.prompt = row.text(8);
    made.trigger = TRY(json::read<Trigger>(row.text(9)));
    made.paused = row.flag(10);
    made.pause_reason = row.text(11);
    made.overlap = parse_enum<Overlap>(row.text(12)).value_or(Overlap::skip);
    made.catch_up = parse_enum<CatchUp>(row.text(13)).value_or(CatchUp::coalesce);
    made.cool_off_seconds = row.integer(14);
    made.budget.tokens_per_day = row.optional_integer(15);
    made.budget.cost_micro_usd_per_day = row.optional_integer(16);
    made.budget.soft_percent = row.integer(17);
    made.failure_limit = row.integer(18);
    made.failure_streak = row.integer(19);
    made.managed_by = row.optional_text(20);
    made.created_by = row.text(21);
    made.created_at = row.time(22);
    made.updated_at = row.time(23);
    made.next_at = row.optional_time(24);
    if (!row.is_null(26)) made.spent_today.tokens = row.integer(26);
    if (!row.is_null(27)) made.spent_today.cost_micro_usd = row.integer(27) / 1000;
    if (!row.is_null(28)) made.last_slot = slot_of(row, 28);
    static_assert(slot_width == 13);
    if (made.trigger.type == TriggerType::webhook) made.hook_path = "/v1/hooks/" + made.id.text();
    return made;
}

Result<std::optional<SlotId>> insert_slot(sql::Transaction& transaction, const Clock& clock, const NewSlot& slot) {
    const SlotId id = make_id<SlotTag>(clock);
    const bool is_due = slot.outcome == SlotOutcome::due;
    const Time now = clock.now();
    const int64_t made = TRY(transaction.execute(
        "INSERT INTO automation_slots (id, automation_id, due_key, due_at, outcome, reason, note, trigger_values, "
        "prompt, by_hand, is_open, created_at, acted_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT "
        "(automation_id, due_key) DO NOTHING",
        id, slot.automation, slot.key, slot.due_at, name_of(slot.outcome), name_of(slot.reason), slot.note,
        json::print(json::Value(slot.values)), slot.prompt, slot.by_hand, is_due && slot.is_watched, now,
        is_due ? std::nullopt : std::optional(now)));
    if (made == 0) return std::optional<SlotId>();
    TRY(transaction.execute("UPDATE automations SET last_slot = ? WHERE id = ?", id, slot.automation));
    return std::optional(id);
}

std::optional<Time> next_look(const Trigger& trigger, Time after) {
    if (trigger.type == TriggerType::cron) {
        const auto cron = Cron::parse(trigger.schedule.value_or(""));
        const auto zone = Zone::find(trigger.time_zone.value_or(""));
        if (!cron.ok() || !zone.ok()) return std::nullopt;
        return cron.value().next(after, zone.value());
    }
    if (trigger.type == TriggerType::metric) {
        // At whole multiples, so that all servers look at the same moments.
        const int64_t every = std::max<int64_t>(trigger.every_seconds.value_or(60), 1) * 1'000'000'000;
        return from_ns((to_ns(after) / every + 1) * every);
    }
    return std::nullopt;
}

} // namespace hone::automation
