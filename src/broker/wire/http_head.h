// Strict HTTP/1.1 heads for a proxy: from bytes to a value and back. Whatever two parsers could read differently is
// refused: bare line feeds, folded lines, NUL and other control characters, blanks around names, two lengths, length
// and chunks together, two hosts, other transfer encodings. Bodies are framed by net::BodyDecoder and `frame`.
// Pure functions, any thread; read_request and read_response block on their channel.
#pragma once

#include "broker/wire/channel.h"
#include "net/http/body_decoder.h"
#include "net/http/http.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::broker {

using net::Framing;
using net::Header;
using net::header_value;

// A host and port as one can compare them: lower case, no trailing dot, IPv6 without brackets and in its shortest form.
struct HostPort {
    std::string host;
    uint16_t port = 0;
    bool is_address = false;  // an IP address, not a name
    std::string text() const; // "api.github.com:443", "[2001:db8::1]:443"
    // As a Host header: leaves out the port when it is `default_port`.
    std::string header(uint16_t default_port) const;
    friend bool operator==(const HostPort&, const HostPort&) = default;
};
// "Api.GitHub.com.", "api.github.com:8443", "[::1]:443". Refused: user info, anything but letters, digits, '-', '_'
// and '.', labels over 63 and names over 253 bytes, non-ASCII, percent signs, zone ids, numbers that only some
// resolvers take for an address (2130706433, 0x7f.1, 017700000001, 127.1), port 0. `default_port` 0: needs a port.
Result<HostPort> parse_host_port(std::string_view text, uint16_t default_port);

enum class TargetForm { origin, absolute, authority, asterisk };

struct RequestHead {
    std::string method;
    TargetForm form = TargetForm::origin;
    bool secure = false;            // absolute form with https
    std::optional<HostPort> target; // of absolute and authority form
    std::string path;               // with query; at least "/"; "*" for the asterisk form
    std::optional<HostPort> host;   // the Host header; port 0 when it names none
    bool http_1_0 = false;
    std::vector<Header> headers; // as received, in order
    Framing framing = Framing::none;
    uint64_t length = 0;
    // Value of Content-Length, also where no body follows (HEAD, 304). Written when `framing` is none; a response or a
    // request of ours that has no body sets it to 0.
    std::optional<uint64_t> declared_length{};
    bool keep_alive = true;
    bool expects_continue = false;
    std::string upgrade; // lower case value of Upgrade when Connection names it: "websocket"

    std::string_view path_without_query() const;
};

struct ResponseHead {
    int status = 0;
    std::string reason;
    bool http_1_0 = false;
    std::vector<Header> headers;
    Framing framing = Framing::none;
    uint64_t length = 0;
    // Value of Content-Length, also where no body follows (HEAD, 304). Written when `framing` is none; a response or a
    // request of ours that has no body sets it to 0.
    std::optional<uint64_t> declared_length{};
    bool keep_alive = true;
};

struct HeadLimits {
    size_t bytes = 64 << 10;
    size_t count = 200;
    size_t line_bytes = 16 << 10; // request line
};

// `head` ends with its empty line.
Result<RequestHead> parse_request_head(std::string_view head, const HeadLimits& limits = {});
// `method`: of the request; HEAD and CONNECT change the framing.
Result<ResponseHead> parse_response_head(std::string_view head, std::string_view method, const HeadLimits& limits = {});

// Waits for a head and takes it from the channel's buffer. None: the peer closed before its first byte.
// Errors: invalid = malformed (status 400), too_large (431), and those of Channel.
Result<std::optional<RequestHead>> read_request(Channel& channel, Deadline deadline, const HeadLimits& limits = {});
Result<std::optional<ResponseHead>> read_response(Channel& channel, std::string_view method, Deadline deadline,
                                                  const HeadLimits& limits = {});

void remove_header(std::vector<Header>& headers, std::string_view name);
// Replaces the first, removes the rest; appends when there is none.
void set_header(std::vector<Header>& headers, std::string_view name, std::string value);
// Removes Connection, what it names, Keep-Alive, Proxy-*, TE, Trailer, Transfer-Encoding, Upgrade.
void remove_hop_headers(std::vector<Header>& headers);

// The head's bytes. The framing is written from `framing` and `length`, never copied; `target` is what goes between
// method and version: "/path?x", or "http://host/path". Connection and Upgrade are the caller's to add.
std::string write_request_head(const RequestHead& head, std::string_view target);
std::string write_response_head(const ResponseHead& head);

// Puts one piece of a body into its framing; an empty piece adds nothing. Call with `last` exactly once, at the end.
void frame(Framing framing, std::string_view piece, bool last, std::string& out);
// What stands before a chunk of so many bytes, and what ends a chunked body; after each chunk comes a line end.
std::string chunk_start(size_t bytes);
constexpr std::string_view last_chunk = "0\r\n\r\n";

// A short response of the proxy itself, with `Connection: close`. The body is JSON: {"error":{"code":…,"message":…}}.
std::string refusal(int status, std::string_view code, std::string_view message);

// The status for an error on the way: that of a proxy (base/status.h). A head that is too large is 431, a body 413.
enum class Part { head, body };
int status_of(const Error& error, Part part = Part::head);

} // namespace hone::broker
