// Reads and writes the rows of automations and of their slots.
#include "automation/automations.h"

#include "automation/cron.h"
#include "sql/columns.h"

namespace hone::automation {

namespace {

constexpr Pack slot_columns{
    sql::Column{"id", &Slot::id},
    sql::Column{"automation_id", &Slot::automation_id},
    sql::Column{"due_key", &Slot::due_key},
    sql::Column{"due_at", &Slot::due_at},
    sql::Column{"outcome", &Slot::outcome, SlotOutcome::failed},
    sql::Column{"reason", &Slot::reason},
    sql::Column{"note", &Slot::note},
    sql::Column{"run_id", &Slot::run_id},
    sql::Column{"run_state", &Slot::run_state},
    sql::Column{"trigger_values", sql::Converted{[](Slot& slot, const sql::Row& row, size_t at) {
                    auto values = json::parse(row.text(at));
                    slot.values = values.ok() ? std::move(values).value() : json::Value(json::Object{});
                }}},
    sql::Column{"by_hand", &Slot::by_hand},
    sql::Column{"created_at", &Slot::created_at},
    sql::Column{"acted_at", &Slot::acted_at},
};

constexpr Pack automation_columns{
    sql::Column{"id", &Automation::id},
    sql::Column{"space_id", &Automation::space_id},
    sql::Column{"project_id", &Automation::project_id},
    sql::Column{"name", &Automation::name},
    sql::Column{"description", &Automation::description},
    sql::Column{"preset_id", &Automation::preset_id},
    sql::Column{"prompt", &Automation::prompt},
    sql::Column{"trigger_setup", sql::Converted{[](Automation& made, const sql::Row& row, size_t at) -> Result<> {
                    made.trigger = TRY(json::read<Trigger>(row.text(at)));
                    return {};
                }}},
    sql::Column{"paused", &Automation::paused},
    sql::Column{"pause_reason", &Automation::pause_reason},
    sql::Column{"overlap", &Automation::overlap, Overlap::skip},
    sql::Column{"catch_up", &Automation::catch_up, CatchUp::coalesce},
    sql::Column{"cool_off_seconds", &Automation::cool_off_seconds},
    sql::Column{"tokens_per_day", sql::in(&Automation::budget, &DayBudget::tokens_per_day)},
    sql::Column{"cost_micro_usd_per_day", sql::in(&Automation::budget, &DayBudget::cost_micro_usd_per_day)},
    sql::Column{"soft_percent", sql::in(&Automation::budget, &DayBudget::soft_percent, &Defaulted<int64_t>::value)},
    sql::Column{"failure_limit", &Automation::failure_limit},
    sql::Column{"failure_streak", &Automation::failure_streak},
    sql::Column{"managed_by", &Automation::managed_by},
    sql::Column{"owner_name", &Automation::created_by},
    sql::Column{"created_at", &Automation::created_at},
    sql::Column{"updated_at", &Automation::updated_at},
    sql::Column{"next_at", &Automation::next_at},
};

constexpr Pack budget_columns{
    sql::Column{"id", &BudgetedAutomation::id},
    sql::Column{"space_id", &BudgetedAutomation::space_id},
    sql::Column{"project_id", &BudgetedAutomation::project_id},
    sql::Column{"name", &BudgetedAutomation::name},
    sql::Column{"tokens_per_day", sql::in(&BudgetedAutomation::budget, &DayBudget::tokens_per_day)},
    sql::Column{"cost_micro_usd_per_day", sql::in(&BudgetedAutomation::budget, &DayBudget::cost_micro_usd_per_day)},
    sql::Column{"soft_percent",
                sql::in(&BudgetedAutomation::budget, &DayBudget::soft_percent, &Defaulted<int64_t>::value)},
};

} // namespace

std::string select_slot() {
    return "SELECT " + sql::names(slot_columns, "s.") + " FROM automation_slots s";
}

Slot slot_of(const sql::Row& row, size_t first) {
    return sql::read<Slot>(slot_columns, row, first);
}

std::string select_automation() {
    return "SELECT " + sql::names(automation_columns, "a.") + ", " + sql::names(slot_columns, "s.") +
           " FROM automations a LEFT JOIN automation_slots s ON s.id = a.last_slot";
}

Result<Automation> automation_of(const sql::Row& row) {
    Automation made = TRY(sql::read<Automation>(automation_columns, row));
    constexpr size_t slot = sql::width(automation_columns);
    if (!row.is_null(slot)) made.last_slot = slot_of(row, slot);
    if (made.trigger.type == TriggerType::webhook) made.hook_path = "/v1/hooks/" + made.id.text();
    return made;
}

Result<std::vector<BudgetedAutomation>> automations_with_budget(sql::Database& database) {
    const auto rows =
        TRY(database.query("SELECT " + sql::names(budget_columns) +
                           " FROM automations WHERE tokens_per_day IS NOT NULL OR cost_micro_usd_per_day IS NOT NULL "
                           "ORDER BY id LIMIT 10000"));
    std::vector<BudgetedAutomation> automations;
    for (const auto& row : rows) automations.push_back(sql::read<BudgetedAutomation>(budget_columns, row));
    return automations;
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

std::optional<Time> next_evaluation(const Trigger& trigger, Time after) {
    if (trigger.type == TriggerType::cron) {
        const auto cron = Cron::parse(trigger.schedule.value_or(""));
        const auto zone = calendar::TimeZone::find(trigger.time_zone.value_or(""));
        if (!cron.ok() || !zone.ok()) return std::nullopt;
        return cron.value().next(after, zone.value());
    }
    if (trigger.type == TriggerType::metric) {
        // At whole multiples, so that all servers evaluate at the same moments.
        const int64_t every = std::max<int64_t>(trigger.every_seconds.value_or(60), 1) * 1'000'000'000;
        return from_ns((to_ns(after) / every + 1) * every);
    }
    return std::nullopt;
}

} // namespace hone::automation
