// What model calls used, durably: one row per call in `model_usage`. Rows are written by one thread of its own, many
// per transaction, so that a call never waits for the disk; the reports read the same table. Thread-safe.
#pragma once

#include "access/caller.h"
#include "base/mutex.h"
#include "broker/spending/usage.h"
#include "sql/sql.h"

#include <atomic>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace hone::broker {

// Tokens and money. The tokens include those that are only estimated, since a budget must not be bypassed by responses
// that end early; reports keep the two apart.
struct Spending {
    int64_t tokens = 0;
    int64_t cost_nano_usd = 0;
    friend bool operator==(const Spending&, const Spending&) = default;
};

// One model call that is over.
struct UsageRow {
    std::string id; // call_…
    std::string space_id;
    std::string project_id;
    std::string run_id;
    std::string automation_id; // empty: none
    std::string day;           // "2026-11-15", UTC, when the call was let through
    Time started{};
    Duration took{};
    ModelApi api = ModelApi::messages;
    std::string model;
    int status = 0; // HTTP; 0: no response
    telemetry::Tokens tokens;
    int64_t estimated_tokens = 0;
    std::optional<int64_t> cost_nano_usd; // nothing: the model has no price
    std::string price;                    // the line of the price table that made the cost, with its day
    bool complete = false;                // the provider's final numbers

    Spending spending() const { return {tokens.total() + estimated_tokens, cost_nano_usd.value_or(0)}; }
};

enum class UsageGroup { day, model, run, automation, project };
constexpr auto enum_names(UsageGroup) {
    return std::array{EnumName{UsageGroup::day, "day"}, EnumName{UsageGroup::model, "model"},
                      EnumName{UsageGroup::run, "run"}, EnumName{UsageGroup::automation, "automation"},
                      EnumName{UsageGroup::project, "project"}};
}

struct UsageQuery {
    std::string from_day, to_day; // both included
    UsageGroup group_by = UsageGroup::day;
    std::optional<std::string> run_id{};
    std::optional<std::string> model{};
    int64_t limit = 100; // the largest groups; days by date
};

struct UsageSum {
    std::string group;
    int64_t calls = 0;
    int64_t incomplete_calls = 0;
    int64_t failed_calls = 0;
    telemetry::Tokens tokens;
    int64_t estimated_tokens = 0;
    int64_t cost_nano_usd = 0;
    int64_t unpriced_calls = 0;
};

// "2026-11-15"
std::string day_of(Time time);

// What is on disk, for many automations in one call; those that spent nothing are left out.
Result<std::map<std::string, Spending>>
spent_by_automations(sql::Database& database, std::span<const std::string> automation_ids, const std::string& day);

class UsageLedger {
public:
    explicit UsageLedger(sql::Database& database);
    // Writes what is left.
    ~UsageLedger();
    UsageLedger(const UsageLedger&) = delete;
    UsageLedger& operator=(const UsageLedger&) = delete;

    // Never blocks on the disk. Rows wait in memory while the database is away, at most `most_waiting` of them.
    void record(UsageRow row);
    // Returns when everything recorded before is on disk.
    Result<> flush(Duration wait = std::chrono::seconds(10));

    Result<Spending> spent_by_run(const std::string& run_id) const;
    Result<Spending> spent_by_automation(const std::string& automation_id, const std::string& day) const;
    Result<Spending> spent_by_space(const std::string& space_id, const std::string& day) const;
    Result<std::vector<UsageSum>> report(const access::Caller& caller, const access::SpaceId& space,
                                         const UsageQuery& query) const;
    // Rows that could not be kept, since the start.
    int64_t lost() const { return m_lost; }

    static constexpr size_t most_waiting = 100'000;

private:
    void run();
    Result<> write(const std::vector<UsageRow>& rows);

    sql::Database& m_database;
    std::atomic<int64_t> m_lost{0};
    Mutex m_mutex;
    Condition m_changed;
    std::deque<UsageRow> m_waiting GUARDED_BY(m_mutex);
    size_t m_writing GUARDED_BY(m_mutex) = 0;
    bool m_stopping GUARDED_BY(m_mutex) = false;
    std::thread m_thread; // last: it uses everything above
};

} // namespace hone::broker
