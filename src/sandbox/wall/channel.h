// Messages with descriptors over a SEQPACKET socket: how server, spawner, shim and pid 1 talk. A message longer than a
// packet travels in a sealed memory file. One thread at a time per channel.
#pragma once

#include "base/file.h"
#include "base/result.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::sandbox {

constexpr size_t max_message_bytes = 8 << 20;
constexpr size_t max_message_descriptors = 128;

struct Message {
    std::string text;
    std::vector<Fd> descriptors;
};

class Channel {
public:
    Channel() = default;
    explicit Channel(Fd socket) : m_socket(std::move(socket)) {}
    // Two connected ends, closed on exec.
    static Result<std::pair<Channel, Channel>> make_pair();

    int descriptor() const { return m_socket.get(); }
    bool is_open() const { return m_socket.is_open(); }
    void close() { m_socket.reset(); }
    Fd release() { return std::move(m_socket); }

    Result<> send(std::string_view text, std::span<const int> descriptors = {});
    // Code::unavailable at the end of the conversation, Code::busy after `timeout_ms` (-1: no timeout).
    Result<Message> receive(int timeout_ms = -1);
    // Waits for the other side's next word or its end. True: it has ended and has not read all that was sent to it.
    bool is_unheard();

private:
    Fd m_socket;
};

// Raw packets, for the fixed-size conversation with pid 1.
Result<> send_packet(int socket, std::string_view bytes, std::span<const int> descriptors);
Result<Message> receive_packet(int socket, size_t limit);

// A memory file with this content that cannot be changed any more.
Result<Fd> sealed_memory_file(const char* name, std::string_view content, bool executable = false);

} // namespace hone::sandbox
