// The header section of a message, from bytes to RequestHead or ResponseHead, by Beast's parser behind checks of our
// own. Used by the edge and the client; pure, any thread. Whatever two parsers could read differently is refused:
// both lengths, twice a length, folded lines, bare line feeds, blanks before a colon, control characters.
#pragma once

#include "net/http/http.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hone::net {

// How the end of a body is known.
enum class Framing { none, length, chunked, until_close };

struct HeadLimits {
    size_t bytes = 64 << 10;
    size_t count = 100;
    size_t target_bytes = 16 << 10;
};

// What is wrong with a head, and the status to return.
struct HeadError {
    int status = 400;
    std::string message;
};

// Finds the end of a head in bytes that come in pieces; each call sees everything from the first byte on.
class HeadScanner {
public:
    enum class Outcome { more, complete, bad };
    Outcome scan(std::string_view bytes, const HeadLimits& limits);
    size_t size() const { return m_line_start; } // of the head, when complete
    HeadError& error() { return m_error; }

private:
    Outcome fail(int status, std::string message);

    size_t m_position = 0; // scanned so far
    size_t m_line_start = 0;
    size_t m_lines = 0;
    HeadError m_error;
};

struct ParsedRequest {
    RequestHead head; // without peer, tls and id
    bool http_1_0 = false;
    bool keep_alive = true;
    bool expects_continue = false;
    Framing framing = Framing::none;
    uint64_t length = 0;
};

struct ParsedResponse {
    int status = 0;
    std::vector<Header> headers;
    bool keep_alive = true;
    Framing framing = Framing::none;
    uint64_t length = 0;
};

// `head` is exactly what the scanner found complete.
std::variant<ParsedRequest, HeadError> parse_request_head(std::string_view head, const HeadLimits& limits);
// `to_head`: the response to a HEAD request, which has no body whatever its fields state.
std::variant<ParsedResponse, HeadError> parse_response_head(std::string_view head, bool to_head);

} // namespace hone::net
