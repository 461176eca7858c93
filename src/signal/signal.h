// Signal: scans projects on a schedule, keeps their issues up to date, and starts workers for the highest
// ranked ones. step() is what tests call; one thread calls it. Safe with several servers on one database: the server
// that moves the next scan time on makes the scan. Thread-safe.
#pragma once

#include "automation/automations.h"
#include "base/duty.h"
#include "base/metrics.h"
#include "notice/notices.h"
#include "review/artifacts.h"
#include "run/runs.h"
#include "signal/evaluators.h"
#include "signal/issues.h"
#include "signal/settings.h"
#include "telemetry/telemetry.h"

namespace hone::signal {

struct Parts {
    sql::Database& database;
    const Clock& clock;
    access::Access& access;
    run::Runs& runs;
    run::Presets& presets;
    review::Artifacts& artifacts;
    telemetry::Telemetry* telemetry = nullptr;      // null: nothing can be scanned
    notice::Notices* notices = nullptr;             // null: no notices
    automation::Automations* automations = nullptr; // null: there are no slots
};

// Makes a monitor from an issue; implemented by server/, because it knows both. Returns the monitor's id.
class MonitorMaker {
public:
    virtual ~MonitorMaker() = default;
    virtual Result<std::string> make_monitor(const access::Caller& caller, const Issue& issue) = 0;
};

// Opens an issue on a forge; implemented by server/, which knows repositories. Returns its address.
class ForgeIssues {
public:
    virtual ~ForgeIssues() = default;
    // `repo`: id, name or address of the space's repository.
    virtual Result<std::string> open_issue(const access::Caller& caller, const Issue& issue, const std::string& repo,
                                           const std::string& title, const std::string& body) = 0;
};

class Signal final : automation::ManagerSchedule {
public:
    struct Row; // a project's settings; signal_row.h
    explicit Signal(Parts parts);
    ~Signal() override;
    Signal(const Signal&) = delete;
    Signal& operator=(const Signal&) = delete;
    // Once, before requests come.
    void set_monitor_maker(MonitorMaker& maker) { m_monitor_maker = &maker; }
    void set_forge_issues(ForgeIssues& forge) { m_forge_issues = &forge; }
    void start() { m_duty.start(); }

    Result<SignalView> view(const access::Caller& caller, const access::SpaceId& space, const std::string& project);
    Result<SignalView> configure(const access::Caller& caller, const access::SpaceId& space, const std::string& project,
                                 const ConfigureSignal& wanted);
    // Newest first.
    Result<access::Page<Scan>> scans(const access::Caller& caller, const access::SpaceId& space,
                                     const std::string& project, const access::PageRequest& page) const;
    // Now, whether it is on or not; starts no workers.
    Result<Scan> scan_now(const access::Caller& caller, const access::SpaceId& space, const std::string& project);

    // Starts a worker with a model that reads sampled traces.
    Result<ReadingStarted> read_now(const access::Caller& caller, const access::SpaceId& space,
                                    const std::string& project);
    // By that worker: what it found. Entries that do not pass the checks are refused one by one.
    Result<ReadOutcome> take_report(const access::Caller& caller, const ReadReport& report);

    Result<Issue> investigate(const access::Caller& caller, const IssueId& id);
    Result<Issue> fix(const access::Caller& caller, const IssueId& id);
    Result<Issue> make_monitor(const access::Caller& caller, const IssueId& id);
    Result<Issue> make_evaluator(const access::Caller& caller, const IssueId& id);
    Result<ForgeIssueDraft> forge_issue_draft(const access::Caller& caller, const IssueId& id) const;
    // Opens an issue on the forge of a repository, or links one that is there. What is published is named: by the
    // request's own body, or by the digest of the draft.
    Result<Issue> link_forge_issue(const access::Caller& caller, const IssueId& id, const ForgeIssueRequest& wanted);
    Result<Issue> unlink_forge_issue(const access::Caller& caller, const IssueId& id);

    // Scans what is due, attaches what workers wrote. Returns how many scans it made.
    Result<int64_t> step();
    // One scan of one project, at the clock's time.
    Result<Scan> scan(const access::ProjectId& project, const std::string& asked_by, bool starts_workers);

    // Something may be due earlier than was planned.
    void wake() { m_duty.wake(); }

    // In Prometheus' text format.
    void metrics(MetricsWriter& out) const;

    Issues issues;
    Evaluators evaluators;

private:
    // automation::ManagerSchedule
    Result<std::map<access::ProjectId, Time>> next_at(std::span<const access::ProjectId> projects) const override;
    Result<> add_spending(std::span<Scan> scans) const;
    using Became = automation::SlotOutcome;
    using Reason = automation::SlotReason;
    Result<std::optional<Row>> row_of(const access::ProjectId& project) const;
    // Slots (ledger.cpp). Without automations there are none.
    Result<> keep_automation(const access::Caller& caller, const Row& row, bool is_switched);
    Result<> note_due(sql::Transaction& transaction, automation::NewSlot slot,
                      std::optional<automation::SlotId>& made) const;
    Result<std::optional<automation::SlotId>> note_due(automation::NewSlot slot) const;
    Result<> note_outcome(const std::optional<automation::SlotId>& slot, Became outcome, Reason reason,
                          const std::string& note, const json::Object& values = {}) const;
    Result<> fail_interrupted() const;
    struct Claim {
        bool is_won = false;
        std::optional<automation::SlotId> slot{};
    };
    Result<Claim> claim(const Row& row, Time due_at, Time now) const;
    Result<Scan> scan_for(const std::optional<automation::SlotId>& slot, const access::ProjectId& project,
                          const std::string& asked_by, bool starts_workers);
    Result<Findings> detect(const Row& row, Scan& scan);
    Result<> store(const Row& row, const Findings& findings, Scan& scan);
    Result<> write(const Scan& scan);
    Result<> notify(const IssueId& id) const;
    Result<int64_t> start_workers(const Row& row, const ScanId& scan);
    Result<bool> has_budget(const Row& row) const;
    Result<> note_skipped(const Row& row, const Issue& issue, Reason reason, const std::string& why) const;
    static std::string automation_of(const Row& row);
    struct Work {
        bool is_fix = false;
        std::optional<ScanId> scan{}; // that starts it; none: a person does
    };
    Result<run::RunId> start_worker(const access::Caller& caller, const Row& row, const Issue& issue, const Work& work);
    Result<run::RunId> start_run(const access::Caller& caller, const Row& row, const Issue& issue, const Work& work,
                                 const std::optional<automation::SlotId>& slot);
    Result<int64_t> follow_runs();
    static run::AutomationStart automation_start(const Row& row);
    // Readings (readings.cpp).
    struct ReadingSample {
        int64_t from_ns = 0, to_ns = 0;
        std::vector<std::string> traces{}, issues{};
        json::Array digests{}, candidates{};
    };
    Result<ReadingSample> choose_sample(const Row& row);
    Result<json::Value> reading_trigger(const Row& row, const ReadingSample& sample) const;
    Result<ReadingStarted> start_reading(const access::Caller& caller, const Row& row,
                                         const std::optional<ScanId>& scan);
    Result<> start_due_reading(const Row& row, const ScanId& scan);
    Result<> follow_readings();
    Result<std::optional<IssueId>> native_issue(const access::Project& project, const ReadFinding& finding) const;
    Result<std::optional<IssueId>> issue_of_sightings(const access::Project& project, const std::string& fingerprint,
                                                      ReadKind kind, const std::string& place);
    Result<std::optional<ReadingTotals>> reading_totals(const access::ProjectId& project) const;
    bool holds_nothing_new(const access::ProjectId& project);
    Result<Duration> step_now();
    Result<Duration> until_next() const;

    const Parts m_parts;
    MonitorMaker* m_monitor_maker = nullptr;
    ForgeIssues* m_forge_issues = nullptr;
    mutable Mutex m_mutex;
    std::map<std::string, int64_t> m_stored GUARDED_BY(m_mutex); // spans at the last scan, by project
    int64_t m_scans GUARDED_BY(m_mutex) = 0;
    int64_t m_failed_scans GUARDED_BY(m_mutex) = 0;
    int64_t m_last_ms GUARDED_BY(m_mutex) = 0;
    Duty m_duty; // the last member: its thread ends before what it uses is destroyed
};

} // namespace hone::signal
