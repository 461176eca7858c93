// Whether a pod reaches what it must not reach. Only a connection that succeeds counts: a firewall may refuse, reject
// or drop. Any process; blocks.
#pragma once

#include "base/time.h"

#include <string>
#include <vector>

namespace hone::pod {

// The first of these that accepts a connection within `timeout`, or that cannot be probed; or empty. "10.0.0.1:443",
// "[fd00::1]:443", "fd00::1:443".
std::string reachable(const std::vector<std::string>& addresses, Duration timeout);

} // namespace hone::pod
