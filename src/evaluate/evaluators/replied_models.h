// Names that responses give for the model of a version of an evaluator, each with the time at which it was first seen.
// A provider that puts another model behind the same name gives a new one. Thread-safe.
#pragma once

#include "base/mutex.h"
#include "evaluate/evaluators/evaluator_version.h"
#include "sql/sql.h"

#include <set>

namespace hone::evaluate {

class RepliedModels {
public:
    static constexpr int64_t most_names = 20; // of a version: later ones are not stored

    RepliedModels(sql::Database& database, const Clock& clock) : m_database(database), m_clock(clock) {}

    // A response named this model. Writes only a name that this server did not see before; nothing for a version that
    // is not stored.
    Result<> note(const EvaluatorId& evaluator, int64_t number, const std::string& model);

    // The newest name of a version and the one before it; absent: there are fewer than two.
    struct Change {
        std::string before;
        std::string after;
        Time at{};
    };
    Result<std::optional<Change>> newest_change(const EvaluatorId& evaluator, int64_t number) const;

private:
    sql::Database& m_database;
    const Clock& m_clock;
    Mutex m_mutex;
    std::set<std::string> m_noted GUARDED_BY(m_mutex);
};

} // namespace hone::evaluate
