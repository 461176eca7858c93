// A copy of all spans and evals at one moment, while everything runs: the log's tail, how far it is loaded, and the
// engine's tables as hard links to their parts, which never change. It takes no disk and a moment of the loader's time.
// And the way back: parts that a restore put beside the tables are attached when the engine opens them.
#pragma once

#include "base/result.h"
#include "telemetry/engine/clickhouse.h"

#include <memory>
#include <string>
#include <vector>

namespace hone::telemetry {

class Telemetry;

class SpanSnapshot {
public:
    struct File {
        std::string name; // where a restore puts it, below the telemetry directory
        std::string path; // where it is now
        int64_t bytes = 0;
    };

    // With a ClickHouse elsewhere only the log is ours to copy.
    static Result<std::unique_ptr<SpanSnapshot>> take(Telemetry& telemetry);
    ~SpanSnapshot(); // the links go
    SpanSnapshot(const SpanSnapshot&) = delete;
    SpanSnapshot& operator=(const SpanSnapshot&) = delete;

    const std::vector<File>& files() const { return m_files; }

private:
    SpanSnapshot() = default;
    Result<> freeze_tables(Telemetry& telemetry, const std::string& name);
    Result<> add_parts(const std::string& table, const std::string& directory);

    std::vector<std::string> m_directories; // of links
    std::vector<File> m_files;
};

// Whether a backup may contain a file of this name.
bool is_snapshot_file_name(std::string_view name);

// Attaches the parts in `engine_directory`/restore; harmless to call again, also after a crash.
Result<> attach_restored_parts(ClickHouse& engine, const std::string& engine_directory);

} // namespace hone::telemetry
