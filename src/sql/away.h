// What a failure of PostgreSQL means for work that must not be lost. Pure functions, any thread.
#pragma once

#include "base/result.h"

namespace hone::sql {

// The database could not be reached, or had no room, and nothing was done: the same work can be repeated later.
bool is_away(const Error& error);
// The connection was lost during a commit: the work may be done.
bool is_outcome_unknown(const Error& error);

} // namespace hone::sql
