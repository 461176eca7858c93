#include "broker/spending/usage_ledger.h"

#include "base/log.h"
#include "sql/columns.h"

namespace hone::broker {

namespace {

constexpr size_t rows_per_transaction = 500;
constexpr Duration retry_pause = std::chrono::milliseconds(500);

constexpr std::string_view insert_row =
    "INSERT INTO model_usage (id, space_id, project_id, run_id, automation_id, day, started_at, duration_ns, api, "
    "model, "
    "status, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, estimated_tokens, "
    "cost_nano_usd, price, complete) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT "
    "(id) DO NOTHING";

// Every token of a row, also the estimated ones.
constexpr std::string_view sums =
    "COALESCE(SUM(input_tokens + cache_read_tokens + cache_write_tokens + output_tokens + reasoning_tokens + "
    "estimated_tokens), 0), COALESCE(SUM(cost_nano_usd), 0)";
const std::string sum_spending = "SELECT " + std::string(sums) + " FROM model_usage WHERE ";

std::string_view column_of(UsageGroup group) {
    switch (group) {
    case UsageGroup::day:
        return "day";
    case UsageGroup::model:
        return "model";
    case UsageGroup::run:
        return "run_id";
    case UsageGroup::automation:
        return "automation_id";
    case UsageGroup::project:
        return "project_id";
    }
    return "day";
}

} // namespace

std::string day_of(Time time) {
    return to_text(time).substr(0, 10);
}

UsageLedger::UsageLedger(sql::Database& database) : m_database(database), m_thread([this] { run(); }) {}

UsageLedger::~UsageLedger() {
    {
        const Lock lock(m_mutex);
        m_stopping = true;
    }
    m_changed.notify_all();
    m_thread.join();
}

void UsageLedger::record(UsageRow row) {
    {
        const Lock lock(m_mutex);
        if (m_waiting.size() < most_waiting)
            m_waiting.push_back(std::move(row));
        else
            ++m_lost;
    }
    m_changed.notify_all();
}

Result<> UsageLedger::flush(Duration wait) {
    const auto until = std::chrono::steady_clock::now() + wait;
    const Lock lock(m_mutex);
    while (!m_waiting.empty() || m_writing > 0)
        if (m_changed.wait_until(m_mutex, until) == std::cv_status::timeout)
            return busy("the usage of model calls could not be written yet");
    return {};
}

// Takes what has gathered while the last transaction was written: the busier it is, the larger the batches.
void UsageLedger::run() {
    bool has_complained = false;
    for (;;) {
        std::vector<UsageRow> rows;
        {
            const Lock lock(m_mutex);
            while (m_waiting.empty() && !m_stopping) m_changed.wait(m_mutex);
            if (m_waiting.empty()) return;
            const size_t count = std::min(m_waiting.size(), rows_per_transaction);
            rows.assign(m_waiting.begin(), m_waiting.begin() + static_cast<ptrdiff_t>(count));
            m_writing = count;
        }
        const auto written = write(rows);
        const Lock lock(m_mutex);
        m_writing = 0;
        if (written.ok()) {
            m_waiting.erase(m_waiting.begin(), m_waiting.begin() + static_cast<ptrdiff_t>(rows.size()));
            has_complained = false;
        } else {
            if (!has_complained)
                log(Level::error, "usage of model calls not written", {{"error", written.error().message}});
            has_complained = true;
            if (m_stopping) {
                log(Level::error, "usage of model calls lost", {{"calls", m_waiting.size()}});
                m_lost += static_cast<int64_t>(m_waiting.size());
                return;
            }
            m_changed.wait_for(m_mutex, retry_pause);
        }
        m_changed.notify_all();
    }
}

Result<> UsageLedger::write(const std::vector<UsageRow>& rows) {
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        for (const UsageRow& row : rows)
            TRY(transaction.execute(insert_row, row.id, row.space_id, row.project_id, row.run_id, row.automation_id,
                                    row.day, row.started, row.took.count(), name_of(row.api), row.model, row.status,
                                    row.tokens.input, row.tokens.cache_read, row.tokens.cache_write, row.tokens.output,
                                    row.tokens.reasoning, row.estimated_tokens, row.cost_nano_usd, row.price,
                                    row.complete));
        return {};
    });
}

Result<Spending> UsageLedger::spent_by_run(const std::string& run_id) const {
    const auto rows = TRY(m_database.query(sum_spending + "run_id = ?", run_id));
    return Spending{rows.front().integer(0), rows.front().integer(1)};
}

Result<Spending> UsageLedger::spent_by_automation(const std::string& automation_id, const std::string& day) const {
    const auto rows = TRY(m_database.query(sum_spending + "automation_id = ? AND day = ?", automation_id, day));
    return Spending{rows.front().integer(0), rows.front().integer(1)};
}

Result<std::map<std::string, Spending>>
spent_by_automations(sql::Database& database, std::span<const std::string> automation_ids, const std::string& day) {
    std::map<std::string, Spending> spent;
    if (automation_ids.empty()) return spent;
    std::vector<sql::Value> values = sql::to_values(automation_ids);
    values.push_back(sql::to_value(day));
    const auto rows = TRY(
        database.run_query("SELECT automation_id, " + std::string(sums) + " FROM model_usage WHERE automation_id IN (" +
                               sql::marks(automation_ids.size()) + ") AND day = ? GROUP BY automation_id",
                           values));
    for (const auto& row : rows) spent.emplace(row.text(0), Spending{row.integer(1), row.integer(2)});
    return spent;
}

Result<Spending> UsageLedger::spent_by_space(const std::string& space_id, const std::string& day) const {
    const auto rows = TRY(m_database.query(sum_spending + "space_id = ? AND day = ?", space_id, day));
    return Spending{rows.front().integer(0), rows.front().integer(1)};
}

Result<std::vector<UsageSum>> UsageLedger::report(const access::Caller& caller, const access::SpaceId& space,
                                                  const UsageQuery& query) const {
    TRY(caller.require(access::Permission::space_read, space));
    const std::string column(column_of(query.group_by));
    std::string sql = "SELECT " + column +
                      ", COUNT(*), COALESCE(SUM(CASE WHEN complete = 0 THEN 1 ELSE 0 END), 0), "
                      "COALESCE(SUM(CASE WHEN status < 200 OR status > 299 THEN 1 ELSE 0 END), 0), "
                      "SUM(input_tokens), SUM(cache_read_tokens), SUM(cache_write_tokens), SUM(output_tokens), "
                      "SUM(reasoning_tokens), SUM(estimated_tokens), COALESCE(SUM(cost_nano_usd), 0), "
                      "COALESCE(SUM(CASE WHEN cost_nano_usd IS NULL THEN 1 ELSE 0 END), 0) "
                      "FROM model_usage WHERE space_id = ? AND day >= ? AND day <= ?";
    std::vector<sql::Value> values{space.text(), query.from_day, query.to_day};
    if (query.run_id) {
        sql += " AND run_id = ?";
        values.emplace_back(*query.run_id);
    }
    if (query.model) {
        sql += " AND model = ?";
        values.emplace_back(*query.model);
    }
    sql += " GROUP BY " + column;
    sql += query.group_by == UsageGroup::day ? " ORDER BY day DESC" : " ORDER BY 11 DESC, 8 DESC, 1";
    sql += " LIMIT ?";
    values.emplace_back(query.limit);
    std::vector<UsageSum> sums;
    const sql::Rows rows = TRY(m_database.run_query(sql, values));
    for (const sql::Row row : rows) {
        UsageSum sum;
        sum.group = row.text(0);
        sum.calls = row.integer(1);
        sum.incomplete_calls = row.integer(2);
        sum.failed_calls = row.integer(3);
        sum.tokens = {row.integer(4), row.integer(5), row.integer(6), row.integer(7), row.integer(8)};
        sum.estimated_tokens = row.integer(9);
        sum.cost_nano_usd = row.integer(10);
        sum.unpriced_calls = row.integer(11);
        sums.push_back(std::move(sum));
    }
    return sums;
}

} // namespace hone::broker
