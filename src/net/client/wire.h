// The client's end of one connection: dial, TLS, send and receive, blocking within time limits and until cancelled.
// Used by HttpClient only; one thread at a time.
#pragma once

#include "net/client/client.h"
#include "net/socket.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::net {

// How long one request may take, and who may end it.
struct Timeouts {
    Duration connect{};
    Duration idle{};
    std::optional<Duration> total_until; // steady time
    Cancel* cancel = nullptr;
};

class Wire {
public:
    // The first endpoint that accepts.
    static Result<std::unique_ptr<Wire>> dial(const std::vector<Endpoint>& endpoints, const Timeouts& timeouts);

    Result<> start_tls(const TlsContext& context, const std::string& host, const Timeouts& timeouts);
    // Stops early, without an error, when the server starts its response: see has_input().
    Result<> send(std::string_view bytes, const Timeouts& timeouts);
    // Adds what comes next to input(); false at the end of the connection.
    Result<bool> receive(const Timeouts& timeouts);
    std::string& input() { return m_input; }
    // A response has begun while we were still sending.
    bool has_early_response() const;
    // The connection without time limits, for a protocol that sends in both directions at any time. What was received
    // and not used is in input().
    Socket release() { return std::move(m_socket); }
    // Nothing has come and the other side has not hung up: fit for another request.
    bool is_quiet();

private:
    explicit Wire(Socket socket, std::string name) : m_socket(std::move(socket)), m_name(std::move(name)) {}
    Result<> wait(short events, Duration limit, const Timeouts& timeouts);
    Result<> handshake(const Timeouts& timeouts);
    Result<> check_for_response();

    Socket m_socket;
    std::string m_name; // for messages
    std::string m_input;
};

} // namespace hone::net
