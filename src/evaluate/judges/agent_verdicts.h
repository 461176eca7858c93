// The verdicts that runs of workers report: only a run that was started to evaluate a document has one, and reports it
// once. The run may be on another server than the one that waits for it. Thread-safe.
#pragma once

#include "access/caller.h"
#include "sql/sql.h"
#include "json/json.h"

namespace hone::evaluate {

class AgentVerdicts {
public:
    AgentVerdicts(sql::Database& database, const Clock& clock) : m_database(database), m_clock(clock) {}

    // In the transaction that writes the run.
    Result<> expect(sql::Transaction& transaction, const std::string& run_id, const access::SpaceId& space) const;
    // Whether this run was started to evaluate a document.
    Result<bool> is_expected(const std::string& run_id) const;
    // forbidden: the caller is not such a run. conflict: it has reported one. too_large: more than 64 KiB.
    Result<> report(const access::Caller& caller, const json::Object& verdict) const;
    // Nothing: none was reported until now.
    Result<std::optional<json::Value>> find(const std::string& run_id) const;

private:
    sql::Database& m_database;
    const Clock& m_clock;
};

} // namespace hone::evaluate
