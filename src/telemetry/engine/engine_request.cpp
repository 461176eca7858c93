#include "telemetry/engine/engine_request.h"

#include "base/text.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <sys/socket.h>
#include <unistd.h>

namespace hone::telemetry {

namespace {

constexpr size_t head_limit = 1 << 20; // the URL may contain a query
constexpr size_t piece_bytes = 1 << 20;

bool is_name(std::string_view text) {
    return !text.empty() && text.size() <= 128 && std::all_of(text.begin(), text.end(), [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
               (letter >= '0' && letter <= '9') || letter == '_';
    });
}

Result<> read_argument(std::string_view pair, EngineRequest& request) {
    const size_t equals = std::min(pair.find('='), pair.size());
    const std::string name = TRY(percent_decode(pair.substr(0, equals), true));
    std::string value = equals < pair.size() ? TRY(percent_decode(pair.substr(equals + 1), true)) : std::string();
    if (name == "query") {
        request.query = std::move(value);
        return {};
    }
    const bool is_parameter = name.starts_with("param_");
    const std::string_view bare = is_parameter ? std::string_view(name).substr(6) : std::string_view(name);
    if (!is_name(bare)) return invalid("not a setting or parameter name");
    (is_parameter ? request.parameters : request.settings).emplace_back(bare, std::move(value));
    return {};
}

Result<> read_field(std::string_view line, EngineRequest& request) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return invalid("a header field has no colon");
    const std::string name = lowercase_ascii(line.substr(0, colon));
    const std::string_view value = trim(line.substr(colon + 1));
    if (name == "content-length") {
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), request.content_length);
        if (error != std::errc() || end != value.data() + value.size()) return invalid("bad content length");
    } else if (name == "transfer-encoding") {
        if (!equals_ignoring_case(value, "chunked")) return invalid("unknown transfer encoding");
        request.chunked = true;
    } else if (name == "connection") {
        if (equals_ignoring_case(value, "close")) request.keep_alive = false;
    } else if (name == "x-clickhouse-user") {
        request.user = value;
    } else if (name == "x-hone-stream") {
        request.stream = value == "1";
    }
    return {};
}

} // namespace

Result<EngineRequest> parse_engine_request(std::string_view head) {
    EngineRequest request;
    const size_t line_end = std::min(head.find("\r\n"), head.size());
    const auto words = split(head.substr(0, line_end), ' ');
    if (words.size() != 3 || !words[2].starts_with("HTTP/1.")) return invalid("not an HTTP request");
    request.method = words[0];
    const size_t query_start = std::min(words[1].find('?'), words[1].size());
    request.path = words[1].substr(0, query_start);
    if (query_start < words[1].size())
        for (const std::string_view pair : split(words[1].substr(query_start + 1), '&'))
            if (!pair.empty()) TRY(read_argument(pair, request));
    for (size_t at = line_end; at + 2 < head.size();) {
        const size_t end = std::min(head.find("\r\n", at + 2), head.size());
        TRY(read_field(head.substr(at + 2, end - at - 2), request));
        at = end;
    }
    if (request.chunked && request.content_length) return invalid("two body lengths");
    return request;
}

Result<size_t> EngineConnection::receive(char* bytes, size_t size) {
    for (;;) {
        const ssize_t got = ::recv(m_socket, bytes, size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_error("read from the engine's socket", errno);
        return static_cast<size_t>(got);
    }
}

Result<bool> EngineConnection::fill() {
    char bytes[64 << 10];
    const size_t got = TRY(receive(bytes, sizeof bytes));
    m_buffer.append(bytes, got);
    return got > 0;
}

Result<EngineRequest> EngineConnection::read_head() {
    size_t end = 0;
    while ((end = m_buffer.find("\r\n\r\n")) == std::string::npos) {
        if (m_buffer.size() > head_limit) return too_large("the request's header is too large");
        if (!TRY(fill())) return m_buffer.empty() ? not_found("another request") : invalid("the request is incomplete");
    }
    auto request = parse_engine_request(std::string_view(m_buffer).substr(0, end));
    m_buffer.erase(0, end + 4);
    m_body_begun = m_body_ended = false;
    m_left = request.ok() ? request.value().content_length : 0;
    return request;
}

Result<std::string> EngineConnection::read_line() {
    size_t end = 0;
    while ((end = m_buffer.find("\r\n")) == std::string::npos) {
        if (m_buffer.size() > 4096) return invalid("a chunk's size line is too long");
        if (!TRY(fill())) return unavailable("the body is incomplete");
    }
    std::string line = m_buffer.substr(0, end);
    m_buffer.erase(0, end + 2);
    return line;
}

Result<std::string_view> EngineConnection::read_body(const EngineRequest& request) {
    if (m_body_ended) return std::string_view();
    if (request.chunked && m_left == 0) {
        if (m_body_begun) TRY(read_line()); // the line end after the chunk before
        const std::string line = TRY(read_line());
        const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), m_left, 16);
        if (error != std::errc() || m_left > (uint64_t{1} << 40)) return invalid("bad chunk size");
        m_body_begun = true;
        if (m_left == 0) {
            m_body_ended = true;
            while (!TRY(read_line()).empty()) continue; // trailers
            return std::string_view();
        }
    }
    if (m_left == 0) {
        m_body_ended = true;
        return std::string_view();
    }
    size_t got = 0;
    if (m_buffer.empty()) { // straight into the piece, which is made once: inserts are large
        if (m_piece.size() < piece_bytes) m_piece.resize(piece_bytes);
        got = TRY(receive(m_piece.data(), static_cast<size_t>(std::min<uint64_t>(m_left, piece_bytes))));
        if (got == 0) return unavailable("the body is incomplete");
    } else {
        got = static_cast<size_t>(std::min<uint64_t>(m_left, m_buffer.size()));
        if (m_piece.size() < got) m_piece.resize(got);
        m_buffer.copy(m_piece.data(), got);
        m_buffer.erase(0, got);
    }
    m_left -= got;
    return std::string_view(m_piece).substr(0, got);
}

Result<> EngineConnection::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(m_socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return system_error("write to the engine's socket", errno);
        bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return {};
}

Result<> EngineConnection::respond(int status, std::string_view headers, std::string_view body) {
    const std::string head = "HTTP/1.1 " + std::to_string(status) + (status == 200 ? " OK\r\n" : " Error\r\n") +
                             std::string(headers) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
    TRY(send(head));
    return send(body);
}

Result<> EngineConnection::begin_chunks() {
    return send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
}

Result<> EngineConnection::chunk(std::string_view bytes) {
    if (bytes.empty()) return {};
    char size[24];
    const auto [end, error] = std::to_chars(size, size + sizeof size, bytes.size(), 16);
    TRY(send(std::string(size, end) + "\r\n"));
    TRY(send(bytes));
    return send("\r\n");
}

Result<> EngineConnection::end_chunks() {
    return send("0\r\n\r\n");
}

} // namespace hone::telemetry
