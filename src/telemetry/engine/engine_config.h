// The start parameters of the engine process: its options, and the two files that the library reads. Here is
// who may see what inside the engine. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hone::telemetry {

struct EngineOptions {
    std::string directory;
    std::string socket;
    std::string library;
    int64_t memory_bytes = int64_t{2} << 30;
    int64_t threads = 2;
    bool reads_files = false; // queries may read files of the directory, which then holds no spans of others
    bool unconfined = false;  // start even when this kernel cannot take anything away from the process
};

// The engine's two users, as its HTTP clients name them. The library knows only one user; the reader is that user
// without its role.
inline constexpr std::string_view owner_user = "hone";
inline constexpr std::string_view reader_user = "hone_reader";

// Which rows of `hone` a statement sees. Our own statements run in the database `hone` and name the project in
// log_comment ("*": all; not set: none). All others see the project of the connection's current database: no
// SELECT can change that. The engine applies it before any function reads a row.
inline constexpr std::string_view row_policy =
    "(currentDatabase() = 'hone' AND (getSetting('log_comment') = '*' OR project = getSetting('log_comment'))) OR "
    "project = substring(currentDatabase(), 6)";
inline constexpr std::string_view policy_tables[] = {"spans",         "evals", "eval_history", "trace_times",
                                                     "session_times", "logs",  "metric_points"};

// A request may use databases with these names.
inline constexpr std::string_view database_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

std::string users_config(const EngineOptions& options);
std::string server_config(const EngineOptions& options);

} // namespace hone::telemetry
