// Backups: one file, tar compressed with zstd, that holds manifest.json (what, from when, sizes), the database, spans
// and evals (tables and log), what runs left and pushed with the mirrors it stands on, and hashes.json. Taken while the
// server runs, restored into an empty data directory. docs/storage-format.md describes it. The master key is not in it:
// its secrets cannot be read from a backup alone.
#pragma once

#include "base/time.h"
#include "net/http/http.h"
#include "sql/sql.h"
#include "telemetry/telemetry.h"

#include <memory>
#include <string>

namespace hone::server {

// Makes a consistent copy now, then streams it. `spans` may be null: the database alone.
Result<std::unique_ptr<net::BodySource>> open_backup(sql::Database& database, telemetry::Telemetry* spans,
                                                     const std::string& data_dir, const Clock& clock,
                                                     int64_t schema_version, const std::string& hone_version);

struct Restored {
    std::string created_at;
    std::string hone_version;
    int64_t files = 0;
    int64_t span_bytes = 0; // of spans and evals
};
// Unpacks beside, checks every hash, then moves into place. Refuses a directory that holds a database.
Result<Restored> restore_backup(const std::string& file, const std::string& data_dir);

} // namespace hone::server
