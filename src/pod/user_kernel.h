// Whether the kernel of this pod is gVisor: a program of its own on the node, not the node's kernel. Any thread.
#pragma once

namespace hone::pod {

// First called before anything of a worker has run: no worker can have written the log that is the proof. False when
// in doubt.
bool is_gvisor();

} // namespace hone::pod
