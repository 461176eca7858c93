// The responses to requests with an Idempotency-Key, kept for a day for the same key, caller and request. What may be
// kept is decided by src/api, which calls this. Thread-safe.
#pragma once

#include "access/caller.h"
#include "sql/sql.h"

#include <optional>
#include <string>

namespace hone::access {

struct KeptResponse {
    int status = 0;
    std::string body;
};

class IdempotentResponses {
public:
    IdempotentResponses(sql::Database& database, const Clock& clock) : m_database(database), m_clock(clock) {}

    // Claims the key for this request. The earlier response when there is one; conflict when the key was used for
    // another request, is in use right now, or its response was not kept.
    Result<std::optional<KeptResponse>> begin(const Caller& caller, const std::string& key,
                                              const std::string& request_hash);
    // Ends a claim: with the response, without one (a replay is refused), or so that the key is free again.
    Result<> keep(const Caller& caller, const std::string& key, const KeptResponse& response);
    Result<> keep_nothing(const Caller& caller, const std::string& key);
    Result<> release(const Caller& caller, const std::string& key);
    Result<int64_t> sweep();

private:
    Result<> finish(const Caller& caller, const std::string& key, int64_t status, const std::string& body);

    sql::Database& m_database;
    const Clock& m_clock;
};

} // namespace hone::access
