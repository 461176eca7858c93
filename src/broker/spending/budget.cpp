#include "broker/spending/budget.h"

#include "base/log.h"
#include "broker/spending/budget_holds.h"
#include "sql/columns.h"

#include <algorithm>

namespace hone::broker {

namespace {

// A cancelled run must not hold its thread: the wait checks this often.
constexpr Duration wait_slice = std::chrono::milliseconds(100);
constexpr int64_t nano_per_micro = 1000;
constexpr int load_attempts = 100;

constexpr Pack budget_columns{
    sql::Column{"tokens_per_day", &SpaceBudget::tokens_per_day},
    sql::Column{"cost_micro_usd_per_day", &SpaceBudget::cost_micro_usd_per_day},
    sql::Column{"soft_percent", &SpaceBudget::soft_percent},
    sql::Column{"capture", &SpaceBudget::capture},
};
const std::string select_budgets = "SELECT " + sql::names(budget_columns) + ", space_id FROM space_budgets";
const std::string select_budget = select_budgets + " WHERE space_id = ?";

SpaceBudget budget_of(const sql::Row& row) {
    SpaceBudget budget = sql::read<SpaceBudget>(budget_columns, row);
    if (!budget.capture) budget.capture = Capture::none; // a name that this build does not know: keep nothing
    return budget;
}

bool is_limited(const SpendingLimit& limit) {
    return limit.tokens || limit.cost_nano_usd;
}

bool is_used_up(const SpendingLimit& limit, const Spending& used) {
    return (limit.tokens && used.tokens >= *limit.tokens) ||
           (limit.cost_nano_usd && used.cost_nano_usd >= *limit.cost_nano_usd);
}

int64_t percent_of(int64_t used, const std::optional<int64_t>& limit) {
    if (!limit) return 0;
    if (*limit <= 0) return 100;
    return static_cast<int64_t>(100.0 * static_cast<double>(used) / static_cast<double>(*limit));
}

int64_t percent_used(const SpendingLimit& limit, const Spending& used) {
    return std::max(percent_of(used.tokens, limit.tokens), percent_of(used.cost_nano_usd, limit.cost_nano_usd));
}

std::string dollars(int64_t nano_usd) {
    const int64_t cents = nano_usd / 10'000'000;
    const std::string rest = std::to_string(cents % 100);
    return "$" + std::to_string(cents / 100) + "." + (rest.size() < 2 ? "0" : "") + rest;
}

std::string used_up_message(BudgetScope scope, const SpendingLimit& limit, const Spending& used) {
    const std::string whose = scope == BudgetScope::run          ? "the run's budget"
                              : scope == BudgetScope::automation ? "the automation's budget for today"
                                                                 : "the space's budget for today";
    const bool by_tokens = limit.tokens && used.tokens >= *limit.tokens;
    const std::string amount =
        by_tokens ? std::to_string(*limit.tokens) + " tokens" : dollars(limit.cost_nano_usd.value_or(0));
    return whose + " of " + amount + " is used up";
}

Spending operator+(const Spending& a, const Spending& b) {
    return {a.tokens + b.tokens, a.cost_nano_usd + b.cost_nano_usd};
}

} // namespace

Reservation::Reservation(Reservation&& other) noexcept
    : m_budgets(std::exchange(other.m_budgets, nullptr)),
      m_day(std::move(other.m_day)),
      m_keys(std::move(other.m_keys)),
      m_estimate(other.m_estimate) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
    if (this != &other) {
        release();
        m_budgets = std::exchange(other.m_budgets, nullptr);
        m_day = std::move(other.m_day);
        m_keys = std::move(other.m_keys);
        m_estimate = other.m_estimate;
    }
    return *this;
}

Reservation::~Reservation() {
    release();
}

void Reservation::release() {
    if (m_budgets) m_budgets->give_back(m_keys, m_estimate);
    m_budgets = nullptr;
}

// On SQLite this process is the only one that writes.
bool Budgets::is_fresh(Duration read_at) const {
    return m_database.engine() == sql::Engine::sqlite || m_clock.steady() - read_at < refresh;
}

Result<Budgets::SpaceLimit> Budgets::space_limit(const std::string& space_id) {
    {
        const Lock lock(m_mutex);
        const auto known = m_space_limits.find(space_id);
        if (known != m_space_limits.end() && is_fresh(known->second.read_at)) return known->second;
    }
    const SpaceBudget budget = TRY(read_space_budget(m_database, access::SpaceId(space_id)));
    SpaceLimit found;
    found.limit.tokens = budget.tokens_per_day;
    if (budget.cost_micro_usd_per_day) found.limit.cost_nano_usd = *budget.cost_micro_usd_per_day * nano_per_micro;
    found.limit.soft_percent = budget.soft_percent;
    found.capture = *budget.capture;
    const Lock lock(m_mutex);
    found.read_at = m_clock.steady();
    m_space_limits[space_id] = found;
    return found;
}

std::vector<Budgets::Line> Budgets::lines_of(const BudgetAccount& account, const std::string& day,
                                             const SpendingLimit& space) {
    std::vector<Line> lines;
    if (is_limited(account.run))
        lines.push_back({BudgetScope::run, "run " + account.run_id, account.run_id, account.run});
    if (!account.automation_id.empty() && is_limited(account.automation_day))
        lines.push_back({BudgetScope::automation, "automation " + account.automation_id + " " + day,
                         account.automation_id, account.automation_day});
    if (is_limited(space))
        lines.push_back({BudgetScope::space, "space " + account.space_id + " " + day, account.space_id, space});
    return lines;
}

// Reads the counter from the ledger when it is not known, or may have been changed by another server. Sums only grow,
// so the larger of the two is right: rows of ours that are still pending are missing from the ledger.
Result<> Budgets::load(const Line& line, const std::string& day) {
    for (int attempt = 0;; ++attempt) {
        int64_t settles = 0;
        bool is_known = false;
        {
            const Lock lock(m_mutex);
            const auto known = m_counters.find(line.key);
            is_known = known != m_counters.end();
            if (is_known && (line.scope == BudgetScope::run || is_fresh(known->second.read_at))) return {};
            settles = m_settles;
        }
        if (!is_known) TRY(m_ledger.flush()); // calls before this one may have rows that are not written yet
        const Spending spent = TRY(line.scope == BudgetScope::run          ? m_ledger.spent_by_run(line.id)
                                   : line.scope == BudgetScope::automation ? m_ledger.spent_by_automation(line.id, day)
                                                                           : m_ledger.spent_by_space(line.id, day));
        const Lock lock(m_mutex);
        // A call that was settled meanwhile found no counter and may be missing from the sum.
        if (!is_known && settles != m_settles && attempt < load_attempts) continue;
        Counter& counter = m_counters[line.key];
        counter.day = line.scope == BudgetScope::run ? "" : day;
        counter.read_at = m_clock.steady();
        counter.settled.tokens = std::max(counter.settled.tokens, spent.tokens);
        counter.settled.cost_nano_usd = std::max(counter.settled.cost_nano_usd, spent.cost_nano_usd);
        return {};
    }
}

std::optional<Admission> Budgets::admit(const std::vector<Line>& lines, const Spending& estimate) {
    Admission admission;
    bool must_wait = false;
    for (const Line& line : lines) {
        const Counter& counter = m_counters[line.key];
        if (is_used_up(line.limit, counter.settled)) {
            admission.level = BudgetLevel::hard;
            admission.scope = line.scope;
            admission.percent = percent_used(line.limit, counter.settled);
            admission.message = used_up_message(line.scope, line.limit, counter.settled);
            return admission;
        }
        must_wait = must_wait || is_used_up(line.limit, counter.settled + counter.reserved);
        const int64_t percent = percent_used(line.limit, counter.settled);
        if (percent < line.limit.soft_percent || percent < admission.percent) continue;
        admission.level = BudgetLevel::soft;
        admission.scope = line.scope;
        admission.percent = percent;
    }
    if (must_wait) return std::nullopt;
    for (const Line& line : lines) {
        Counter& counter = m_counters[line.key];
        counter.reserved = counter.reserved + estimate;
        admission.reservation.m_keys.push_back(line.key);
    }
    return admission;
}

namespace {

// Those of the limits that calls on other servers use too: a run's calls are all on its own server.
std::vector<SharedBudget> shared_budgets(const auto& lines, const std::string& day) {
    std::vector<SharedBudget> shared;
    for (const auto& line : lines)
        if (line.scope != BudgetScope::run)
            shared.push_back({line.key, line.scope == BudgetScope::space ? "space_id" : "automation_id", line.id, day,
                              [limit = line.limit](const Spending& used) { return is_used_up(limit, used); }});
    return shared;
}

constexpr std::string_view hold_kind = "hold_"; // a key of a reservation that is a row

} // namespace

Result<Admission> Budgets::reserve(const BudgetAccount& account, const CallEstimate& wanted, const Cancel& cancel,
                                   Deadline deadline) {
    const Spending estimate{wanted.tokens, wanted.cost_nano_usd};
    const std::string day = day_of(m_clock.now());
    for (;;) {
        const SpaceLimit space = TRY(space_limit(account.space_id));
        const std::vector<Line> lines = lines_of(account, day, space.limit);
        for (const Line& line : lines)
            if (line.limit.cost_nano_usd && !wanted.is_priced) {
                Admission refused;
                refused.level = BudgetLevel::unpriced;
                refused.scope = line.scope;
                return refused;
            }
        for (const Line& line : lines) TRY(load(line, day));
        std::optional<Admission> admission;
        {
            const Lock lock(m_mutex);
            drop_old_days(day);
            admission = admit(lines, estimate);
            if (admission && admission->level != BudgetLevel::hard) {
                admission->reservation.m_budgets = this;
                admission->reservation.m_day = day;
                admission->reservation.m_estimate = estimate;
            }
        }
        // Here there was room; the rows of the other servers' calls decide.
        if (admission && admission->level != BudgetLevel::hard && m_database.engine() == sql::Engine::postgres) {
            const auto shared = shared_budgets(lines, day);
            const HoldResult held =
                shared.empty() ? HoldResult{} : TRY(hold_budgets(m_database, m_clock.now(), shared, estimate));
            for (const std::string& hold : held.holds) admission->reservation.m_keys.push_back(hold);
            if (!shared.empty() && held.holds.empty()) {
                admission.reset(); // gives the reservation here back
                const Lock lock(m_mutex);
                for (const SharedBudget& budget : shared)
                    m_counters[budget.key].read_at = m_clock.steady() - refresh; // read again
            }
        }
        if (admission) {
            admission->capture = space.capture;
            return std::move(*admission);
        }
        if (cancel.fired()) return conflict("the run has ended");
        if (deadline.passed()) return busy("the rest of the budget is reserved by other calls; retry later");
        const Lock lock(m_mutex);
        m_changed.wait_for(m_mutex, wait_slice);
    }
}

void Budgets::give_back(const std::vector<std::string>& keys, const Spending& estimate) {
    {
        const Lock lock(m_mutex);
        for (const std::string& key : keys) {
            if (key.starts_with(hold_kind)) continue;
            const auto counter = m_counters.find(key);
            if (counter == m_counters.end()) continue;
            counter->second.reserved.tokens -= estimate.tokens;
            counter->second.reserved.cost_nano_usd -= estimate.cost_nano_usd;
        }
    }
    for (const std::string& key : keys)
        if (key.starts_with(hold_kind))
            if (const auto ended = end_hold(m_database, key); !ended.ok())
                log(Level::warning, "the reservation of a model call counts for an hour",
                    {{"why", ended.error().message}});
    m_changed.notify_all();
}

void Budgets::settle(Reservation reservation, UsageRow row) {
    row.day = reservation.m_day.empty() ? day_of(m_clock.now()) : reservation.m_day;
    const Spending spent = row.spending();
    {
        // Recorded while the counters are locked: a reader of the ledger for a counter that is missing here flushes it
        // first, and so finds this row.
        const Lock lock(m_mutex);
        ++m_settles;
        m_ledger.record(row);
        for (const std::string& key : {"run " + row.run_id, "automation " + row.automation_id + " " + row.day,
                                       "space " + row.space_id + " " + row.day}) {
            const auto counter = m_counters.find(key);
            if (counter != m_counters.end()) counter->second.settled = counter->second.settled + spent;
        }
    }
    // The row is on disk before the hold ends: no other server sees less than was spent. Else the hold stays.
    const auto is_hold = [](const std::string& key) { return key.starts_with(hold_kind); };
    if (std::ranges::any_of(reservation.m_keys, is_hold))
        if (const auto flushed = m_ledger.flush(); !flushed.ok()) {
            log(Level::warning, "the usage of a model call is not stored yet", {{"why", flushed.error().message}});
            std::erase_if(reservation.m_keys, is_hold);
        }
    reservation.release();
    m_changed.notify_all();
}

void Budgets::forget(const std::string& run_id) {
    const Lock lock(m_mutex);
    m_counters.erase("run " + run_id);
}

void Budgets::drop_old_days(const std::string& today) {
    std::erase_if(m_counters, [&](const auto& entry) {
        const Counter& counter = entry.second;
        return !counter.day.empty() && counter.day < today && counter.reserved == Spending{};
    });
}

Result<SpaceBudget> Budgets::space_budget(const access::Caller& caller, const access::SpaceId& space) const {
    TRY(caller.require(access::Permission::space_read, space));
    return read_space_budget(m_database, space);
}

Result<SpaceBudget> read_space_budget(sql::Database& database, const access::SpaceId& space) {
    const auto rows = TRY(database.query(select_budget, space));
    if (!rows.empty()) return budget_of(rows.front());
    SpaceBudget budget;
    budget.capture = Capture::full;
    return budget;
}

Result<std::map<access::SpaceId, SpaceBudget>> limited_space_budgets(sql::Database& database) {
    const auto rows = TRY(database.query(select_budgets + " WHERE tokens_per_day IS NOT NULL OR cost_micro_usd_per_day "
                                                          "IS NOT NULL ORDER BY space_id LIMIT 10000"));
    std::map<access::SpaceId, SpaceBudget> budgets;
    for (const auto& row : rows) budgets.emplace(row.id<access::SpaceTag>(sql::width(budget_columns)), budget_of(row));
    return budgets;
}

Result<SpaceBudget> Budgets::set_space_budget(const access::Caller& caller, const access::SpaceId& space,
                                              SpaceBudget budget) {
    TRY(caller.require(access::Permission::space_update, space));
    constexpr int64_t most = 1'000'000'000'000'000;
    for (const auto& number : {budget.tokens_per_day, budget.cost_micro_usd_per_day})
        if (number && (*number < 0 || *number > most)) return invalid("a budget is between 0 and 10^15");
    if (budget.soft_percent < 1 || budget.soft_percent > 100) return invalid("soft_percent is between 1 and 100");
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto before = TRY(transaction.query(select_budget, space));
        if (!budget.capture) budget.capture = before.empty() ? Capture::full : budget_of(before.front()).capture;
        TRY(transaction.execute(
            "INSERT INTO space_budgets (space_id, tokens_per_day, cost_micro_usd_per_day, soft_percent, capture, "
            "updated_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (space_id) DO UPDATE SET tokens_per_day = "
            "excluded.tokens_per_day, "
            "cost_micro_usd_per_day = excluded.cost_micro_usd_per_day, soft_percent = excluded.soft_percent, "
            "capture = excluded.capture, "
            "updated_at = excluded.updated_at",
            space, budget.tokens_per_day, budget.cost_micro_usd_per_day, budget.soft_percent, name_of(*budget.capture),
            m_clock.now()));
        return m_audit.record(transaction, caller,
                              {.action = "budget_update",
                               .space = space,
                               .target = space.text(),
                               .details = json::to_value(budget).as_object()});
    }));
    {
        const Lock lock(m_mutex);
        m_space_limits.erase(space.text());
    }
    m_changed.notify_all();
    return budget;
}

} // namespace hone::broker
