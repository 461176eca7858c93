// Which issue a run is about. For those who review what the run pushed. Any thread.
#pragma once

#include "sql/sql.h"

#include <string>

namespace hone::signal {

// The issue that the run was started to fix; empty: none.
Result<std::string> issue_fixed_by(sql::Database& database, const std::string& run);

} // namespace hone::signal
