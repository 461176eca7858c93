// Backups in the object store: one object each, below backups/. Made by the server, read by `hone restore`.
#pragma once

#include "api/core/call.h"
#include "net/http/http.h"
#include "objects/object_store.h"

#include <string>
#include <vector>

namespace hone::server {

// Writes the backup to the store.
Result<api::StoredBackup> store_backup(objects::ObjectStore& store, net::BodySource& backup, Time now);
// Newest first.
Result<std::vector<api::StoredBackup>> stored_backups(objects::ObjectStore& store);
// Writes the backup of this name, or the newest for "latest", to a file. The name.
Result<std::string> fetch_backup(objects::ObjectStore& store, const std::string& name, const std::string& file);

} // namespace hone::server
