// Sessions and vaults that are still at the provider although their runs were deleted or have ended. A duty of server/
// calls it. Any thread.
#pragma once

#include "run/managed/managed_worker.h"

namespace hone::run {

// What is left at the provider of runs that were deleted or ended while it could not be reached.
Result<> stop_left_over(ManagedServices& services, std::span<const std::string> others);

} // namespace hone::run
