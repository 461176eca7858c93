// The versions of evaluators: written once with each change, never changed. The family (name, project, whether it is
// enabled) belongs to signal/evaluators.h; experiments and code run by version. Thread-safe.
#pragma once

#include "evaluate/evaluators/evaluator_version.h"
#include "sql/sql.h"

namespace hone::evaluate {

class EvaluatorVersions {
public:
    explicit EvaluatorVersions(sql::Database& database) : m_database(database) {}

    // Inside the transaction that changes the family. A number that exists already stays as it is.
    static Result<> add(sql::Transaction& transaction, EvaluatorVersion version);
    // Newest first.
    Result<std::vector<EvaluatorVersion>> list(const EvaluatorId& id) const;
    Result<EvaluatorVersion> find(const EvaluatorId& id, int64_t number) const;

private:
    sql::Database& m_database;
};

// Equal for equal definitions.
std::string definition_hash(const EvaluatorVersion& version);

} // namespace hone::evaluate
