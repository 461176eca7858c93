// Automations as people, the API and other parts of Hone deal with them: make, change, pause, run now, look at the
// ledger; deliver a webhook, tell of a monitor's transition, fire one that Hone manages itself. Everything here writes
// rows; the Scheduler acts on them. Thread-safe.
#pragma once

#include "access/access.h"
#include "automation/automation.h"
#include "run/presets.h"
#include "secret/master_keys.h"

#include <functional>

namespace hone::automation {

struct AutomationFilter {
    std::optional<std::string> project{}; // id or name
    std::optional<TriggerType> trigger{};
};

// A delivery to a webhook, as it came.
struct Delivery {
    std::string id;        // X-Hone-Delivery
    std::string timestamp; // X-Hone-Timestamp: seconds since 1970
    std::string signature; // X-Hone-Signature: sha256=<hex of HMAC-SHA256 over "timestamp.id.body">
    std::string content_type;
    std::string_view body;
};
// How far the clocks of a sender and of this server may be apart.
constexpr Duration delivery_tolerance = std::chrono::minutes(5);
constexpr size_t largest_delivery = 256 << 10;
// What a sender puts into X-Hone-Signature.
std::string sign_delivery(std::string_view secret, std::string_view timestamp, std::string_view id,
                          std::string_view body);

// An automation that a part of Hone keeps for itself; one per project and manager.
struct ManagedAutomation {
    std::string manager; // "signal"
    std::string name;
    std::string description{};
    access::ProjectId project;
    run::Settings settings; // of its workers
    DayBudget budget{};
    Overlap overlap = Overlap::queue;
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
    // Called after something became due or the plan changed. Once, before requests come.
    void set_news(std::function<void()> news) { m_news = std::move(news); }

    // Oldest first.
    Result<access::Page<Automation>> list(const access::Caller& caller, const access::SpaceId& space,
                                          const AutomationFilter& filter, const access::PageRequest& page) const;
    // By id, or by name within `space`.
    Result<Automation> find(const access::Caller& caller, const std::optional<access::SpaceId>& space,
                            std::string_view id_or_name,
                            access::Permission permission = access::Permission::automation_read) const;
    Result<Automation> create(const access::Caller& caller, const access::SpaceId& space, const NewAutomation& wanted);
    // Absent parts stay. From now on its runs have the rights of the caller, whose words they carry out.
    Result<Automation> update(const access::Caller& caller, const Automation& automation,
                              const AutomationChange& change);
    // Its runs stay.
    Result<> remove(const access::Caller& caller, const Automation& automation);
    Result<Automation> pause(const access::Caller& caller, const Automation& automation, const std::string& reason);
    // Begins with the next moment: those of the pause are not caught up. Forgets the failures.
    Result<Automation> resume(const access::Caller& caller, const Automation& automation);
    // Due at once, whatever its trigger, pause and cool-off say. The same `key` is the same moment.
    Result<Slot> run_now(const access::Caller& caller, const Automation& automation,
                         const std::optional<std::string>& key = {});
    // A new secret for its webhook; the old one is no good any more. The answer shows it, once.
    Result<Automation> rotate_secret(const access::Caller& caller, const Automation& automation);

    // Newest first.
    Result<access::Page<Slot>> slots(const Automation& automation, const std::optional<SlotOutcome>& outcome,
                                     const access::PageRequest& page) const;
    Result<Slot> slot(const SlotId& id) const;

    // --- what triggers tell ------------------------------------------------------------------------------------------
    // Unauthorized for a wrong signature and for an automation that takes no webhooks alike. A delivery that came
    // before is the slot it made.
    Result<Slot> deliver(const AutomationId& id, const Delivery& delivery);
    // A monitor went to triggered. `transition` names that change: told twice, it is one slot. `values` are data; the
    // numbers `value` and `threshold` and the times in `window` may be used by prompts. Returns the number of slots.
    Result<int64_t> monitor_triggered(const std::string& monitor, const std::string& transition,
                                      const json::Object& values);

    // --- for parts of Hone that start runs of their own
    // --------------------------------------------------------------- Makes it or brings it up to date; `caller` is
    // whose rights its runs have and needs automation_write.
    Result<Automation> manage(const access::Caller& caller, const ManagedAutomation& wanted);
    // One firing: under its overlap policy, its budget, and with a row in its ledger. Fired twice with one key, it is
    // one slot. `prompt` is told as it is; what strangers wrote belongs into `values`.
    Result<Slot> fire(const AutomationId& id, const std::string& key, const std::string& prompt,
                      const json::Object& values);

private:
    friend class Scheduler;
    friend class Firing;
    Result<> check(const access::Caller& caller, Automation& automation) const;
    Result<Automation> saved(const access::Caller& caller, Automation automation, std::string_view action,
                             const std::optional<run::Settings>& settings, int64_t revision);
    Result<> seal_hook(sql::Transaction& transaction, const AutomationId& id, std::string& secret) const;
    Result<Slot> add_slot(const Automation& automation, const std::string& key, const json::Object& values,
                          bool by_hand, const std::optional<std::string>& prompt);
    void tell() const {
        if (m_news) m_news();
    }

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    run::Presets& m_presets;
    secret::MasterKeys& m_keys;
    std::function<void()> m_news;
};

// --- rows, shared with the scheduler
// ----------------------------------------------------------------------------------

// "SELECT … FROM automations a …", to be followed by a condition; the first value is the day (UTC) of `spent_today`.
std::string select_automation();
Result<Automation> automation_of(const sql::Row& row);
std::string_view slot_columns();
Slot slot_of(const sql::Row& row, size_t first = 0);

// One row of the ledger to be.
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
    bool is_watched = true; // false: who wrote it acts on it, not the scheduler
};
// None when a row with this key was there already.
Result<std::optional<SlotId>> insert_slot(sql::Transaction& transaction, const Clock& clock, const NewSlot& slot);

// When the scheduler must look at it next; none for triggers that tell by themselves.
std::optional<Time> next_look(const Trigger& trigger, Time after);

} // namespace hone::automation
