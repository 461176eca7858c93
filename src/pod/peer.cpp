#include "pod/peer.h"

#include "base/file.h"
#include "pod/user_kernel.h"

#include <cerrno>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hone::pod {

namespace {

constexpr int peer_pidfd = 77; // SO_PEERPIDFD, since Linux 6.5

bool has_ended(const Fd& process) {
    pollfd wait{process.get(), POLLIN, 0};
    return ::poll(&wait, 1, 0) != 0;
}

// The parent as this pid namespace counts: 0 outside of it; -1 when it cannot be read.
int parent_of(pid_t pid) {
    const auto text = read_file("/proc/" + std::to_string(pid) + "/status", 64 << 10);
    if (!text.ok()) return -1;
    const size_t at = text.value().find("\nPPid:\t");
    return at == std::string::npos ? -1 : std::atoi(text.value().c_str() + at + 7);
}

} // namespace

bool is_from_cluster(int socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid <= 1) return false;
    // Of the process itself where the kernel has it: a number may be that of another process by now.
    int number = -1;
    size = sizeof number;
    if (::getsockopt(socket, SOL_SOCKET, peer_pidfd, &number, &size) != 0)
        number = static_cast<int>(::syscall(SYS_pidfd_open, peer.pid, 0));
    const Fd process(number);
    // gVisor has no such descriptors. What it would be used for there is to speak to the server as this pod, to which
    // the server trusts nothing in any case.
    if (!process.is_open()) return is_gvisor() && parent_of(peer.pid) == 0;
    return parent_of(peer.pid) == 0 && !has_ended(process);
}

} // namespace hone::pod
