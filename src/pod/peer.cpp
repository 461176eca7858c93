#include "pod/peer.h"

#include "base/file.h"
#include "pod/user_kernel.h"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hone::pod {

namespace {

constexpr int peer_pidfd = 77; // SO_PEERPIDFD, since Linux 6.5
constexpr size_t most_received = 64 << 10;

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

bool name_sender(int socket) {
    const int on = 1;
    return !is_gvisor() || ::setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0;
}

bool may_be_from_cluster(int socket) {
    if (is_gvisor()) return name_sender(socket);
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid <= 1) return false;
    // Of the process itself where the kernel has it: a number may be that of another process by now.
    int number = -1;
    size = sizeof number;
    if (::getsockopt(socket, SOL_SOCKET, peer_pidfd, &number, &size) != 0)
        number = static_cast<int>(::syscall(SYS_pidfd_open, peer.pid, 0));
    const Fd process(number);
    return process.is_open() && parent_of(peer.pid) == 0 && !has_ended(process);
}

bool read_of_cluster(int socket, std::string& into) {
    char piece[most_received];
    iovec place{piece, sizeof piece};
    alignas(cmsghdr) char notes[CMSG_SPACE(sizeof(ucred))];
    msghdr message{};
    message.msg_iov = &place;
    message.msg_iovlen = 1;
    message.msg_control = notes;
    message.msg_controllen = sizeof notes;
    const ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
    if (is_gvisor()) {
        // A number may be that of another process by now. What it would be used for is to speak to the server as this
        // pod, to which the server trusts nothing in any case.
        ucred sender{};
        const cmsghdr* note = CMSG_FIRSTHDR(&message);
        if (note == nullptr || note->cmsg_level != SOL_SOCKET || note->cmsg_type != SCM_CREDENTIALS) return false;
        std::memcpy(&sender, CMSG_DATA(note), sizeof sender);
        if (sender.pid <= 1 || parent_of(sender.pid) != 0) return false;
    }
    into.append(piece, static_cast<size_t>(got));
    return true;
}

} // namespace hone::pod
