#include "run/egress.h"

#include "base/log.h"
#include "base/text.h"
#include "sql/columns.h"
#include "json/json.h"

namespace hone::run {

namespace {

constexpr size_t longest_path = 500;

class Written final : public broker::Decisions {
public:
    Written(sql::Database& database, const access::AuditLog& audit, access::SpaceId space, RunId run)
        : m_database(database),
          m_audit(audit),
          m_space(std::move(space)),
          m_run(std::move(run)) {}

    Result<> decided(broker::Decision& decision) override {
        const std::string path(truncate_utf8(decision.path, longest_path));
        json::Array secrets;
        for (const std::string& name : decision.secret_names) secrets.emplace_back(name);
        return m_database.write([&](sql::Transaction& transaction) -> Result<> {
            const auto rows =
                TRY(transaction.query("SELECT COALESCE(MAX(number), 0) FROM egress WHERE run_id = ?", m_run));
            decision.number = rows.front().integer(0) + 1;
            if (decision.number > Egress::most_of_a_run)
                return unavailable("this run has reached the limit of recorded requests");
            TRY(transaction.execute("INSERT INTO egress (run_id, number, at, allowed, method, target, tls, path, rule, "
                                    "reason, secrets, ended) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
                                    m_run, decision.number, decision.time, decision.allowed, decision.method,
                                    decision.target.text(), decision.tls, path, decision.rule, decision.reason,
                                    json::print(json::Value(secrets)), !decision.allowed));
            return m_audit.record(transaction, access::Caller::system(),
                                  {decision.allowed ? "egress_allowed" : "egress_refused",
                                   m_space,
                                   decision.run_id,
                                   {{"method", decision.method},
                                    {"target", decision.target.text()},
                                    {"path", path},
                                    {"rule", decision.rule},
                                    {"reason", decision.reason},
                                    {"secrets", secrets}}});
        });
    }

    void finished(const broker::Decision& decision, const broker::Outcome& outcome) override {
        const std::optional<int64_t> status =
            outcome.status == 0 ? std::nullopt : std::optional<int64_t>(outcome.status);
        const auto noted = m_database.execute(
            "UPDATE egress SET ended = 1, status = ?, address = ?, sent_bytes = ?, received_bytes = ?, took_us = ?, "
            "failure = ? WHERE run_id = ? AND number = ?",
            status, outcome.address, outcome.sent_bytes, outcome.received_bytes,
            std::chrono::duration_cast<std::chrono::microseconds>(outcome.took).count(),
            outcome.error.empty() ? std::nullopt : std::optional<std::string>(outcome.error), m_run, decision.number);
        if (!noted.ok())
            log(Level::warning, "the end of a request was not recorded",
                {{"run", m_run.text()}, {"why", noted.error().message}});
    }

private:
    sql::Database& m_database;
    const access::AuditLog& m_audit;
    const access::SpaceId m_space;
    const RunId m_run;
};

constexpr Pack egress_columns{
    sql::Column{"number", &EgressRow::number},
    sql::Column{"at", &EgressRow::time},
    sql::Column{"allowed", &EgressRow::allowed},
    sql::Column{"method", &EgressRow::method},
    sql::Column{"target", &EgressRow::target},
    sql::Column{"tls", &EgressRow::tls},
    sql::Column{"path", &EgressRow::path},
    sql::Column{"rule", &EgressRow::rule},
    sql::Column{"reason", &EgressRow::reason},
    sql::Column{"secrets", sql::Converted{[](EgressRow& one, const sql::Row& row, size_t at) -> Result<> {
                    one.secrets = TRY(json::read<std::vector<std::string>>(row.text(at)));
                    return {};
                }}},
    sql::Column{"ended", &EgressRow::ended},
    sql::Column{"status", &EgressRow::status},
    sql::Column{"address", &EgressRow::address},
    sql::Column{"sent_bytes", &EgressRow::sent_bytes},
    sql::Column{"received_bytes", &EgressRow::received_bytes},
    sql::Column{"took_us", &EgressRow::took_us},
    sql::Column{"failure", &EgressRow::failure},
};

} // namespace

std::shared_ptr<broker::Decisions> Egress::of(const access::SpaceId& space, const RunId& run) {
    return std::make_shared<Written>(m_database, m_audit, space, run);
}

Result<std::vector<EgressRow>> Egress::after(const RunId& run, int64_t number, int64_t limit) const {
    std::vector<EgressRow> rows;
    for (const sql::Row& row :
         TRY(m_database.query("SELECT " + sql::names(egress_columns) +
                                  " FROM egress WHERE run_id = ? AND number > ? ORDER BY number LIMIT ?",
                              run, number, limit)))
        rows.push_back(TRY(sql::read<EgressRow>(egress_columns, row)));
    return rows;
}

} // namespace hone::run
