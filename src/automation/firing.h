// Acts on one due slot: starts a run, or records the reason why there is none. The run and the slot's change are one
// transaction, so that a slot fires once, also with several servers and after a crash.
// Used by the Scheduler's thread; any thread.
#pragma once

#include "automation/automations.h"
#include "automation/prompt_template.h"
#include "broker/spending/usage_ledger.h"
#include "run/runs.h"

namespace hone::automation {

// An automation that paused itself; a notice is made of it.
struct PausedNotice {
    AutomationId automation;
    access::SpaceId space;
    access::ProjectId project;
    std::string name;
    std::string reason;
};

// How much may wait or run at the same time; beyond it slots are skipped for `capacity`.
struct Capacity {
    int64_t live_runs = 10;       // of one automation that runs in parallel
    int64_t waiting_slots = 20;   // of one automation that queues
    int64_t queued_in_space = 50; // runs of the whole space without a place
};

class Firing {
public:
    Firing(sql::Database& database, const Clock& clock, access::Access& access, run::Runs& runs,
           const broker::UsageLedger& ledger, Automations& automations)
        : m_database(database),
          m_clock(clock),
          m_access(access),
          m_runs(runs),
          m_ledger(ledger),
          m_automations(automations) {}

    // Acts on a slot that is due. It may still be due afterwards: the previous run is active, or the database is
    // unavailable.
    Result<> act(const SlotId& id);
    // For every fired slot whose run is over: records its outcome, counts failures, pauses after too many in a row.
    Result<> note_ended();

    // Called for automations that paused themselves. Set once, before the first step.
    void set_paused(std::function<void(const PausedNotice&)> paused) { m_paused = std::move(paused); }
    Capacity capacity{};

private:
    // Why there is no run.
    struct Verdict {
        SlotOutcome outcome = SlotOutcome::due;
        SlotReason reason = SlotReason::none;
        std::string note{};
    };
    struct Case; // a slot with everything that decides about it
    Result<Case> read(const SlotId& id) const;
    Result<std::optional<Verdict>> evaluate(const Case& one) const;
    Result<std::optional<Verdict>> evaluate_overlap(const Case& one) const;
    Result<std::optional<Verdict>> evaluate_budget(const Case& one) const;
    Result<> start(const Case& one);
    static run::StartRun wanted_run(const Case& one, const Values& values);
    static run::AutomationStart start_of(const Case& one, const Values& values);
    Result<> take_slot(sql::Transaction& transaction, const Case& one, const run::RunId& run) const;
    Result<access::Caller> owner_of(const Case& one) const;
    Result<> close(const Case& one, const Verdict& verdict);
    Result<> run_ended(const Slot& slot, run::State state, const std::string& reason);
    Result<std::optional<PausedNotice>> count_failure(sql::Transaction& transaction, const AutomationId& id,
                                                      const std::string& what) const;

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    run::Runs& m_runs;
    const broker::UsageLedger& m_ledger;
    Automations& m_automations;
    std::function<void(const PausedNotice&)> m_paused;
};

} // namespace hone::automation
