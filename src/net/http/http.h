// The words of HTTP as the rest of the program sees them: requests, responses, streams. Plain data, no sockets.
// api/ and other handlers use these; the edge (server.h) makes and consumes them. The comment of a stream names the
// thread that calls it.
#pragma once

#include "base/result.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hone::net {

struct Header {
    std::string name;
    std::string value;
};

// The first value under this name in any case; empty when absent.
std::string_view header_value(const std::vector<Header>& headers, std::string_view name);

class Cancel; // client.h

// What is known of a request once its header section is in.
struct RequestHead {
    std::string method; // as sent: "GET"
    std::string target; // as sent: "/v1/runs?limit=5"
    std::string path;   // the part before '?', still percent-encoded; see url.h for its segments
    std::string query;  // the part after '?', raw; see url.h for its pairs
    std::vector<Header> headers;
    std::string peer; // the caller's ip address as text
    bool tls = false;
    std::string id; // "req_…", or the client's own X-Request-Id when it is short and plain
    // On the query lane: cancelled when the client disconnects before its response. Null on the others.
    std::shared_ptr<Cancel> gone;

    std::string_view header(std::string_view name) const { return header_value(headers, name); }
    bool has_header(std::string_view name) const;
    // The value of a cookie, without its quotes; empty when absent.
    std::string cookie(std::string_view name) const;
};

// Pulls a streamed request body, piece by piece, on the handler's thread. The edge reads ahead a little and then lets
// the socket wait, so memory stays bounded however fast the client sends.
class BodyReader {
public:
    virtual ~BodyReader() = default;
    // Blocks for the next piece; an empty one is the end. Errors: too_large, busy (client too slow), unavailable
    // (client gone), invalid (broken framing).
    virtual Result<std::string> read() = 0;
};

// The whole of a body that is being streamed; refuses more than `limit` bytes.
Result<std::string> read_all(BodyReader& reader, size_t limit);

struct Request : RequestHead {
    std::string body;                        // complete, unless the plan requests a stream
    std::unique_ptr<BodyReader> body_stream; // set exactly when the plan requests a stream
};

// Produces a response body of unknown or great length. Called on a thread of the lane, one call at a time, not always
// the same thread, and only while the client keeps up: a slow download holds no thread.
class BodySource {
public:
    virtual ~BodySource() = default;
    // The next piece (best 16 to 256 KB); an empty one is the end. An error cuts the connection, so that the client
    // sees the body as incomplete.
    virtual Result<std::string> next() = 0;
};

// The sending end of one live Server-Sent Events connection. All calls from any thread, none blocks. Dropping the
// last reference without close() cuts the connection. A follower that does not keep up is cut and resumes with
// Last-Event-ID.
class EventStream {
public:
    virtual ~EventStream() = default;
    // False when the connection is over (also: this event did not fit the buffer any more). Empty event or id: left
    // out. Line breaks in data are kept, in event and id they are dropped.
    virtual bool send(std::string_view event, std::string_view id, std::string_view data) = 0;
    virtual bool is_open() const = 0;
    // Bytes that wait for the client. A sender that may skip events checks this before it sends.
    virtual size_t pending() const = 0;
    // Called once when the connection ends for any reason, on an edge thread (keep it short), or now if it has ended.
    virtual void on_close(std::function<void()> callback) = 0;
    // Lets what was sent before reach the client, then ends the response as complete.
    virtual void close() = 0;
    // Ends the connection so that the client sees the response as incomplete.
    virtual void cut() = 0;
};

// Exactly one of body, borrowed_body, stream and on_events is used, in that order of precedence from the last.
struct Response {
    int status = 200;
    std::vector<Header> headers; // without Content-Length, Transfer-Encoding, Connection, Date: the edge sets those
    std::string content_type;
    std::string body;
    std::string_view borrowed_body;     // bytes that live as long as the process (embedded files)
    std::unique_ptr<BodySource> stream; // sent chunked
    // Makes this a text/event-stream; called on the lane's thread right after handle() returned.
    std::function<void(std::shared_ptr<EventStream>)> on_events;
    // Of on_events: the events are the response to one request and end by themselves. Drain waits for them; it ends
    // streams without an end.
    bool events_end = false;
    bool close = false; // end the connection after this response

    void set_header(std::string_view name, std::string value); // replaces
    std::string_view header(std::string_view name) const { return header_value(headers, name); }
};

// The usual responses.
Response json_response(int status, std::string body);
Response text_response(int status, std::string body);
// {"error":{"code":"…","message":"…"}}
Response error_response(int status, std::string_view code, std::string_view message);
Response error_response(const Error& error);
// "Not Found" for 404; "Unknown" for what we do not send.
std::string_view reason_phrase(int status);

// X-Content-Type-Options, X-Frame-Options, Referrer-Policy, Cross-Origin-*, Permissions-Policy and this
// Content-Security-Policy. Headers that are already there stay.
void add_security_headers(Response& response, std::string_view content_security_policy);
// Nothing may load or run: for JSON.
inline constexpr std::string_view api_content_security_policy = "default-src 'none'; frame-ancestors 'none'";
// Own files only, no inline script: for the UI.
inline constexpr std::string_view ui_content_security_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

// The value of one cookie out of a Cookie header, without its quotes; empty when absent.
std::string find_cookie(std::string_view cookie_header, std::string_view name);
// Characters that a header name may contain, and text that a value may contain.
bool is_token(std::string_view text);
bool is_field_value(std::string_view text);

} // namespace hone::net
