// Several servers that store spans in one ClickHouse: before a server checks which spans of a block are stored, it
// claims the traces of the block in the database that the servers share. A server whose block has one of these traces
// waits for its turn, so that check and insert are one step, for a span that was sent to two servers and for the usage
// of a trace that arrives at two. Blocks without a common trace are stored at the same time.
// A claim of a killed server ends by itself, when the insert that it may have sent has ended too. One thread, the
// loader's.
#pragma once

#include "sql/sql.h"

#include <atomic>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace hone::telemetry {

struct BlockClaimsOptions {
    // The span store takes an insert until insert_deadline is over, by its own clock from before the claim was renewed
    // (loader.h), and ends it after insert_deadline: a claim is longer than both, and 5 s for replicas' clocks.
    Duration length = std::chrono::seconds(45);
    Duration insert_deadline = std::chrono::seconds(20);
    Duration poll = std::chrono::milliseconds(20);
    // False in tests: the given clock decides, on PostgreSQL too.
    bool uses_database_clock = true;
};

// Frames of the span log.
struct ClaimedFrames {
    uint64_t first = 0;
    uint64_t last = 0;
    bool operator==(const ClaimedFrames&) const = default;
};

class BlockClaims {
public:
    BlockClaims(sql::Database& database, const Clock& clock, std::string server, BlockClaimsOptions options = {})
        : m_database(database),
          m_clock(clock),
          m_server(std::move(server)),
          m_options(options) {}

    const BlockClaimsOptions& options() const { return m_options; }

    // The block that was claimed and not released, by this process or by the one before it. It is to be stored again
    // as it was: then its rows have the same deduplication token.
    Result<std::optional<ClaimedFrames>> unfinished();
    // Writes the claim, or finds it again. `traces` from claimed_traces().
    Result<> claim(ClaimedFrames frames, const std::string& traces);
    // No claim that was there first has a trace of ours any more. False: poll again.
    Result<bool> has_turn();
    // Before what changes the store, so that the claim outlasts it. A conflict: it has ended meanwhile; begin again.
    Result<> renew();
    // It was written or renewed in the last second.
    bool is_fresh() const;
    // The rows are stored.
    Result<> release();
    // How often it was not our turn. Any thread.
    int64_t waits() const { return m_waits; }

private:
    std::string now() const; // for SQL: a number, or the database's clock

    sql::Database& m_database;
    const Clock& m_clock;
    const std::string m_server;
    const BlockClaimsOptions m_options;
    bool m_has_read = false; // what the process before has left
    std::optional<ClaimedFrames> m_unfinished;
    int64_t m_turn = 0;
    std::map<std::string, int64_t> m_earlier; // server and turn of claims that are first
    Duration m_renewed_at{};                  // on the steady clock
    std::atomic<int64_t> m_waits{0};
};

// Traces as a claim stores them.
std::string claimed_traces(const std::set<std::string>& traces);
// Whether two claims have a trace in common.
bool have_common_trace(std::string_view one, std::string_view other);

} // namespace hone::telemetry
