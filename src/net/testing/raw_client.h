// For tests only: a client that sends exactly the bytes it is told, and a handler made of two lambdas. Blocking, with
// a deadline of its own so that a broken server fails a test instead of hanging it.
#pragma once

#include "base/file.h"
#include "base/text.h"
#include "net/http/url.h"
#include "net/server.h"
#include "net/socket.h"

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <doctest/doctest.h>
#include <functional>
#include <map>
#include <mutex>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <thread>

namespace hone::net::testing {

using namespace std::chrono_literals;

struct RawResponse {
    int status = 0;
    std::map<std::string, std::string> headers; // lower case names
    std::string body;
    bool complete = false; // as its framing says; without one, that the connection ended and was not reset
};

class RawClient {
public:
    explicit RawClient(const std::string& address, int receive_buffer = 0) {
        const auto [host, port] = parse_host_port(address).value();
        const Endpoint endpoint = resolve(host, port).value().front();
        m_socket = Fd(::socket(endpoint.family, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (receive_buffer > 0)
            ::setsockopt(m_socket.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
        REQUIRE(::connect(m_socket.get(), reinterpret_cast<const sockaddr*>(endpoint.address.data()),
                          static_cast<socklen_t>(endpoint.address.size())) == 0);
    }
    // False when the server has closed.
    bool send(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(m_socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<size_t>(sent));
        }
        return true;
    }
    // As much as the kernel takes at once.
    size_t send_some(std::string_view bytes) {
        const ssize_t sent = ::send(m_socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        return sent > 0 ? static_cast<size_t>(sent) : 0;
    }
    void half_close() { ::shutdown(m_socket.get(), SHUT_WR); }
    void close() { m_socket.reset(); }
    int descriptor() const { return m_socket.get(); }

    // Until `mark` is in the buffer; returns everything up to and with it. Empty at the end of the connection.
    std::string read_until(std::string_view mark) {
        for (;;) {
            if (const size_t at = m_buffer.find(mark); at != std::string::npos) return take(at + mark.size());
            if (!fill()) return {};
        }
    }
    std::string read_exactly(size_t bytes) {
        while (m_buffer.size() < bytes)
            if (!fill()) break;
        return take(std::min(bytes, m_buffer.size()));
    }
    std::string read_to_end() {
        while (fill()) {
        }
        return take(m_buffer.size());
    }
    RawResponse read_response(bool to_head = false) {
        RawResponse response;
        const std::string head = read_until("\r\n\r\n");
        if (head.size() < 12) return response;
        response.status = static_cast<int>(parse_integer(std::string_view(head).substr(9, 3)).value());
        for (const std::string_view line : split(head, '\n'))
            if (const size_t colon = line.find(':'); colon != std::string_view::npos)
                response.headers[lowercase_ascii(line.substr(0, colon))] = std::string(trim(line.substr(colon + 1)));
        response.complete = true;
        if (to_head || response.status / 100 == 1 || response.status == 204 || response.status == 304) return response;
        if (response.headers.contains("transfer-encoding")) {
            response.complete = read_chunks(response.body);
        } else if (response.headers.contains("content-length")) {
            const auto length = static_cast<size_t>(parse_integer(response.headers["content-length"]).value());
            response.body = read_exactly(length);
            response.complete = response.body.size() == length;
        } else {
            response.body = read_to_end();
            response.complete = !m_was_reset;
        }
        return response;
    }
    RawResponse get(const std::string& target, const std::string& more_headers = "") {
        send("GET " + target + " HTTP/1.1\r\nHost: test\r\n" + more_headers + "\r\n");
        return read_response();
    }
    // The content of one chunk; empty at the last, and when the connection ends before it.
    std::string read_chunk() {
        std::string chunk;
        read_chunk(chunk);
        return chunk;
    }
    // True when the server ends the connection and has nothing more to say.
    bool is_ended() { return read_to_end().empty(); }
    // The connection ended with an error instead of an end of the stream.
    bool was_reset() const { return m_was_reset; }

private:
    // True when it came whole.
    bool read_chunk(std::string& chunk) {
        const std::string line = read_until("\r\n");
        if (line.empty()) return false;
        const size_t size = std::stoul(line, nullptr, 16);
        const std::string data = read_exactly(size + 2);
        chunk = data.substr(0, size);
        return data.size() == size + 2 && data.ends_with("\r\n");
    }
    // True when the last chunk came.
    bool read_chunks(std::string& body) {
        for (;;) {
            std::string chunk;
            const bool whole = read_chunk(chunk);
            body += chunk;
            if (!whole || chunk.empty()) return whole;
        }
    }
    bool fill() {
        pollfd poll{m_socket.get(), POLLIN, 0};
        REQUIRE_MESSAGE(::poll(&poll, 1, 30'000) == 1, "the server kept silent; so far: ", m_buffer.substr(0, 200));
        std::array<char, 65536> bytes;
        const ssize_t received = ::recv(m_socket.get(), bytes.data(), bytes.size(), 0);
        m_was_reset = received < 0;
        if (received <= 0) return false;
        m_buffer.append(bytes.data(), static_cast<size_t>(received));
        return true;
    }
    std::string take(size_t bytes) {
        std::string taken = m_buffer.substr(0, bytes);
        m_buffer.erase(0, bytes);
        return taken;
    }

    Fd m_socket;
    std::string m_buffer;
    bool m_was_reset = false;
};

class LambdaHandler final : public Handler {
public:
    std::function<Plan(const RequestHead&)> on_plan = [](const RequestHead&) { return Plan{}; };
    std::function<Response(Request&&)> on_handle = [](Request&& request) {
        return text_response(200, request.method + " " + request.path + " " + request.body);
    };
    Plan plan(const RequestHead& head) override { return on_plan(head); }
    Response handle(Request&& request) override { return on_handle(std::move(request)); }
};

inline ServerOptions test_options() {
    ServerOptions options;
    options.listen = {{"127.0.0.1:0", "", ""}};
    options.lanes = {LaneOptions{2, 16}, LaneOptions{2, 16}, LaneOptions{2, 16}};
    return options;
}

inline std::unique_ptr<Server> start_server(Handler& handler, ServerOptions options = test_options()) {
    auto server = Server::start(std::move(options), handler);
    REQUIRE_MESSAGE(server.ok(), (server.ok() ? "" : server.error().message));
    return std::move(server).value();
}

// Waits for something that another thread is about to do.
inline bool eventually(const std::function<bool()>& condition) {
    const auto until = std::chrono::steady_clock::now() + 30s;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > until) return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

// Lets threads wait for each other.
class Gate {
public:
    void open() {
        const std::lock_guard lock(m_mutex);
        m_open = true;
        m_changed.notify_all();
    }
    bool wait() {
        std::unique_lock lock(m_mutex);
        return m_changed.wait_for(lock, 30s, [this] { return m_open; });
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_open = false;
};

} // namespace hone::net::testing
