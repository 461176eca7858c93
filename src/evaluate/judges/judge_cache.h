// Verdicts by content: the same version, model, parameters and rendered text need no second call. Experiments, tasks,
// backfills and tests share it within a space. Failures are not stored. Thread-safe.
#pragma once

#include "evaluate/evaluators/evaluator_version.h"
#include "sql/sql.h"

namespace hone::evaluate {

struct CachedVerdict {
    json::Value result; // as the model reported it
    std::string model;
    std::string trace_id;
};

struct CacheKey {
    access::SpaceId space_id;
    std::string content_hash; // of the version
    std::string model;
    std::string parameters;
    std::string text; // the rendered messages
    int64_t vote = 1;
    int64_t repetition = 1;
    std::string hash() const;
};

class JudgeCache {
public:
    static constexpr Duration lifetime = std::chrono::hours(24 * 30);

    JudgeCache(sql::Database& database, const Clock& clock) : m_database(database), m_clock(clock) {}

    Result<std::optional<CachedVerdict>> find(const CacheKey& key) const;
    Result<> store(const CacheKey& key, const CachedVerdict& verdict) const;
    // Removes what is older than the lifetime. Returns how many.
    Result<int64_t> collect() const;

private:
    sql::Database& m_database;
    const Clock& m_clock;
};

} // namespace hone::evaluate
