// The monitors of all projects: stored, evaluated when due, their transitions reported. step() is what tests call; the
// thread only calls it. A due monitor is claimed before it is evaluated, so that of several servers on one database one
// does it, and its new state, its history and its notice are one transaction. Thread-safe.
#pragma once

#include "base/duty.h"
#include "monitor/evaluate.h"
#include "notice/notices.h"

#include <thread>

namespace hone::monitor {

// A monitor went to triggered.
struct Transition {
    MonitorEventId id; // the same when it is reported again
    access::SpaceId space;
    access::ProjectId project;
    MonitorId monitor;
    std::string name;
    Reading reading;
    int64_t window_seconds = 0;
    std::string filter;
};

// Receives each transition at least once, after it is stored; the id identifies repetitions.
class TransitionListener {
public:
    virtual ~TransitionListener() = default;
    virtual Result<> monitor_triggered(const Transition& transition) = 0;
};

struct MonitorFilter {
    std::optional<access::ProjectId> project{};
    std::optional<MonitorState> state{};
};

struct MuteRequest {
    std::optional<Time> until;
    std::optional<int64_t> seconds;
    std::optional<std::string> reason;
    static constexpr Pack fields{
        Field{"until", &MuteRequest::until, "End of the mute; give this or seconds."},
        Field{"seconds", &MuteRequest::seconds, "Length of the mute in seconds, up to 31,536,000."},
        Field{"reason", &MuteRequest::reason, "Reason of the mute."},
    };
};

class Monitors {
public:
    Monitors(sql::Database& database, const Clock& clock, access::Access& access, SeriesSource& source,
             notice::Notices& notices)
        : m_database(database),
          m_clock(clock),
          m_access(access),
          m_evaluator(source),
          m_notices(notices),
          m_duty({"monitors", evaluation_period}, [this]() -> Result<> {
              TRY(step());
              return {};
          }) {}
    Monitors(const Monitors&) = delete;
    Monitors& operator=(const Monitors&) = delete;

    Result<access::Page<Monitor>> list(const access::Caller& caller, const access::SpaceId& space,
                                       const MonitorFilter& filter, const access::PageRequest& page) const;
    Result<Monitor> find(const access::Caller& caller, const MonitorId& id,
                         access::Permission permission = access::Permission::monitor_read) const;
    Result<Monitor> create(const access::Caller& caller, const access::SpaceId& space, const NewMonitor& wanted);
    Result<Monitor> update(const access::Caller& caller, const MonitorId& id, const MonitorChange& change);
    Result<> remove(const access::Caller& caller, const MonitorId& id);
    Result<Monitor> mute(const access::Caller& caller, const MonitorId& id, const MuteRequest& wanted);
    Result<Monitor> unmute(const access::Caller& caller, const MonitorId& id);
    // Newest first.
    Result<access::Page<MonitorEvent>> history(const access::Caller& caller, const MonitorId& id,
                                               const access::PageRequest& page) const;
    Result<Chart> chart(const access::Caller& caller, const MonitorId& id, Time from, Time to) const;
    // Now, whenever it is due.
    Result<Monitor> evaluate(const access::Caller& caller, const MonitorId& id);
    // Unsaved settings on past data. Needs project_read.
    Result<Chart> preview(const access::Caller& caller, const access::SpaceId& space, const std::string& project,
                          const MonitorSettings& settings, Time from, Time to);

    // Evaluates what is due; returns how many. Also reports transitions that a crash interrupted.
    Result<int64_t> step();
    // Thins old values; called by a background duty.
    Result<> sweep();
    struct Counts {
        int64_t enabled = 0;
        int64_t triggered = 0; // of these
    };
    Result<Counts> counts() const;
    // Set once at start, before step().
    void set_listener(TransitionListener& listener) { m_listener = &listener; }

    void start() { m_duty.start(); }
    void wake() { m_duty.wake(); }

    static constexpr int64_t most_per_project = 200;
    static constexpr Duration evaluation_period = std::chrono::seconds(10);

private:
    struct Row {
        Monitor monitor;
        std::string transition_id;
        bool announced = false;
    };
    Result<> try_sql(const access::Caller& caller, const access::ProjectId& project, const MonitorSettings& settings);
    Result<Row> row_of(const std::string& id) const;
    struct Columns;
    static std::string select();
    static Row parse(const sql::Row& row, Time now);
    Result<> evaluate_claimed(const std::string& id, const std::string& token);
    Result<> take_in(const Row& row, const Reading& reading, const std::string& token);
    Result<> note_failure(const Row& row, const Error& error, const std::string& token);
    Result<> announce(const std::string& id);
    Result<> add_event(sql::Transaction& transaction, const MonitorEventId& event, const MonitorId& id,
                       MonitorEventKind kind, const Reading* reading, const std::string& note,
                       const std::string& by) const;
    Result<> add_notice(sql::Transaction& transaction, const Row& row, const Reading& reading, notice::Kind kind,
                        const std::string& key) const;
    Result<bool> claim(const std::string& id, const std::string& token, bool only_if_due);
    Time next_after(const MonitorSettings& settings, Time now) const;

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    Evaluator m_evaluator;
    notice::Notices& m_notices;
    TransitionListener* m_listener = nullptr;
    Duty m_duty; // last: its thread uses what stands above
};

} // namespace hone::monitor
