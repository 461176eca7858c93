// The home of a pod as one stream (sandbox/archive/home_archive.h): out of the pod in which an init script ran, into
// the pods that get what it left. In copies of the first process, inside the walls of the worker.
#pragma once

#include "base/result.h"

namespace hone::pod {

// Reads an archive, makes its files in the home, and responds with a ShimReply. `is_kept`: the home outlives the pod,
// and gets a mark.
void receive_home(int socket, bool is_kept);
// The archive of the home, to a socket.
Result<> send_home(int socket);
// "made" when the home had its layer in an earlier pod, otherwise "new".
Result<> send_home_state(int socket);

} // namespace hone::pod
