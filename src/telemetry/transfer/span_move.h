// Copies everything that one engine has stored (spans, evals, times of traces, log records, points of metrics) into
// another one, partition by partition, and compares both. What is there already is found by its contents, so a move
// that was interrupted continues, and a second one copies nothing. Rows of the target are never changed or deleted.
// One thread, blocks; nothing else writes to the source meanwhile.
#pragma once

#include "base/result.h"
#include "telemetry/engine/clickhouse.h"

#include <functional>
#include <string>
#include <vector>

namespace hone::telemetry {

// Number of rows, and the sum of their hashes over all columns.
struct RowSum {
    uint64_t rows = 0;
    uint64_t checksum = 0;
    bool operator==(const RowSum&) const = default;
};

struct MovedPartition {
    std::string table;
    std::string partition; // day since 1970, or "all"
    uint64_t bytes = 0;    // of its columns, not compressed
    RowSum source;
    RowSum target;            // after the move; of a dry run: now
    uint64_t copied_rows = 0; // by this move
    bool is_equal() const { return source == target; }
};

struct MoveProgress {
    std::string table;
    std::string partition;
    uint64_t done_bytes = 0, all_bytes = 0; // of all tables
    uint64_t copied_rows = 0;               // by this move
};

struct MoveOptions {
    bool is_dry_run = false; // compares and copies nothing
    size_t block_bytes = 16 << 20;
    size_t most_block_rows = 50'000;
    Duration pause{500'000'000}; // before an insert that failed is repeated; each next one is twice as long
    int tries = 6;
    std::function<void(const MoveProgress&)> progress;             // after each block
    std::function<void(const MovedPartition&)> finished_partition; // it was compared
};

struct MoveReport {
    std::vector<MovedPartition> partitions;
    uint64_t copied_rows = 0;
    double seconds = 0; // of a dry run: what reading the missing rows takes, by reading one block
    bool is_equal() const;
};

// Both have connections of their own; the tables of `source` are those of this version. Creates the tables of the
// target. An error in the middle leaves what came before it copied.
Result<MoveReport> move_spans(ClickHouse& source, ClickHouse& target, const MoveOptions& options);

// Opens the engine of a telemetry directory that no server uses, with the tables of this version. `with` gets it.
Result<> with_stored_spans(const std::string& telemetry_directory, EngineProcessOptions engine,
                           const std::function<Result<>(ClickHouse&)>& with);

} // namespace hone::telemetry
