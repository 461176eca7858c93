// Automations for people, the API and other parts of Hone: create, change, pause, run now, list the slots; deliver a
// webhook, report a monitor's transition, fire an automation that Hone manages itself. Everything here writes rows; the
// Scheduler acts on them. Thread-safe.
#pragma once

#include "access/access.h"
#include "automation/hook_signature.h"
#include "base/mutex.h"
#include "run/settings/presets.h"
#include "secret/master_keys.h"

#include <functional>
#include <map>
#include <span>

namespace hone::automation {

struct AutomationFilter {
    std::optional<std::string> project{}; // id or name
    std::optional<TriggerType> trigger{};
};

// What a delivery led to: a slot, or nothing to run.
struct Received {
    std::optional<Slot> slot{};
    std::optional<std::string> challenge{}; // to be sent back as it is
};

// An automation that a part of Hone (its manager) keeps for itself; one per project and manager.
struct ManagedAutomation {
    std::string manager; // "signal"
    std::string name;
    std::string description{};
    access::ProjectId project;
    run::Settings settings; // of its workers
    DayBudget budget{};
    Overlap overlap = Overlap::queue;
};

// Knows when a manager acts next in a project. Implemented by the manager, because it keeps the schedule.
class ManagerSchedule {
public:
    virtual ~ManagerSchedule() = default;
    virtual Result<std::map<access::ProjectId, Time>> next_at(std::span<const access::ProjectId> projects) const = 0;
};

class Automations {
public:
    Automations(sql::Database& database, const Clock& clock, access::Access& access, run::Presets& presets,
                secret::MasterKeys& keys)
        : m_database(database),
          m_clock(clock),
          m_access(access),
          m_presets(presets),
          m_keys(keys) {}
    // Called after a slot became due or a schedule changed. Once, before requests come.
    void set_on_change(std::function<void()> on_change) { m_on_change = std::move(on_change); }
    // Before requests come; `remove_manager` before the schedule is destroyed.
    void set_manager(const std::string& manager, const ManagerSchedule& schedule) {
        const Lock lock(m_managers_mutex);
        m_managers[manager] = &schedule;
    }
    void remove_manager(const std::string& manager) {
        const Lock lock(m_managers_mutex);
        m_managers.erase(manager);
    }

    // Oldest first.
    Result<access::Page<Automation>> list(const access::Caller& caller, const access::SpaceId& space,
                                          const AutomationFilter& filter, const access::PageRequest& page) const;
    // By id, or by name within `space`.
    Result<Automation> find(const access::Caller& caller, const std::optional<access::SpaceId>& space,
                            std::string_view id_or_name,
                            access::Permission permission = access::Permission::automation_read) const;
    Result<Automation> create(const access::Caller& caller, const access::SpaceId& space, const NewAutomation& wanted);
    // Absent fields stay. From now on its runs have the rights of the caller, who is responsible for its prompt.
    Result<Automation> update(const access::Caller& caller, const Automation& automation,
                              const AutomationChange& change);
    // Its runs stay.
    Result<> remove(const access::Caller& caller, const Automation& automation);
    Result<Automation> pause(const access::Caller& caller, const Automation& automation, const std::string& reason);
    // Starts with the next scheduled time: those of the pause are not caught up. Resets the count of failures.
    Result<Automation> resume(const access::Caller& caller, const Automation& automation);
    // Due immediately, regardless of its trigger, pause and cool-off. The same `key` is the same slot.
    Result<Slot> run_now(const access::Caller& caller, const Automation& automation,
                         const std::optional<std::string>& key = {});
    // A new secret for its webhook; the old one stops working. Only this response contains it.
    Result<Automation> rotate_secret(const access::Caller& caller, const Automation& automation);

    // Newest first.
    Result<access::Page<Slot>> slots(const Automation& automation, const std::optional<SlotOutcome>& outcome,
                                     const access::PageRequest& page) const;
    Result<Slot> slot(const SlotId& id) const;

    // --- triggers ---------------------------------------------------------------------------------------------------
    // Unauthorized both for a wrong signature and for an automation without a webhook. A repeated delivery returns the
    // slot that the first one made. A sender's test (a ping, a challenge) makes none.
    Result<Received> deliver(const AutomationId& id, const Delivery& delivery);
    // A monitor went to triggered. `transition` identifies that change: reported twice, it is one slot. `values` are
    // data; prompts may use the numbers `value` and `threshold` and the times in `window`. Returns the number of slots.
    Result<int64_t> monitor_triggered(const std::string& monitor, const std::string& transition,
                                      const json::Object& values);

    // --- for managers: parts of Hone that start runs of their own ---------------------------------------------------
    // Creates or updates it. Its runs have the rights of `caller`, who needs automation_write.
    Result<Automation> manage(const access::Caller& caller, const ManagedAutomation& wanted);
    struct Managed {
        AutomationId id;
        bool paused = false;
        std::string pause_reason;
    };
    Result<std::optional<Managed>> find_managed(const access::ProjectId& project, const std::string& manager) const;
    // One firing: under its overlap policy and its budget, with a slot. Fired twice with one key, it is one slot.
    // `prompt` is used unchanged; text from outside belongs into `values`.
    Result<Slot> fire(const AutomationId& id, const std::string& key, const std::string& prompt,
                      const json::Object& values);
    // Outcomes of slots that the manager acts on itself (`is_watched` off). Empty values leave those of the slot.
    Result<> set_outcome(const SlotId& id, SlotOutcome outcome, SlotReason reason, const std::string& note,
                         const json::Object& values);
    // In the transaction that writes the run: from then on the scheduler follows the slot and notes how the run ended.
    Result<> set_fired(sql::Transaction& transaction, const SlotId& id, const AutomationId& automation,
                       const run::RunId& run) const;
    // Due slots of the manager from before `created_before`: their server stopped in the middle.
    Result<> fail_interrupted(const std::string& manager, Time created_before, const std::string& note);

private:
    friend class Scheduler;
    friend class Firing;
    Result<> check(const access::Caller& caller, Automation& automation) const;
    // `hook_secret`: one that the sender of a webhook made.
    Result<Automation> saved(const access::Caller& caller, Automation automation, std::string_view action,
                             const std::optional<run::Settings>& settings, int64_t revision,
                             const std::optional<std::string>& hook_secret = {});
    Result<std::optional<std::string>> save_hook(sql::Transaction& transaction, const Automation& automation,
                                                 const std::optional<std::string>& given, bool is_new_source) const;
    Result<> seal_hook(sql::Transaction& transaction, const AutomationId& id, std::string_view secret) const;
    Result<Slot> add_slot(const Automation& automation, const std::string& key, const json::Object& values,
                          bool by_hand, const std::optional<std::string>& prompt);
    // Fills in what other folders know: names, spending of today, the next moment of managed ones.
    Result<> add_facts(std::span<Automation> automations) const;
    void changed() const {
        if (m_on_change) m_on_change();
    }

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    run::Presets& m_presets;
    secret::MasterKeys& m_keys;
    std::function<void()> m_on_change;
    mutable Mutex m_managers_mutex; // held while a schedule is read, so that it is not destroyed meanwhile
    std::map<std::string, const ManagerSchedule*> m_managers GUARDED_BY(m_managers_mutex);
};

// --- rows, shared with the scheduler --------------------------------------------------------------------------------

// "SELECT … FROM automations a …", to be followed by a condition.
std::string select_automation();
Result<Automation> automation_of(const sql::Row& row);
// "SELECT … FROM automation_slots s", to be followed by a condition.
std::string select_slot();
Slot slot_of(const sql::Row& row, size_t first = 0);

// Automations that have a day budget; for notices.
struct BudgetedAutomation {
    AutomationId id;
    access::SpaceId space_id;
    access::ProjectId project_id;
    std::string name;
    DayBudget budget;
};
Result<std::vector<BudgetedAutomation>> automations_with_budget(sql::Database& database);

// A slot to insert.
struct NewSlot {
    AutomationId automation{};
    std::string key{};
    Time due_at{};
    SlotOutcome outcome = SlotOutcome::due;
    SlotReason reason = SlotReason::none;
    std::string note{};
    json::Object values{};
    std::optional<std::string> prompt{};
    bool by_hand = false;
    bool is_watched = true; // false: its writer acts on it, not the scheduler
};
// None when a slot with this key exists already.
Result<std::optional<SlotId>> insert_slot(sql::Transaction& transaction, const Clock& clock, const NewSlot& slot);

// When the scheduler must evaluate the trigger next; none for triggers that report by themselves.
std::optional<Time> next_evaluation(const Trigger& trigger, Time after);

} // namespace hone::automation
