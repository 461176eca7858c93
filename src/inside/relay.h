// The broker's ports inside a gVisor sandbox, whose network stack is its own: listens on 127.0.0.1:3128 and :3129 and
// passes every connection on to the unix socket of that name in a folder that is mounted from the host. One thread.
#pragma once

#include <string>

namespace hone::inside {

// Writes "ready\n" to stdout when both ports listen. Returns only when it cannot continue: an exit code.
int relay(const std::string& folder);

} // namespace hone::inside
