// Which addresses of the cluster's own API a pod must not reach. Any thread; blocks while the name is resolved.
#pragma once

#include <string>
#include <vector>

namespace hone::kubernetes {

// "https://host:6443/path": the addresses of the host with the port. None when the name cannot be resolved.
std::vector<std::string> addresses_of(const std::string& server);

} // namespace hone::kubernetes
