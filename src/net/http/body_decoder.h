// Takes the framing off a message body: fixed length, chunked, or all until the connection ends. Incremental, strict,
// holds at most one line of framing. Used by the edge and the client; one thread at a time.
#pragma once

#include "net/http/head_parser.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace hone::net {

class BodyDecoder {
public:
    BodyDecoder() = default;
    BodyDecoder(Framing framing, uint64_t length);

    // Appends content to `out` and returns how many of the bytes belong to this message: all, unless done or failed.
    size_t feed(std::string_view bytes, std::string& out);
    bool is_done() const { return m_state == State::done; }
    bool is_failed() const { return m_state == State::failed; }
    // The connection ended: true when that is a proper end of the body.
    bool finish_at_end() const { return is_done() || m_state == State::rest; }

private:
    enum class State { fixed, size_line, data, data_end, trailer, rest, done, failed };
    size_t feed_line(std::string_view bytes);
    void finish_line();
    void finish_trailer(std::string_view line);
    void start_chunk(std::string_view line);

    State m_state = State::done;
    uint64_t m_remaining = 0;
    std::string m_line;
    size_t m_trailer_bytes = 0;
};

} // namespace hone::net
