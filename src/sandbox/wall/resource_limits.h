// Limits of a process that the kernel keeps without groups, taken over by everything that it starts. In a new process,
// before it executes anything of others.
#pragma once

#include "base/result.h"
#include "sandbox/provider/spec.h"

namespace hone::sandbox {

// `most_tasks`: of its user, as far as the kernel counts them together: per user namespace.
Result<> set_resource_limits(const Limits& limits, LimitKeeper limits_by, int64_t most_tasks);

} // namespace hone::sandbox
