// The client's end of a WebSocket (RFC 6455): binary messages in both directions over http or https.
//   open → (step | send)* → close
// `step` and `close` belong to one thread, the owner's; `send` and `wake` to any. Bounded in both directions: `send`
// waits when the peer does not read, and a peer waits while the owner does not call `step`.
#pragma once

#include "base/mutex.h"
#include "net/client/client.h"
#include "net/http/websocket_frames.h"
#include "net/socket.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace hone::net {

struct WebSocketOptions {
    std::string url; // http:// or https://
    std::vector<Header> headers;
    std::string protocol;                  // the one subprotocol; a server that does not agree is refused
    std::shared_ptr<const TlsContext> tls; // for https
    std::string server_name;               // that the certificate must be for; empty: the host of the URL
    Duration connect_timeout{10'000'000'000};
    Duration ping_every{5'000'000'000};
    Duration dead_after{60'000'000'000}; // without a byte from the peer
    size_t most_message_bytes = 1 << 20; // of the peer
    size_t most_queued_bytes = 1 << 20;  // of ours, before `send` waits
    Cancel* cancel = nullptr;            // ends `open`
};

class WebSocket {
public:
    // Either a socket, or the response of a server that did not switch protocols (its body up to 64 KiB).
    struct Opened {
        std::unique_ptr<WebSocket> socket;
        ClientResponse refusal;
    };
    static Result<Opened> open(const WebSocketOptions& options);
    ~WebSocket();
    WebSocket(const WebSocket&) = delete;
    WebSocket& operator=(const WebSocket&) = delete;

    // Queues one message; waits while too much is queued. `unavailable` once the connection has ended.
    Result<> send(std::string_view bytes);
    // The owner's present or next `step` returns soon.
    void wake();
    // Bytes that `send` has queued and `step` has not sent; the owner's thread.
    size_t queued() const;

    // Waits up to `timeout` for something to do; sends what is queued, reads what has come. False: the peer has closed
    // in order, see close_code(). Errors: `unavailable` (broken, or silent for too long), `invalid`, `too_large`, and
    // those of the callback. After an error or false the connection is over.
    Result<bool> step(Duration timeout, const std::function<Result<>(std::string_view)>& on_message);
    // Sends a close frame, if that needs no waiting, and ends the connection.
    void close(uint16_t code = 1000);
    uint16_t close_code() const { return m_close_code; }
    const std::string& close_reason() const { return m_close_reason; }

private:
    WebSocket(const WebSocketOptions& options, Socket socket, std::string input);
    uint32_t next_mask();
    Result<> flush();
    Result<> read_all(const std::function<Result<>(std::string_view)>& on_message);
    Result<> take(WebSocketMessage&& message, const std::function<Result<>(std::string_view)>& on_message);
    Result<> keep_alive();
    void append_close(uint16_t code);
    void end();

    const Duration m_ping_every, m_dead_after;
    const size_t m_most_queued;
    Socket m_socket;
    WebSocketParser m_parser;
    Fd m_woken;
    std::string m_input;   // came with the response to the upgrade
    std::string m_sending; // the owner's; taken from the queue
    size_t m_sent = 0;     // of m_sending
    bool m_read_wants_write = false;
    Duration m_last_byte{}, m_last_ping{};
    uint16_t m_close_code = 0; // 0: not closed by the peer
    std::string m_close_reason;
    mutable Mutex m_mutex;
    Condition m_has_room;
    std::string m_queue GUARDED_BY(m_mutex);
    bool m_ended GUARDED_BY(m_mutex) = false;
};

} // namespace hone::net
