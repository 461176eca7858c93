#include "automation/automations.h"

#include "access/names.h"
#include "access/project_list.h"
#include "automation/cron.h"
#include "automation/prompt_template.h"
#include "base/text.h"
#include "broker/spending/usage_ledger.h"
#include "crypto/crypto.h"

namespace hone::automation {

using access::Caller, access::Page, access::PageRequest, access::Permission, access::SpaceId;

namespace {

constexpr int64_t longest_cool_off = 30 * 86'400;
constexpr size_t longest_reason = 500;

Result<> check_budget(const DayBudget& budget) {
    if (budget.tokens_per_day.value_or(0) < 0) return invalid("budget.tokens_per_day must not be negative");
    if (budget.cost_micro_usd_per_day.value_or(0) < 0)
        return invalid("budget.cost_micro_usd_per_day must not be negative");
    if (*budget.soft_percent < 1 || *budget.soft_percent > 100)
        return invalid("budget.soft_percent must be between 1 and 100");
    return {};
}

// The source of a saved webhook; hone where none was written, by earlier versions.
std::optional<HookSource> source_in(std::string_view trigger_setup) {
    const auto trigger = json::read<Trigger>(trigger_setup);
    if (!trigger.ok() || trigger.value().type != TriggerType::webhook) return std::nullopt;
    return trigger.value().source.value_or(HookSource::hone);
}

Error managed_error(const Automation& automation) {
    return conflict("this automation is managed by " + *automation.managed_by + "; change it there");
}

} // namespace

// Resolves names, and rejects what would fail at the first firing.
Result<> Automations::check(const Caller& caller, Automation& automation) const {
    automation.name = TRY(access::checked_name("name", automation.name));
    automation.description = TRY(access::checked_description(automation.description));
    automation.trigger = TRY(checked_trigger(automation.trigger));
    if (automation.cool_off_seconds < 0 || automation.cool_off_seconds > longest_cool_off)
        return invalid("cool_off_seconds must be between 0 and " + std::to_string(longest_cool_off));
    if (automation.failure_limit < 0 || automation.failure_limit > 100)
        return invalid("failure_limit must be between 0 and 100");
    TRY(check_budget(automation.budget));
    if (automation.managed_by) return {};
    if (automation.trigger.type == TriggerType::managed)
        return invalid("trigger.type must be one of cron, metric, monitor, webhook");
    if (trim(automation.prompt).empty()) return invalid("prompt is empty");
    TRY(run::check_prompt("prompt", automation.prompt));
    TRY(check_template(automation.prompt, automation.trigger.type));
    // A caller who defines what runs must be allowed to run it.
    TRY(m_access.projects.find(caller, automation.space_id, automation.project_id.text(), Permission::run_start));
    return {};
}

Result<Page<Automation>> Automations::list(const Caller& caller, const SpaceId& space, const AutomationFilter& filter,
                                           const PageRequest& page) const {
    auto list = TRY(access::ProjectList::create(m_access.projects, caller, space, filter.project,
                                                Permission::automation_read, select_automation(), "a."));
    if (filter.trigger) list.where("a.trigger_type = ?", name_of(*filter.trigger));
    std::vector<Automation> automations;
    for (const auto& row : TRY(list.oldest_first(m_database, page))) automations.push_back(TRY(automation_of(row)));
    TRY(add_facts(automations));
    return access::make_page(std::move(automations), page, [](const Automation& one) { return one.id.text(); });
}

Result<> Automations::add_facts(std::span<Automation> automations) const {
    std::vector<access::ProjectId> projects;
    std::vector<run::PresetId> presets;
    std::vector<std::string> ids;
    std::map<std::string, std::vector<access::ProjectId>> managed;
    for (const Automation& one : automations) {
        projects.push_back(one.project_id);
        if (one.preset_id) presets.push_back(*one.preset_id);
        ids.push_back(one.id.text());
        if (one.managed_by && !one.next_at) managed[*one.managed_by].push_back(one.project_id);
    }
    const auto project_names = TRY(m_access.projects.names(projects));
    const auto preset_names = TRY(m_presets.names(presets));
    const auto spent = TRY(broker::spent_by_automations(m_database, ids, broker::day_of(m_clock.now())));
    std::map<std::string, std::map<access::ProjectId, Time>> times;
    const Lock lock(m_managers_mutex);
    for (const auto& [manager, its_projects] : managed)
        if (const auto schedule = m_managers.find(manager); schedule != m_managers.end())
            times[manager] = TRY(schedule->second->next_at(its_projects));
    for (Automation& one : automations) {
        if (const auto name = project_names.find(one.project_id); name != project_names.end())
            one.project_name = name->second;
        if (one.preset_id)
            if (const auto name = preset_names.find(*one.preset_id); name != preset_names.end())
                one.preset_name = name->second;
        if (const auto used = spent.find(one.id.text()); used != spent.end())
            one.spent_today = {used->second.tokens, used->second.cost_nano_usd / 1000};
        if (!one.managed_by || one.next_at) continue;
        const auto& of_manager = times[*one.managed_by];
        if (const auto next = of_manager.find(one.project_id); next != of_manager.end()) one.next_at = next->second;
    }
    return {};
}

Result<Automation> Automations::find(const Caller& caller, const std::optional<SpaceId>& space,
                                     std::string_view id_or_name, Permission permission) const {
    if (caller.is_guest()) return unauthorized("log in, or send an API key as `Authorization: Bearer …`");
    const std::string shown = "automation " + std::string(truncate_utf8(id_or_name, 100));
    const auto rows =
        parse_id<AutomationTag>(id_or_name).ok()
            ? TRY(m_database.query(select_automation() + " WHERE a.id = ?", id_or_name))
        : space
            ? TRY(m_database.query(select_automation() + " WHERE a.space_id = ? AND a.name = ?", *space, id_or_name))
            : sql::Rows();
    if (rows.empty()) return not_found(shown);
    Automation automation = TRY(automation_of(rows.front()));
    TRY(access::require_in_project(m_access.projects, caller, automation.space_id, automation.project_id, permission,
                                   shown));
    TRY(add_facts(std::span(&automation, 1)));
    return automation;
}

Result<Automation> Automations::create(const Caller& caller, const SpaceId& space, const NewAutomation& wanted) {
    const auto project = TRY(m_access.projects.find(caller, space, wanted.project, Permission::automation_write));
    const run::Preset preset = TRY(m_presets.find(caller, project.space_id, wanted.preset));
    TRY(run::require_capability(*preset.settings.provider, run::capability::automations));
    Automation automation;
    automation.id = make_id<AutomationTag>(m_clock);
    automation.space_id = project.space_id;
    automation.project_id = project.id;
    automation.name = wanted.name;
    automation.description = *wanted.description;
    automation.preset_id = preset.id;
    automation.prompt = wanted.prompt;
    automation.trigger = wanted.trigger;
    automation.paused = *wanted.paused;
    automation.pause_reason = *wanted.paused ? "paused by " + caller.name : "";
    automation.overlap = *wanted.overlap;
    automation.catch_up = *wanted.catch_up;
    automation.cool_off_seconds = *wanted.cool_off_seconds;
    automation.budget = *wanted.budget;
    automation.failure_limit = *wanted.failure_limit;
    TRY(check(caller, automation));
    return saved(caller, std::move(automation), "automation_create", {}, 0, wanted.hook_secret);
}

// Writes all of it. `revision` is the one that was read; 0: a new row.
Result<Automation> Automations::saved(const Caller& caller, Automation automation, std::string_view action,
                                      const std::optional<run::Settings>& settings, int64_t revision,
                                      const std::optional<std::string>& hook_secret) {
    if (hook_secret && automation.trigger.type != TriggerType::webhook)
        return invalid("hook_secret belongs to triggers of type webhook");
    if (hook_secret) TRY(check_hook_secret(*hook_secret));
    const Time now = m_clock.now();
    const std::optional<Time> next_at = next_evaluation(automation.trigger, now);
    std::optional<std::string> secret;
    const std::optional<std::string> settings_text =
        settings ? std::optional(json::write(*settings)) : std::optional<std::string>();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto taken =
            TRY(transaction.query("SELECT id FROM automations WHERE space_id = ? AND name = ? AND id <> ?",
                                  automation.space_id, automation.name, automation.id));
        if (!taken.empty()) return conflict("an automation named " + automation.name + " exists already in this space");
        const auto before = TRY(transaction.query("SELECT trigger_setup FROM automations WHERE id = ?", automation.id));
        const bool is_new_plan = before.empty() || before.front().text(0) != json::write(automation.trigger);
        const bool is_new_source = !before.empty() && source_in(before.front().text(0)) != automation.trigger.source;
        if (revision == 0)
            TRY(transaction.execute(
                "INSERT INTO automations (id, space_id, project_id, name, description, prompt, trigger_type, "
                "trigger_setup, paused, pause_reason, overlap, catch_up, cool_off_seconds, soft_percent, "
                "failure_limit, failure_streak, owner, owner_name, created_at, updated_at, revision, written_up_to, "
                "watch) VALUES (?, ?, ?, ?, '', '', '', '', 0, '', '', '', 0, 80, 0, 0, '', '', ?, ?, 0, ?, '{}')",
                automation.id, automation.space_id, automation.project_id, automation.name, now, now, now));
        const DayBudget& budget = automation.budget;
        const int64_t changed = TRY(transaction.execute(
            "UPDATE automations SET project_id = ?, name = ?, description = ?, preset_id = ?, settings = ?, managed_by "
            "= ?, prompt = ?, trigger_type = ?, trigger_setup = ?, monitor_id = ?, paused = ?, pause_reason = ?, "
            "overlap = ?, catch_up = ?, cool_off_seconds = ?, tokens_per_day = ?, cost_micro_usd_per_day = ?, "
            "soft_percent = ?, failure_limit = ?, failure_streak = ?, owner = ?, owner_name = ?, updated_at = ?, "
            "revision = revision + 1 WHERE id = ? AND revision = ?",
            automation.project_id, automation.name, automation.description, automation.preset_id, settings_text,
            automation.managed_by, automation.prompt, name_of(automation.trigger.type), json::write(automation.trigger),
            automation.trigger.monitor, automation.paused, automation.pause_reason, name_of(automation.overlap),
            name_of(automation.catch_up), automation.cool_off_seconds, budget.tokens_per_day,
            budget.cost_micro_usd_per_day, *budget.soft_percent, automation.failure_limit, automation.failure_streak,
            caller.actor(), caller.name, now, automation.id, revision));
        if (changed == 0)
            return conflict("the automation was changed by another request in the meantime; reload it and try again");
        // A new plan begins now; the ledger of the old one stays.
        if (is_new_plan)
            TRY(transaction.execute("UPDATE automations SET next_at = ?, written_up_to = ?, watch = '{}' WHERE id = ?",
                                    next_at, now, automation.id));
        secret = TRY(save_hook(transaction, automation, hook_secret, is_new_source));
        return m_access.audit.record(transaction, caller,
                                     {action,
                                      automation.space_id,
                                      automation.id.text(),
                                      {{"name", automation.name},
                                       {"trigger", name_of(automation.trigger.type)},
                                       {"paused", automation.paused}}});
    }));
    changed();
    Automation made = TRY(find(Caller::system(), {}, automation.id.text()));
    made.hook_secret = secret;
    return made;
}

Result<Automation> Automations::update(const Caller& caller, const Automation& automation,
                                       const AutomationChange& change) {
    if (automation.managed_by) return managed_error(automation);
    Automation wanted = TRY(find(caller, automation.space_id, automation.id.text(), Permission::automation_write));
    const auto rows = TRY(m_database.query("SELECT revision FROM automations WHERE id = ?", wanted.id));
    if (rows.empty()) return not_found("automation " + wanted.name);
    if (change.name) wanted.name = *change.name;
    if (change.description) wanted.description = *change.description;
    if (change.project)
        wanted.project_id =
            TRY(m_access.projects.find(caller, wanted.space_id, *change.project, Permission::automation_write)).id;
    if (change.preset) {
        const run::Preset preset = TRY(m_presets.find(caller, wanted.space_id, *change.preset));
        TRY(run::require_capability(*preset.settings.provider, run::capability::automations));
        wanted.preset_id = preset.id;
    }
    if (change.prompt) wanted.prompt = *change.prompt;
    if (change.trigger) wanted.trigger = *change.trigger;
    if (change.overlap) wanted.overlap = *change.overlap;
    if (change.catch_up) wanted.catch_up = *change.catch_up;
    if (change.cool_off_seconds) wanted.cool_off_seconds = *change.cool_off_seconds;
    if (change.budget) wanted.budget = *change.budget;
    if (change.failure_limit) wanted.failure_limit = *change.failure_limit;
    if (change.paused && *change.paused != wanted.paused) {
        wanted.paused = *change.paused;
        wanted.pause_reason = wanted.paused ? "paused by " + caller.name : "";
        wanted.failure_streak = 0;
    }
    TRY(check(caller, wanted));
    return saved(caller, std::move(wanted), "automation_update", {}, rows.front().integer(0), change.hook_secret);
}

Result<> Automations::remove(const Caller& caller, const Automation& automation) {
    if (automation.managed_by) return managed_error(automation);
    TRY(find(caller, automation.space_id, automation.id.text(), Permission::automation_write));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        if (TRY(transaction.execute("DELETE FROM automations WHERE id = ?", automation.id)) == 0)
            return not_found("automation " + automation.name);
        return m_access.audit.record(
            transaction, caller,
            {"automation_delete", automation.space_id, automation.id.text(), {{"name", automation.name}}});
    }));
    return {};
}

Result<Automation> Automations::pause(const Caller& caller, const Automation& automation, const std::string& reason) {
    TRY(find(caller, automation.space_id, automation.id.text(), Permission::automation_write));
    const std::string given(trim(reason));
    if (given.size() > longest_reason || !is_valid_utf8(given)) return invalid("reason is longer than 500 bytes");
    const std::string why = given.empty() ? "paused by " + caller.name : given;
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute(
            "UPDATE automations SET paused = 1, pause_reason = ?, revision = revision + 1, updated_at = ? WHERE id = ?",
            why, m_clock.now(), automation.id));
        return m_access.audit.record(
            transaction, caller, {"automation_pause", automation.space_id, automation.id.text(), {{"reason", why}}});
    }));
    return find(Caller::system(), {}, automation.id.text());
}

Result<Automation> Automations::resume(const Caller& caller, const Automation& automation) {
    TRY(find(caller, automation.space_id, automation.id.text(), Permission::automation_write));
    const Time now = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        // next_at stays: scheduled times of the pause that have no slot yet still get one.
        TRY(transaction.execute("UPDATE automations SET paused = 0, pause_reason = '', failure_streak = 0, revision = "
                                "revision + 1, updated_at = ? WHERE id = ?",
                                now, automation.id));
        return m_access.audit.record(transaction, caller,
                                     {"automation_resume", automation.space_id, automation.id.text(), {}});
    }));
    changed();
    return find(Caller::system(), {}, automation.id.text());
}

Result<Slot> Automations::run_now(const Caller& caller, const Automation& automation,
                                  const std::optional<std::string>& key) {
    TRY(find(caller, automation.space_id, automation.id.text(), Permission::automation_write));
    TRY(m_access.projects.find(caller, automation.space_id, automation.project_id.text(), Permission::run_start));
    if (automation.managed_by) return managed_error(automation);
    const std::string due_key = "manual " + key.value_or(make_ulid(m_clock.now()));
    return add_slot(automation, due_key, {{"type", "manual"}, {"by", caller.name}}, true, {});
}

Result<Page<Slot>> Automations::slots(const Automation& automation, const std::optional<SlotOutcome>& outcome,
                                      const PageRequest& page) const {
    const std::string after = TRY(page.after());
    std::string sql = select_slot() + " WHERE s.automation_id = ?";
    std::vector<sql::Value> values{sql::to_value(automation.id)};
    if (!after.empty()) sql += " AND s.id < ?", values.push_back(sql::to_value(after));
    if (outcome) sql += " AND s.outcome = ?", values.push_back(sql::to_value(name_of(*outcome)));
    sql += " ORDER BY s.id DESC LIMIT ?";
    values.push_back(sql::to_value(page.limit + 1));
    std::vector<Slot> slots;
    for (const auto& row : TRY(m_database.run_query(sql, values))) slots.push_back(slot_of(row));
    return access::make_page(std::move(slots), page, [](const Slot& slot) { return slot.id.text(); });
}

Result<Slot> Automations::slot(const SlotId& id) const {
    const auto rows = TRY(m_database.query(select_slot() + " WHERE s.id = ?", id));
    if (rows.empty()) return not_found("slot " + id.text());
    return slot_of(rows.front());
}

Result<Slot> Automations::add_slot(const Automation& automation, const std::string& key, const json::Object& values,
                                   bool by_hand, const std::optional<std::string>& prompt) {
    NewSlot wanted{.automation = automation.id,
                   .key = key,
                   .due_at = m_clock.now(),
                   .values = values,
                   .prompt = prompt,
                   .by_hand = by_hand};
    const auto made = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<std::optional<SlotId>> {
        return insert_slot(transaction, m_clock, wanted);
    }));
    changed();
    if (made) return slot(*made);
    const auto rows =
        TRY(m_database.query(select_slot() + " WHERE s.automation_id = ? AND s.due_key = ?", automation.id, key));
    if (rows.empty()) return not_found("automation " + automation.name);
    return slot_of(rows.front());
}

Result<int64_t> Automations::monitor_triggered(const std::string& monitor, const std::string& transition,
                                               const json::Object& values) {
    json::Object data = values;
    data["type"] = "monitor";
    data["monitor"] = monitor;
    const Time now = m_clock.now();
    const int64_t made = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<int64_t> {
        int64_t count = 0;
        const auto rows = TRY(transaction.query(
            "SELECT id FROM automations WHERE monitor_id = ? AND trigger_type = 'monitor' ORDER BY id", monitor));
        for (const auto& row : rows) {
            NewSlot slot{
                .automation = row.id<AutomationTag>(0), .key = "monitor " + transition, .due_at = now, .values = data};
            if (TRY(insert_slot(transaction, m_clock, slot))) ++count;
        }
        return count;
    }));
    if (made > 0) changed();
    return made;
}

Result<Automation> Automations::manage(const Caller& caller, const ManagedAutomation& wanted) {
    const auto rows =
        TRY(m_database.query("SELECT id, revision, settings FROM automations WHERE project_id = ? AND managed_by = ?",
                             wanted.project, wanted.manager));
    TRY(run::validate(wanted.settings));
    const auto project = TRY(m_access.projects.find(caller, {}, wanted.project.text(), Permission::automation_write));
    Automation automation;
    automation.space_id = project.space_id;
    automation.id = rows.empty() ? make_id<AutomationTag>(m_clock) : rows.front().id<AutomationTag>(0);
    if (!rows.empty()) automation = TRY(find(Caller::system(), {}, automation.id.text()));
    automation.project_id = wanted.project;
    automation.name = wanted.name;
    automation.description = wanted.description;
    automation.managed_by = wanted.manager;
    automation.trigger = Trigger{};
    automation.trigger.type = TriggerType::managed;
    automation.overlap = wanted.overlap;
    automation.budget = wanted.budget;
    TRY(check(caller, automation));
    return saved(caller, std::move(automation), rows.empty() ? "automation_create" : "automation_update",
                 wanted.settings, rows.empty() ? 0 : rows.front().integer(1));
}

Result<Slot> Automations::fire(const AutomationId& id, const std::string& key, const std::string& prompt,
                               const json::Object& values) {
    const Automation automation = TRY(find(Caller::system(), {}, id.text()));
    TRY(run::check_prompt("prompt", prompt));
    json::Object data = values;
    if (!data.contains("type")) data["type"] = automation.managed_by.value_or("managed");
    return add_slot(automation, "fired " + key, data, false, prompt);
}

Result<std::optional<Automations::Managed>> Automations::find_managed(const access::ProjectId& project,
                                                                      const std::string& manager) const {
    const auto rows = TRY(m_database.query(
        "SELECT id, paused, pause_reason FROM automations WHERE project_id = ? AND managed_by = ?", project, manager));
    if (rows.empty()) return std::optional<Managed>();
    const sql::Row row = rows.front();
    return std::optional(Managed{row.id<AutomationTag>(0), row.flag(1), row.text(2)});
}

Result<> Automations::set_outcome(const SlotId& id, SlotOutcome outcome, SlotReason reason, const std::string& note,
                                  const json::Object& values) {
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute(
            "UPDATE automation_slots SET outcome = ?, reason = ?, note = ?, acted_at = ? WHERE id = ?",
            name_of(outcome), name_of(reason), std::string(truncate_utf8(note, 1000)), m_clock.now(), id));
        if (!values.empty())
            TRY(transaction.execute("UPDATE automation_slots SET trigger_values = ? WHERE id = ?",
                                    json::print(json::Value(values)), id));
        return {};
    });
}

Result<> Automations::set_fired(sql::Transaction& transaction, const SlotId& id, const AutomationId& automation,
                                const run::RunId& run) const {
    const Time now = m_clock.now();
    TRY(transaction.execute("UPDATE automation_slots SET outcome = 'fired', run_id = ?, is_open = 1, acted_at = ? "
                            "WHERE id = ?",
                            run, now, id));
    TRY(transaction.execute("UPDATE automations SET last_fired_at = ? WHERE id = ?", now, automation));
    return {};
}

Result<> Automations::fail_interrupted(const std::string& manager, Time created_before, const std::string& note) {
    TRY(m_database.execute(
        "UPDATE automation_slots SET outcome = 'failed', reason = 'interrupted', note = ?, acted_at = ? WHERE outcome "
        "= 'due' AND is_open = 0 AND created_at < ? AND automation_id IN (SELECT id FROM automations WHERE managed_by "
        "= ?)",
        note, m_clock.now(), created_before, manager));
    return {};
}

} // namespace hone::automation
