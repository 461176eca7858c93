// The slots of Signal (declared in signal.h): every scan and every worker is a slot of an automation that Signal
// manages, one per project. The slot is written before the scan or the worker starts.
#include "signal/signal.h"

#include "base/log.h"
#include "base/text.h"
#include "signal/signal_row.h"

#include <fmt/format.h>

namespace hone::signal {

using access::Caller;

namespace {

// After this long the server of a due slot has stopped: no scan takes so long.
constexpr auto stale_after = std::chrono::minutes(30);

} // namespace

// Creates or updates the automation. Switching Signal on or off resumes or pauses it.
Result<> Signal::keep_automation(const Caller& caller, const Row& row, bool is_switched) {
    if (m_parts.automations == nullptr) return {};
    if (!row.automation && !row.enabled) return {};
    automation::ManagedAutomation wanted;
    wanted.manager = manager;
    wanted.name = std::string(truncate_utf8("Signal: " + row.project_name, 90));
    wanted.description = "Scans the project's traces for problems and starts workers that investigate them. While it "
                         "is paused it scans without starting workers. Switch it off in the project's Signal tab.";
    wanted.project = row.project;
    wanted.settings.harness = "playbook";
    wanted.settings.command = std::vector<std::string>{"investigate_issue"};
    wanted.budget.tokens_per_day = row.settings.tokens_per_day;
    wanted.budget.cost_micro_usd_per_day = row.settings.cost_micro_usd_per_day;
    wanted.overlap = automation::Overlap::parallel;
    auto kept = m_parts.automations->manage(caller, wanted);
    if (!kept.ok() && kept.error().code == Code::conflict) {
        const auto now = TRY(row_of(row.project));
        if (!row.automation && now && now->automation) return {}; // another server created it at the same time
        // Another automation of the space has that name.
        wanted.name += " " + row.project.text().substr(row.project.text().size() - 6);
        kept = m_parts.automations->manage(caller, wanted);
    }
    const automation::Automation automation = TRY(std::move(kept));
    if (is_switched && row.enabled && automation.paused) TRY(m_parts.automations->resume(caller, automation));
    if (is_switched && !row.enabled) TRY(m_parts.automations->pause(caller, automation, "Signal is off"));
    return {};
}

Result<> Signal::note_due(sql::Transaction& transaction, automation::NewSlot slot,
                          std::optional<automation::SlotId>& made) const {
    slot.is_watched = false;
    made = TRY(automation::insert_slot(transaction, m_parts.clock, slot));
    return {};
}

Result<std::optional<automation::SlotId>> Signal::note_due(automation::NewSlot slot) const {
    std::optional<automation::SlotId> made;
    TRY(m_parts.database.write([&](sql::Transaction& transaction) { return note_due(transaction, slot, made); }));
    return made;
}

Result<> Signal::note_outcome(const std::optional<automation::SlotId>& slot, Became outcome, Reason reason,
                              const std::string& note, const json::Object& values) const {
    if (!slot || m_parts.automations == nullptr) return {};
    return m_parts.automations->set_outcome(*slot, outcome, reason, note, values);
}

// Slots of a server that stopped in the middle. The next scan covers their time.
Result<> Signal::fail_interrupted() const {
    if (m_parts.automations == nullptr) return {};
    return m_parts.automations->fail_interrupted(std::string(manager), m_parts.clock.now() - stale_after,
                                                 "the server stopped during the scan; the next scan covers its time");
}

// The server that moves `next_scan_at` on makes the scan; its slot is written in the same transaction.
Result<Signal::Claim> Signal::claim(const Row& row, Time due_at, Time now) const {
    const Duration cadence = std::chrono::minutes(*row.settings.cadence_minutes);
    return m_parts.database.write([&](sql::Transaction& transaction) -> Result<Claim> {
        Claim claim;
        const int64_t moved = TRY(transaction.execute(
            "UPDATE signal_settings SET next_scan_at = ? WHERE project_id = ? AND enabled = 1 AND next_scan_at = ?",
            now + cadence, row.project, due_at));
        if (moved == 0) return claim;
        claim.is_won = true;
        if (!row.automation) return claim;
        if (const int64_t missed = (now - due_at) / cadence; missed > 0) {
            std::optional<automation::SlotId> made;
            TRY(note_due(transaction,
                         {.automation = *row.automation,
                          .key = "scans missed " + to_text(due_at),
                          .due_at = due_at,
                          .outcome = Became::skipped,
                          .reason = Reason::coalesced,
                          .note = fmt::format("{} scans were missed; the next scan covers their time", missed),
                          .values = {{"type", "scan"}, {"missed", missed}}},
                         made));
        }
        TRY(note_due(transaction,
                     {.automation = *row.automation,
                      .key = "scan " + to_text(due_at),
                      .due_at = due_at,
                      .values = {{"type", "scan"}}},
                     claim.slot));
        return claim;
    });
}

} // namespace hone::signal
