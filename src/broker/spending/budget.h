// Budgets of model calls: per run, per automation and day, per space and day. A call reserves the most that it can use
// before it leaves and settles with the provider's numbers when it is over. Thread-safe; `reserve` may wait.
//
// The promise: a call leaves only while what is settled plus what is reserved by calls in flight is below every limit.
// A reservation is never below what its call uses, so all calls together exceed a limit by less than one call, however
// many run in parallel. Several servers on one database share the limits of spaces and automations: budget_holds.h.
#pragma once

#include "access/access.h"
#include "broker/spending/model_call.h"
#include "broker/spending/usage_ledger.h"
#include "broker/wire/channel.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace hone::broker {

struct SpendingLimit {
    std::optional<int64_t> tokens{};
    std::optional<int64_t> cost_nano_usd{};
    int64_t soft_percent = 80; // from here on the worker gets a notice to finish
    friend bool operator==(const SpendingLimit&, const SpendingLimit&) = default;
};

// Who pays for a call. The space's own limit per day is in the database.
struct BudgetAccount {
    std::string space_id;
    std::string run_id;
    std::string automation_id; // empty: none
    SpendingLimit run;
    SpendingLimit automation_day;
};

enum class BudgetScope { run, automation, space };
constexpr auto enum_names(BudgetScope) {
    return std::array{EnumName{BudgetScope::run, "run"}, EnumName{BudgetScope::automation, "automation"},
                      EnumName{BudgetScope::space, "space"}};
}

enum class BudgetLevel {
    fine,
    soft,     // beyond the soft threshold: wrap up
    hard,     // used up: the call must not leave
    unpriced, // there is a cost limit and the model has no price: the call must not leave
};

// The most that a call can use.
struct CallEstimate {
    int64_t tokens = 0;
    int64_t cost_nano_usd = 0;
    bool is_priced = true; // false: the cost is not known
};

class Budgets;

// What a call was let through with. Gives its reservation back when it goes, unless it was settled.
class Reservation {
public:
    Reservation() = default;
    Reservation(Reservation&& other) noexcept;
    Reservation& operator=(Reservation&& other) noexcept;
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;
    ~Reservation();
    const std::string& day() const { return m_day; }

private:
    friend class Budgets;
    void release();
    Budgets* m_budgets = nullptr;
    std::string m_day;
    std::vector<std::string> m_keys;
    Spending m_estimate;
};

struct Admission {
    BudgetLevel level = BudgetLevel::fine;
    BudgetScope scope = BudgetScope::run; // the one that is nearest to its end
    int64_t percent = 0;                  // of that one, used
    std::string message;                  // for people: "the run's budget of 50000 tokens is used up"
    Reservation reservation;              // not for `hard` and `unpriced`
    Capture capture = Capture::full;      // the most that the space lets the call's span keep
};

// What a space lets its runs do with models, as the API has it. Money in micro-USD.
struct SpaceBudget {
    std::optional<int64_t> tokens_per_day;
    std::optional<int64_t> cost_micro_usd_per_day;
    int64_t soft_percent = 80;
    std::optional<Capture> capture; // always in responses; absent in a change: unchanged
    static constexpr Pack fields{
        Field{"tokens_per_day", &SpaceBudget::tokens_per_day,
              "Tokens of all model calls per day (UTC); null: no limit."},
        Field{"cost_micro_usd_per_day", &SpaceBudget::cost_micro_usd_per_day,
              "Cost of all model calls per day (UTC) in millionths of a US dollar; null: no limit. Models "
              "without a price are rejected under a cost limit."},
        Field{"soft_percent", &SpaceBudget::soft_percent,
              "From this percentage on, requests carry a notice to finish; 1 to 100."},
        Field{"capture", &SpaceBudget::capture,
              "The most that spans of model calls contain: full (messages, tools, responses), metadata (no text) or "
              "none (no spans). A preset can reduce it. Unchanged if not given."},
    };
};

// The day budgets of spaces, for those who have no Budgets. Absent row: no limit.
Result<SpaceBudget> read_space_budget(sql::Database& database, const access::SpaceId& space);
// Of all spaces that have a limit, by id.
Result<std::map<access::SpaceId, SpaceBudget>> limited_space_budgets(sql::Database& database);

class Budgets {
public:
    Budgets(sql::Database& database, UsageLedger& ledger, const access::AuditLog& audit, const Clock& clock)
        : m_database(database),
          m_ledger(ledger),
          m_audit(audit),
          m_clock(clock) {}
    Budgets(const Budgets&) = delete;
    Budgets& operator=(const Budgets&) = delete;

    // Waits while only the reservations of other calls are in the way. Errors: busy = that took longer than the
    // deadline, conflict = cancelled, and those of the database.
    Result<Admission> reserve(const BudgetAccount& account, const CallEstimate& estimate, const Cancel& cancel,
                              Deadline deadline);
    // The call is over: counts and records it. `row` gets the reservation's day.
    void settle(Reservation reservation, UsageRow row);
    // The run is over; its counters are dropped.
    void forget(const std::string& run_id);

    Result<SpaceBudget> space_budget(const access::Caller& caller, const access::SpaceId& space) const;
    Result<SpaceBudget> set_space_budget(const access::Caller& caller, const access::SpaceId& space,
                                         SpaceBudget budget);

    // How old a number that another server may have changed can be.
    static constexpr Duration refresh = std::chrono::seconds(5);

private:
    friend class Reservation;
    struct Counter {
        Spending settled;
        Spending reserved;
        std::string day; // empty: of a run
        Duration read_at{};
    };
    struct SpaceLimit {
        SpendingLimit limit;
        Capture capture = Capture::full;
        Duration read_at{};
    };
    // One limit that applies to a call.
    struct Line {
        BudgetScope scope;
        std::string key;
        std::string id;
        SpendingLimit limit;
    };

    static std::vector<Line> lines_of(const BudgetAccount& account, const std::string& day, const SpendingLimit& space);
    Result<> load(const Line& line, const std::string& day);
    Result<SpaceLimit> space_limit(const std::string& space_id);
    bool is_fresh(Duration read_at) const;
    void give_back(const std::vector<std::string>& keys, const Spending& estimate);
    void drop_old_days(const std::string& today) REQUIRES_LOCK(m_mutex);
    // What the counters say now; takes the reservation when the call may leave. None: wait.
    std::optional<Admission> admit(const std::vector<Line>& lines, const Spending& estimate) REQUIRES_LOCK(m_mutex);

    sql::Database& m_database;
    UsageLedger& m_ledger;
    const access::AuditLog& m_audit;
    const Clock& m_clock;
    Mutex m_mutex;
    Condition m_changed;
    int64_t m_settles GUARDED_BY(m_mutex) = 0;
    std::map<std::string, Counter> m_counters GUARDED_BY(m_mutex);
    std::map<std::string, SpaceLimit> m_space_limits GUARDED_BY(m_mutex);
};

} // namespace hone::broker
