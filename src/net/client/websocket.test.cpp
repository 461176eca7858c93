#include "net/client/websocket.h"

#include "net/testing/raw_client.h"

#include <openssl/sha.h>

using namespace hone;
using namespace hone::net;
using namespace hone::net::testing;

namespace {

// A server for one WebSocket, as a script on a thread of its own: blocking, exact bytes.
class ScriptedSocket {
public:
    using Script = std::function<void(ScriptedSocket&)>;
    explicit ScriptedSocket(Script script) {
        BoundSocket bound = listen_on("127.0.0.1:0").value();
        m_listener = std::move(bound.descriptor);
        address = bound.address;
        m_thread = std::thread([this, script = std::move(script)] {
            pollfd poll{m_listener.get(), POLLIN, 0};
            ::poll(&poll, 1, 10'000);
            m_client = Fd(::accept4(m_listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
            while (m_request.find("\r\n\r\n") == std::string::npos && receive(m_request)) {
            }
            script(*this);
            m_client.reset();
        });
    }
    ~ScriptedSocket() { m_thread.join(); }

    void send(std::string_view bytes) const {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(m_client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return;
            bytes.remove_prefix(static_cast<size_t>(sent));
        }
    }
    void accept(const std::string& protocol = "test.protocol", const std::string& extra = "") const {
        const std::string mark = "Sec-WebSocket-Key: ";
        const size_t at = m_request.find(mark) + mark.size();
        const std::string text = m_request.substr(at, 24) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
        std::array<unsigned char, 20> digest{};
        SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
        send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
             to_base64(std::string_view(reinterpret_cast<char*>(digest.data()), digest.size())) +
             "\r\nSec-WebSocket-Protocol: " + protocol + "\r\n" + extra + "\r\n");
    }
    void frame(WebSocketOpcode opcode, std::string_view payload, bool is_last = true) const {
        std::string bytes;
        append_websocket_frame(bytes, opcode, payload, std::nullopt, is_last);
        send(bytes);
    }
    // The next message that is not a ping.
    WebSocketMessage message() {
        while (m_messages.empty()) {
            std::string bytes;
            if (!receive(bytes)) return {WebSocketOpcode::close, "ended", 1006};
            const auto fed = m_parser.feed(bytes, [this](WebSocketMessage&& message) -> Result<> {
                if (message.opcode != WebSocketOpcode::ping) m_messages.push_back(std::move(message));
                return {};
            });
            if (!fed.ok()) return {WebSocketOpcode::close, fed.error().message, 1002};
        }
        WebSocketMessage first = std::move(m_messages.front());
        m_messages.erase(m_messages.begin());
        return first;
    }
    const std::string& request() const { return m_request; }
    std::string address;

private:
    bool receive(std::string& into) const {
        pollfd poll{m_client.get(), POLLIN, 0};
        if (::poll(&poll, 1, 10'000) != 1) return false;
        std::array<char, 65536> bytes;
        const ssize_t got = ::recv(m_client.get(), bytes.data(), bytes.size(), 0);
        if (got > 0) into.append(bytes.data(), static_cast<size_t>(got));
        return got > 0;
    }

    std::string m_request;
    WebSocketParser m_parser{WebSocketParser::Sender::client, 64 << 20};
    std::vector<WebSocketMessage> m_messages;
    Fd m_listener, m_client;
    std::thread m_thread;
};

WebSocketOptions options_of(const ScriptedSocket& server) {
    WebSocketOptions options;
    options.url = "http://" + server.address + "/exec?a=1";
    options.protocol = "test.protocol";
    options.headers = {{"Authorization", "Bearer t"}};
    return options;
}

std::unique_ptr<WebSocket> open_socket(const WebSocketOptions& options) {
    auto opened = WebSocket::open(options);
    REQUIRE_MESSAGE(opened.ok(), (opened.ok() ? "" : opened.error().message));
    REQUIRE(opened.value().socket);
    return std::move(opened.value().socket);
}

// Messages until the end, and how it ended.
std::pair<std::vector<std::string>, Result<bool>> read_to_end(WebSocket& socket) {
    std::vector<std::string> messages;
    for (;;) {
        auto step = socket.step(10s, [&](std::string_view message) -> Result<> {
            messages.emplace_back(message);
            return {};
        });
        if (!step.ok() || !step.value()) return {messages, std::move(step)};
    }
}

} // namespace

TEST_CASE("a WebSocket sends and receives whole messages, through fragments and pings") {
    std::string pong;
    std::string request;
    ScriptedSocket server([&](ScriptedSocket& peer) {
        request = peer.request();
        peer.accept();
        const std::string large = peer.message().payload;
        peer.frame(WebSocketOpcode::binary, large.substr(0, 1000), false);
        peer.frame(WebSocketOpcode::ping, "still there?");
        pong = peer.message().payload;
        peer.frame(WebSocketOpcode::continuation, large.substr(1000, 70'000), false);
        peer.frame(WebSocketOpcode::continuation, large.substr(71'000));
        peer.frame(WebSocketOpcode::binary, "");
        peer.send(std::string_view("\x88\x05\x03\xe8"
                                   "bye",
                                   7));
        CHECK(peer.message().opcode == WebSocketOpcode::close);
    });
    const auto socket = open_socket(options_of(server));
    std::string large(200'000, 'x');
    for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 7);
    REQUIRE(socket->send(large).ok());
    const auto [messages, end] = read_to_end(*socket);
    REQUIRE(messages.size() == 2);
    CHECK(messages[0] == large);
    CHECK(messages[1].empty());
    REQUIRE(end.ok());
    CHECK(!end.value());
    CHECK(socket->close_code() == 1000);
    CHECK(socket->close_reason() == "bye");
    CHECK(!socket->send("late").ok());
    CHECK(pong == "still there?");
    CHECK(request.starts_with("GET /exec?a=1 HTTP/1.1\r\n"));
    CHECK(request.find("Authorization: Bearer t\r\n") != std::string::npos);
    CHECK(request.find("Sec-WebSocket-Protocol: test.protocol\r\n") != std::string::npos);
}

TEST_CASE("a server that does not switch protocols is a refusal with its body") {
    ScriptedSocket server([](ScriptedSocket& peer) {
        peer.send("HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n"
                  "{\"code\":403,\"a\":1");
        peer.send("}");
    });
    const auto opened = WebSocket::open(options_of(server));
    REQUIRE(opened.ok());
    CHECK(!opened.value().socket);
    CHECK(opened.value().refusal.status == 403);
    CHECK(opened.value().refusal.body == "{\"code\":403,\"a\":1");
}

TEST_CASE("a server that is no WebSocket, or one with other rules, is rejected") {
    const auto error_after = [](const ScriptedSocket::Script& script) {
        ScriptedSocket server(script);
        const auto opened = WebSocket::open(options_of(server));
        return opened.ok() ? std::string("accepted") : opened.error().message;
    };
    CHECK(error_after([](ScriptedSocket& peer) { peer.accept("other.protocol"); }) ==
          "the server does not support the WebSocket protocol test.protocol");
    CHECK(error_after([](ScriptedSocket& peer) {
              peer.accept("test.protocol", "Sec-WebSocket-Extensions: permessage-deflate\r\n");
          }) == "the server uses a WebSocket extension that was not requested");
    CHECK(error_after([](ScriptedSocket& peer) {
              peer.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        "Sec-WebSocket-Accept: bm90aGluZw==\r\nSec-WebSocket-Protocol: test.protocol\r\n\r\n");
          }) == "the server switched to something that is not a WebSocket");
    CHECK(error_after([](ScriptedSocket&) {}) == "the connection closed before a response arrived");
}

TEST_CASE("broken frames, oversized messages and cut connections end a WebSocket with their reason") {
    const auto end_after = [](const ScriptedSocket::Script& script) {
        ScriptedSocket server([&](ScriptedSocket& peer) {
            peer.accept();
            script(peer);
        });
        WebSocketOptions options = options_of(server);
        options.most_message_bytes = 1000;
        const auto socket = open_socket(options);
        const auto end = read_to_end(*socket).second;
        return end.ok() ? std::string("ended in order") : end.error().message;
    };
    CHECK(end_after([](ScriptedSocket& peer) { peer.send("\x82"); }) == "the connection closed without a close frame");
    CHECK(end_after([](ScriptedSocket& peer) { peer.frame(WebSocketOpcode::binary, std::string(1001, 'x')); }) ==
          "a WebSocket message is larger than 1000 bytes");
    CHECK(end_after([](ScriptedSocket& peer) {
              for (int i = 0; i < 3; ++i) peer.frame(WebSocketOpcode::binary, std::string(400, 'x'), false);
          }) == "malformed WebSocket: a new message inside another");
    CHECK(end_after([](ScriptedSocket& peer) {
              peer.frame(WebSocketOpcode::binary, std::string(400, 'x'), false);
              peer.frame(WebSocketOpcode::continuation, std::string(601, 'x'), false);
          }) == "a WebSocket message is larger than 1000 bytes");
    CHECK(end_after([](ScriptedSocket& peer) { peer.send(std::string_view("\x82\x80mask", 6)); }) ==
          "malformed WebSocket: a masked frame");
    CHECK(end_after([](ScriptedSocket& peer) {
              peer.send(std::string_view("\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff", 10));
          }) == "a WebSocket message is larger than 1000 bytes");
    CHECK(end_after([](ScriptedSocket& peer) { peer.send("\xc2\x01x"); }) ==
          "malformed WebSocket: an extension that was not agreed on");
    CHECK(end_after([](ScriptedSocket& peer) { peer.send("\x83\x01x"); }) ==
          "malformed WebSocket: an unknown kind of frame");
    CHECK(end_after([](ScriptedSocket& peer) { peer.send(std::string_view("\x09\x00", 2)); }) ==
          "malformed WebSocket: a control frame in fragments");
    CHECK(end_after([](ScriptedSocket& peer) { peer.send(std::string_view("\x88\x02\x03\xee", 4)); }) ==
          "malformed WebSocket: a close with a code that is not allowed");
    CHECK(end_after([](ScriptedSocket& peer) { peer.send(std::string_view("\x82\x7e\x00\x05hello", 9)); }) ==
          "malformed WebSocket: a length in more bytes than it needs");
}

TEST_CASE("a peer that sends nothing is dead after the time limit") {
    ScriptedSocket silent([](ScriptedSocket& peer) {
        peer.accept();
        while (peer.message().close_code == 0) {
        }
    });
    WebSocketOptions options = options_of(silent);
    options.ping_every = 5ms;
    options.dead_after = 50ms;
    const auto socket = open_socket(options);
    const auto end = read_to_end(*socket).second;
    REQUIRE(!end.ok());
    CHECK(end.error().message == "the peer sent nothing for too long");
}

TEST_CASE("a sender waits while its peer does not read, and the end releases it") {
    std::atomic<bool> done = false;
    ScriptedSocket server([&](ScriptedSocket& peer) {
        peer.accept();
        while (!done) std::this_thread::yield(); // reads nothing
    });
    WebSocketOptions options = options_of(server);
    options.most_queued_bytes = 1 << 16;
    const auto socket = open_socket(options);
    std::atomic<int> accepted = 0;
    std::string why;
    std::thread sender([&] {
        for (;;) {
            auto sent = socket->send(std::string(1 << 16, 'x'));
            if (!sent.ok()) {
                why = sent.error().message;
                return;
            }
            ++accepted;
        }
    });
    // The kernel's buffers fill first; then nothing more is accepted.
    for (int before = -1; before != accepted;) {
        before = accepted;
        for (int i = 0; i < 20; ++i) REQUIRE(socket->step(5ms, [](std::string_view) -> Result<> { return {}; }).ok());
    }
    CHECK(accepted < 1000);
    socket->close();
    sender.join();
    done = true;
    CHECK(why == "the WebSocket has ended");
}
