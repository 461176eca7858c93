// The replays of branches in the database: one row per revision, written by the server that holds its lease. A row
// whose server died is taken over by the next one. Thread-safe.
#pragma once

#include "review/branch/replay.h"
#include "sql/sql.h"

namespace hone::review {

class Replays {
public:
    // Longer than one step of the work takes.
    static constexpr Duration lease = std::chrono::minutes(2);

    Replays(sql::Database& database, const Clock& clock) : m_database(database), m_clock(clock) {}

    // A new attempt. Conflict while one is queued or running.
    static Result<> enqueue(sql::Transaction& transaction, const ArtifactId& artifact, int64_t revision,
                            const ReplaySettings& settings, const std::string& by, Time now);
    // No permission is checked: callers have found the artifact already.
    Result<std::optional<BranchReplay>> find(const ArtifactId& artifact, int64_t revision) const;
    // The next one that is queued or running and that no other server works on.
    Result<std::optional<BranchReplay>> claim(const std::string& server);
    // Of the server that claimed it. False, and nothing is written: the attempt ended meanwhile, or another server has
    // claimed it, because this one was frozen for longer than its lease.
    // The examples are chosen and the experiments made.
    Result<bool> started(const BranchReplay& replay, const std::string& server);
    // Is due again after this time.
    Result<bool> release(const BranchReplay& replay, const std::string& server, Duration after);
    Result<bool> end(const BranchReplay& replay, const std::string& server);
    // Of a person, whichever server works on it. False: the attempt has ended.
    Result<bool> stop(const BranchReplay& replay);

private:
    Result<bool> end_where(const BranchReplay& replay, const std::optional<std::string>& server);

    sql::Database& m_database;
    const Clock& m_clock;
};

} // namespace hone::review
