// Who is at the other end of a socket of the pod: whether the cluster started it, by `exec`. Such a process has no
// parent inside the pod. One of the sandbox descends from the first process, and orphans become its children. Any
// process.
#pragma once

#include <string>

namespace hone::pod {

// Of a new connection. In gVisor that is not known yet: SO_PEERCRED is the process that requests it there,
// and only messages have their sender.
bool may_be_from_cluster(int socket);

// Reads what is there. False: at the end, and in gVisor when a process of the sandbox has sent it.
bool read_of_cluster(int socket, std::string& into);

// Of one's own socket, before it is connected: what is sent has its sender. Nothing outside of gVisor.
bool name_sender(int socket);

} // namespace hone::pod
