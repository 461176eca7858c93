#include "sandbox/wall/channel.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace hone::sandbox {

namespace {

// The first byte of a packet states where the text is.
constexpr char text_inside = 'i';
constexpr char text_in_memory_file = 'm';
constexpr size_t largest_packet = 32 << 10;

Result<std::string> read_memory_file(int descriptor) {
    struct stat status {};
    // Only a sealed one: its size cannot change below us, and it is no pipe or device that could block.
    const int seals = ::fcntl(descriptor, F_GET_SEALS);
    if (seals < 0 || (seals & (F_SEAL_SHRINK | F_SEAL_WRITE)) != (F_SEAL_SHRINK | F_SEAL_WRITE))
        return corrupt("message is not in a sealed memory file");
    if (::fstat(descriptor, &status) != 0) return system_error("read message", errno);
    if (status.st_size < 0 || static_cast<size_t>(status.st_size) > max_message_bytes)
        return too_large("message is too long");
    std::string text(static_cast<size_t>(status.st_size), '\0');
    if (::pread(descriptor, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
        return system_error("read message", errno);
    return text;
}

} // namespace

Result<Fd> sealed_memory_file(const char* name, std::string_view content, bool executable) {
    Fd file(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!file.is_open()) return system_error("create memory file", errno);
    TRY(write_all(file.get(), content));
    if (executable && ::fchmod(file.get(), 0755) != 0) return system_error("make memory file executable", errno);
    if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0)
        return system_error("seal memory file", errno);
    return file;
}

Result<> send_packet(int socket, std::string_view bytes, std::span<const int> descriptors) {
    iovec vector{const_cast<char*>(bytes.data()), bytes.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(max_message_descriptors * sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    if (descriptors.size() > max_message_descriptors) return invalid("too many descriptors in a message");
    if (!descriptors.empty()) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
        std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
    }
    while (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0) {
        if (errno == EINTR) continue;
        if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN)
            return unavailable("the peer closed the connection");
        return system_error("send message", errno);
    }
    return {};
}

Result<Message> receive_packet(int socket, size_t limit) {
    Message received;
    received.text.resize(limit);
    iovec vector{received.text.data(), received.text.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(max_message_descriptors * sizeof(int))];
    msghdr message{};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t count;
    // A peer that ended with something unread is reported first, once; what it sent before is still there.
    bool reset = false;
    do count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (count < 0 && (errno == EINTR || (errno == ECONNRESET && !std::exchange(reset, true))));
    if (count < 0 && (errno == ECONNRESET || errno == ENOTCONN)) return unavailable("the peer closed the connection");
    if (count < 0 && errno == EAGAIN) return busy("no message yet");
    if (count < 0) return system_error("receive message", errno);
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        const size_t descriptors = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < descriptors; ++i) {
            int descriptor;
            std::memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof descriptor);
            received.descriptors.emplace_back(descriptor);
        }
    }
    if (count == 0) return unavailable("the peer closed the connection");
    if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return corrupt("message is longer than allowed");
    received.text.resize(static_cast<size_t>(count));
    return received;
}

Result<std::pair<Channel, Channel>> Channel::make_pair() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return system_error("create socket pair", errno);
    return std::pair(Channel(Fd(ends[0])), Channel(Fd(ends[1])));
}

Result<> Channel::send(std::string_view text, std::span<const int> descriptors) {
    if (text.size() > max_message_bytes) return too_large("message is too long");
    if (text.size() < largest_packet) {
        std::string packet(1, text_inside);
        packet += text;
        return send_packet(m_socket.get(), packet, descriptors);
    }
    const Fd file = TRY(sealed_memory_file("hone-message", text));
    std::vector<int> all{file.get()};
    all.insert(all.end(), descriptors.begin(), descriptors.end());
    return send_packet(m_socket.get(), std::string_view(&text_in_memory_file, 1), all);
}

Result<Message> Channel::receive(int timeout_ms) {
    if (timeout_ms >= 0) {
        pollfd wait{m_socket.get(), POLLIN, 0};
        int ready;
        do ready = ::poll(&wait, 1, timeout_ms);
        while (ready < 0 && errno == EINTR);
        if (ready == 0) return busy("no response in time");
    }
    Message message = TRY(receive_packet(m_socket.get(), largest_packet + 1));
    if (message.text[0] == text_inside) {
        message.text.erase(0, 1);
        return message;
    }
    if (message.text[0] != text_in_memory_file || message.descriptors.empty())
        return corrupt("message has no known form");
    message.text = TRY(read_memory_file(message.descriptors[0].get()));
    message.descriptors.erase(message.descriptors.begin());
    return message;
}

bool Channel::is_unheard() {
    pollfd wait{m_socket.get(), POLLIN, 0};
    while (::poll(&wait, 1, -1) < 0 && errno == EINTR) {
    }
    int error = 0;
    socklen_t size = sizeof error;
    return ::getsockopt(m_socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == ECONNRESET;
}

} // namespace hone::sandbox
