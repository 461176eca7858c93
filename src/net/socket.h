// A connected non-blocking socket, plain or TLS, that transfers what it can without blocking and reports what it waits
// for. Also how to listen and to dial. The edge and the client use it; one thread at a time.
#pragma once

#include "base/file.h"
#include "base/result.h"
#include "net/tls.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone::net {

class Socket {
public:
    Socket() = default;
    explicit Socket(Fd descriptor, std::unique_ptr<TlsSession> tls = nullptr)
        : m_descriptor(std::move(descriptor)),
          m_tls(std::move(tls)) {}

    int descriptor() const { return m_descriptor.get(); }
    bool is_open() const { return m_descriptor.is_open(); }
    bool is_tls() const { return m_tls != nullptr; }
    Io handshake() { return m_tls ? m_tls->handshake() : Io::done; }
    IoStep read(std::span<char> into);
    // Sends from the front of the pieces; may stop anywhere.
    IoStep write(std::span<const std::string_view> pieces);
    void shut_down_writing();
    // The other side will send nothing more: it has closed, or half closed. What it sent before may still lie unread.
    bool has_peer_closed() const;
    void close();
    // While set, the connection can end by a reset only, also when this process dies: without TLS' close_notify, and
    // without a FIN that a peer who reads to the end would take for the end of the message.
    void set_reset_on_close(bool reset);
    std::string problem() const { return m_tls ? m_tls->problem() : m_problem; }
    void start_tls(std::unique_ptr<TlsSession> session) { m_tls = std::move(session); }

private:
    Fd m_descriptor;
    std::unique_ptr<TlsSession> m_tls;
    std::string m_problem;
    bool m_resets = false;
};

struct BoundSocket {
    Fd descriptor;
    std::string address; // as bound: "127.0.0.1:43121"
};
// "127.0.0.1:7070", "[::1]:0", "localhost:80".
Result<BoundSocket> listen_on(const std::string& address);

// One accepted connection; an empty Fd when none waits.
struct Accepted {
    Fd descriptor;
    std::string peer; // ip address text
};
// Errors: the process or the system has no descriptor left (busy), or the listener is broken.
Result<Accepted> accept_one(int listener);

// An address to dial, resolved.
struct Endpoint {
    std::vector<char> address; // a sockaddr
    int family = 0;
    std::string text;
};
Result<std::vector<Endpoint>> resolve(const std::string& host, uint16_t port);
Result<Endpoint> unix_endpoint(const std::string& path);
// Begins a non-blocking connect; wait for writability, then ask connect_outcome.
Result<Fd> start_connect(const Endpoint& endpoint);
Result<> connect_outcome(int descriptor, const std::string& text);

} // namespace hone::net
