// The key with which a run reads its project. Values only; any thread.
#pragma once

#include "access/access.h"
#include "run/run_store.h"

namespace hone::run {

// The user, service key or Signal that the key acts for, and the key that limits it.
access::NewRunKey new_run_key(const RunRecord& record, Time expires_at);

} // namespace hone::run
