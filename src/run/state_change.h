// The one statement that changes the state of a run. Every change goes through the table of legal moves (state.h).
#pragma once

#include "run/run.h"
#include "sql/sql.h"

namespace hone::run {

// False: the run is no longer in `from`. Aborts on a move that is not in the table. Sets `ended_at` when the run is
// over and `waiting_since` when it waits, and clears them otherwise; counts the time that it works. The caller adds the
// event.
Result<bool> change_state(sql::Transaction& transaction, const RunId& id, State from, State to,
                          const std::string& reason, Time now);

} // namespace hone::run
