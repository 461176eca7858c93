// The scheduler: writes a row into the ledger for every moment at which an automation is due, acts on rows that are
// still due, and notes how their runs ended. `step` is all of it and what tests call; the thread only calls it when
// something is due or it is woken. Several servers on one database step side by side: each change is one
// transaction that only one of them wins. Thread-safe.
#pragma once

#include "automation/firing.h"
#include "automation/metric.h"
#include "base/duty.h"

namespace hone::automation {

struct SchedulerState {
    std::optional<Time> last_step;
    double behind_seconds = 0;
    int64_t due_slots = 0;
    int64_t live_slots = 0;
    int64_t automations = 0;
    int64_t paused = 0;
    std::optional<Time> next_at;
    int64_t steps = 0;
    int64_t failed_steps = 0;
    std::string last_error;
    static constexpr Pack fields{
        Field{"last_step", &SchedulerState::last_step, "Time of the last step of this server's scheduler."},
        Field{"behind_seconds", &SchedulerState::behind_seconds, "Delay of the most overdue automation."},
        Field{"due_slots", &SchedulerState::due_slots, "Slots without an outcome."},
        Field{"live_slots", &SchedulerState::live_slots, "Fired slots whose run is active."},
        Field{"automations", &SchedulerState::automations, "Number of automations."},
        Field{"paused", &SchedulerState::paused, "Number of paused automations."},
        Field{"next_at", &SchedulerState::next_at, "The next scheduled time of any automation."},
        Field{"steps", &SchedulerState::steps, "Steps since the server started."},
        Field{"failed_steps", &SchedulerState::failed_steps, "Steps with an error."},
        Field{"last_error", &SchedulerState::last_error, "The last error."},
    };
};

struct SchedulerOptions {
    // Moments that are later than this were missed: the catch-up policy decides about them.
    Duration on_time = std::chrono::seconds(10);
    // While runs are active or slots wait: how often their state is checked.
    Duration watch_runs = std::chrono::seconds(2);
    // Other servers change the plan too, and clocks jump.
    Duration longest_sleep = std::chrono::seconds(60);
    Duration keep_slots = std::chrono::hours(24 * 90);
    int64_t most_slots = 20'000; // of one automation; the oldest go first
};

class Scheduler {
public:
    Scheduler(sql::Database& database, const Clock& clock, Firing& firing, secret::MasterKeys& keys, Measure measure,
              SchedulerOptions options = {})
        : m_database(database),
          m_clock(clock),
          m_firing(firing),
          m_keys(keys),
          m_measure(std::move(measure)),
          m_options(options),
          m_duty({"scheduler", options.watch_runs}, [this] { return step_now(); }) {}

    // Everything that is due at `now`; returns when to step again at the latest.
    Result<Time> step(Time now);
    void start() { m_duty.start(); }
    // Something changed: step soon. Any thread.
    void wake() { m_duty.wake(); }
    Result<SchedulerState> state() const;

private:
    Result<Duration> step_now();
    Result<> write_due(Time now, bool metrics);
    Result<> write_cron(const sql::Row& row, Time now);
    Result<> evaluate_metric(const sql::Row& row, Time now);
    Result<> act_on_due();
    Result<> tidy(Time now);
    Result<Time> next_step(Time now) const;

    sql::Database& m_database;
    const Clock& m_clock;
    Firing& m_firing;
    secret::MasterKeys& m_keys;
    const Measure m_measure;
    const SchedulerOptions m_options;
    mutable Mutex m_mutex;
    SchedulerState m_state GUARDED_BY(m_mutex);
    std::optional<Time> m_tidied;
    Duty m_duty; // last: its thread uses what stands above
};

} // namespace hone::automation
