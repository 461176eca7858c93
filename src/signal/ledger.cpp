// What was due and what became of it (declared in signal.h): every look and every worker is a row in the ledger of an
// automation that Signal manages, one per project, before anything happens.
#include "signal/signal.h"

#include "base/log.h"
#include "base/text.h"
#include "signal/signal_row.h"

#include <fmt/format.h>

namespace hone::signal {

using access::Caller;

namespace {

constexpr std::string_view manager = "signal";
// A row whose server is gone; nothing that is written down here takes this long.
constexpr auto stale_after = std::chrono::minutes(30);

} // namespace

// Brings the automation up to date. Switching Signal on or off resumes or pauses it.
Result<> Signal::keep_automation(const Caller& caller, const Row& row, bool is_switched) {
    if (m_parts.automations == nullptr) return {};
    if (!row.automation && !row.enabled) return {};
    automation::ManagedAutomation wanted;
    wanted.manager = manager;
    wanted.name = std::string(truncate_utf8("Signal: " + row.project_name, 90));
    wanted.description = "Looks for problems and lets workers investigate them. Paused, it looks without workers; "
                         "switch it off in the project's Signal tab.";
    wanted.project = row.project;
    wanted.settings.harness = "playbook";
    wanted.settings.command = std::vector<std::string>{"investigate_issue"};
    wanted.budget.tokens_per_day = row.settings.tokens_per_day;
    wanted.budget.cost_micro_usd_per_day = row.settings.cost_micro_usd_per_day;
    wanted.overlap = automation::Overlap::parallel;
    auto kept = m_parts.automations->manage(caller, wanted);
    if (!kept.ok() && kept.error().code == Code::conflict) {
        const auto now = TRY(row_of(row.project));
        if (!row.automation && now && now->automation) return {}; // another server made it meanwhile
        // Somebody's automation has that name.
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
    if (!slot) return {};
    const std::string shown(truncate_utf8(note, 1000));
    TRY(m_parts.database.execute(
        "UPDATE automation_slots SET outcome = ?, reason = ?, note = ?, acted_at = ? WHERE id = ?", name_of(outcome),
        name_of(reason), shown, m_parts.clock.now(), *slot));
    if (!values.empty())
        TRY(m_parts.database.execute("UPDATE automation_slots SET trigger_values = ? WHERE id = ?",
                                     json::print(json::Value(values)), *slot));
    return {};
}

// Rows of a server that was ended in the middle. The next look covers their time.
Result<> Signal::give_up_stale() const {
    const Time now = m_parts.clock.now();
    TRY(m_parts.database.execute(
        "UPDATE automation_slots SET outcome = 'failed', reason = 'interrupted', note = ?, acted_at = ? WHERE outcome "
        "= 'due' AND is_open = 0 AND created_at < ? AND automation_id IN (SELECT id FROM automations WHERE managed_by "
        "= ?)",
        "the server ended meanwhile; the next look covers it", now, now - stale_after, manager));
    return {};
}

// Whoever moves the moment on makes the scan; its row is written in the same transaction.
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
                          .note = fmt::format("{} looks were missed; the one after them covers their time", missed),
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
