// Who is at the other end of a socket of the pod. Any process.
#pragma once

namespace hone::pod {

// Whether the cluster started the process that connected, by `exec`: such a process has no parent inside the pod. One
// of the sandbox descends from the first process, and orphans become its children.
bool is_from_cluster(int socket);

} // namespace hone::pod
