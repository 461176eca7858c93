// One HTTP request to the engine, read from a socket: the part of ClickHouse's HTTP interface that we use. The engine
// process reads with it; bounded, fuzzed. One thread.
#pragma once

#include "base/result.h"

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::telemetry {

struct EngineRequest {
    std::string method;
    std::string path;
    std::string user;                                            // X-ClickHouse-User
    std::string query;                                           // SQL from the URL; empty: the body is the SQL
    std::vector<std::pair<std::string, std::string>> parameters; // param_x=… without the prefix
    std::vector<std::pair<std::string, std::string>> settings;   // every other argument of the URL
    bool stream = false;                                         // X-Hone-Stream: send pieces as they come
    bool chunked = false;
    uint64_t content_length = 0;
    bool keep_alive = true;
};

// The request line and header fields, up to and without the empty line.
Result<EngineRequest> parse_engine_request(std::string_view head);

// Reads requests and bodies from a connected socket, and writes responses.
class EngineConnection {
public:
    explicit EngineConnection(int socket) : m_socket(socket) {}

    // not_found at a clean end between requests.
    Result<EngineRequest> read_head();
    // The next piece of the body, valid until the next call; empty at its end.
    Result<std::string_view> read_body(const EngineRequest& request);
    Result<> respond(int status, std::string_view headers, std::string_view body);
    Result<> begin_chunks();
    Result<> chunk(std::string_view bytes);
    Result<> end_chunks();

private:
    Result<size_t> receive(char* bytes, size_t size); // 0 at the end of the stream
    Result<bool> fill();                              // false at the end of the stream
    Result<std::string> read_line();
    Result<> send(std::string_view bytes);

    int m_socket;
    std::string m_buffer;
    std::string m_piece;
    uint64_t m_left = 0; // of the body or of the chunk
    bool m_body_begun = false;
    bool m_body_ended = false;
};

} // namespace hone::telemetry
