// A connection as the broker's threads see it: plain or TLS, blocking with a deadline, ended from outside by a Cancel.
// One thread uses a Channel; a Cancel may be fired by any thread. Errors: busy = deadline passed, conflict = cancelled,
// unavailable = the peer or the network failed.
#pragma once

#include "base/file.h"
#include "base/time.h"
#include "net/socket.h"

#include <atomic>
#include <memory>
#include <poll.h>
#include <span>
#include <string>
#include <string_view>

namespace hone::broker {

// A moment on the steady clock.
class Deadline {
public:
    static Deadline after(Duration duration) { return Deadline(SystemClock().steady() + duration); }
    static Deadline sooner(Deadline a, Deadline b) { return a.m_at < b.m_at ? a : b; }
    // For poll: at least 0, rounded up.
    int milliseconds_left() const;
    bool passed() const { return SystemClock().steady() >= m_at; }

private:
    explicit Deadline(Duration at) : m_at(at) {}
    Duration m_at;
};

// Wakes everything that waits on it, permanently.
class Cancel {
public:
    Cancel();
    void fire();
    bool fired() const { return m_fired; }
    int descriptor() const { return m_event.get(); } // readable once fired

private:
    Fd m_event;
    std::atomic<bool> m_fired{false};
};

class Channel {
public:
    // The socket must be non-blocking. Holds on to `cancel`, which must outlive it.
    Channel(net::Socket socket, const Cancel& cancel) : m_socket(std::move(socket)), m_cancel(&cancel) {}
    Channel(Channel&&) = default;
    Channel& operator=(Channel&&) = default;

    // Puts TLS over the connection and shakes hands. Nothing may have been read ahead.
    Result<> start_tls(std::unique_ptr<net::TlsSession> session, Deadline deadline);

    // Bytes that were read and not yet used; readers take from its front.
    std::string& buffer() { return m_buffer; }
    // Reads more into the buffer, at most `limit` bytes; false at the end of the stream.
    Result<bool> fill(Deadline deadline, size_t limit = 16 << 10);
    // The buffer's bytes if there are some, else what comes next; 0 at the end of the stream.
    Result<size_t> read(std::span<char> into, Deadline deadline);
    // Everything, before the deadline.
    Result<> write(std::string_view bytes, Deadline deadline);
    // One after the other, in as few packets as can be; uses up `pieces`.
    Result<> write_all(std::span<std::string_view> pieces, Deadline deadline);

    // Steps that do not block. try_read returns the buffer's bytes first.
    net::IoStep try_read(std::span<char> into);
    net::IoStep try_write(std::string_view bytes);
    // Waits for POLLIN and/or POLLOUT (also of bytes that TLS holds decrypted: try first, then wait).
    Result<> wait(short events, Deadline deadline) const;
    // True when the peer has closed or sent something although it should be silent: not to be used again.
    bool is_stale();

    bool is_open() const { return m_socket.is_open(); }
    bool is_tls() const { return m_socket.is_tls(); }
    int descriptor() const { return m_socket.descriptor(); }
    const Cancel& cancel() const { return *m_cancel; }
    // No more bytes from us; the other direction stays open.
    void shut_down_writing() { m_socket.shut_down_writing(); }
    void close() { m_socket.close(); }
    // From here on it can end by a reset only, so that the peer can distinguish a broken stream from a whole one, also
    // where only the end of the connection marks the end of a body. Nothing may be written afterwards.
    void reset_connection() { m_socket.set_reset_on_close(true); }

private:
    Result<> settle(net::Io state, Deadline deadline, std::string_view what) const;

    net::Socket m_socket;
    const Cancel* m_cancel;
    std::string m_buffer;
};

// Waits until one of the descriptors is ready (revents is set), the deadline passes (busy) or the cancel fires
// (conflict).
Result<> wait_any(std::span<pollfd> descriptors, const Cancel& cancel, Deadline deadline);

} // namespace hone::broker
