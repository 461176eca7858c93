// Backups: one file, tar compressed with zstd, that holds manifest.json (what, from when, sizes and hashes) and the
// database. Taken while the server runs, restored into an empty data directory. docs/storage-format.md describes it.
// Spans are not in it. The master key is not in it either: whoever holds a backup cannot read the secrets in it.
#pragma once

#include "base/time.h"
#include "net/http.h"
#include "sql/sql.h"

#include <memory>
#include <string>

namespace hone::server {

// Makes a consistent copy now, then streams it.
Result<std::unique_ptr<net::BodySource>> open_backup(sql::Database& database, const std::string& data_dir,
                                                     const Clock& clock, int64_t schema_version);

struct Restored {
    std::string created_at;
    std::string hone_version;
    int64_t files = 0;
};
// Unpacks beside, checks every hash, then moves into place. Refuses a directory that holds a database.
Result<Restored> restore_backup(const std::string& file, const std::string& data_dir);

} // namespace hone::server
