// SQLite's result codes as our errors, with advice for the administrator. Internal to sql/.
#pragma once

#include "base/result.h"

struct sqlite3;

namespace hone::sql {

// `code` is an extended result code, `path` the database file, `sql` what was running.
Error sqlite_error(sqlite3* handle, int code, const std::string& path, std::string_view sql);

} // namespace hone::sql
