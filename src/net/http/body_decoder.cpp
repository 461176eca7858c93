#include "net/http/body_decoder.h"

#include "base/text.h"

#include <algorithm>
#include <charconv>

namespace hone::net {

namespace {

constexpr size_t max_line = 1024;        // of a chunk's size with extensions, or of one trailer field
constexpr size_t max_trailers = 8 << 10; // all together

} // namespace

BodyDecoder::BodyDecoder(Framing framing, uint64_t length) : m_remaining(length) {
    switch (framing) {
    case Framing::none:
        m_state = State::done;
        break;
    case Framing::length:
        m_state = length == 0 ? State::done : State::fixed;
        break;
    case Framing::chunked:
        m_state = State::size_line;
        break;
    case Framing::until_close:
        m_state = State::rest;
        break;
    }
}

size_t BodyDecoder::feed(std::string_view bytes, std::string& out) {
    size_t used = 0;
    while (used < bytes.size() && m_state != State::done && m_state != State::failed) {
        const std::string_view rest = bytes.substr(used);
        if (m_state == State::rest) {
            out += rest;
            return bytes.size();
        }
        if (m_state == State::fixed || m_state == State::data) {
            const size_t take = static_cast<size_t>(std::min<uint64_t>(rest.size(), m_remaining));
            out += rest.substr(0, take);
            used += take;
            m_remaining -= take;
            if (m_remaining == 0) m_state = m_state == State::fixed ? State::done : State::data_end;
        } else {
            used += feed_line(rest);
        }
    }
    return used;
}

size_t BodyDecoder::feed_line(std::string_view bytes) {
    const size_t end = bytes.find('\n');
    const size_t take = end == std::string_view::npos ? bytes.size() : end + 1;
    if (m_line.size() + take > max_line) {
        m_state = State::failed;
        return take;
    }
    m_line += bytes.substr(0, take);
    if (end != std::string_view::npos) finish_line();
    return take;
}

void BodyDecoder::finish_line() {
    std::string line;
    std::swap(line, m_line);
    if (line.size() < 2 || line[line.size() - 2] != '\r') {
        m_state = State::failed;
        return;
    }
    line.resize(line.size() - 2);
    if (!is_field_value(line)) {
        m_state = State::failed;
        return;
    }
    if (m_state == State::data_end) {
        m_state = line.empty() ? State::size_line : State::failed;
    } else if (m_state == State::trailer) {
        finish_trailer(line);
    } else {
        start_chunk(line);
    }
}

void BodyDecoder::finish_trailer(std::string_view line) {
    const size_t colon = line.find(':');
    m_trailer_bytes += line.size();
    if (line.empty())
        m_state = State::done;
    else if (m_trailer_bytes > max_trailers || colon == std::string_view::npos || !is_token(line.substr(0, colon)))
        m_state = State::failed;
}

// "1a2b" or "1a2b;name=value": extensions are checked for control characters only, and dropped.
void BodyDecoder::start_chunk(std::string_view line) {
    const size_t digits = std::min(line.find_first_of("; \t"), line.size());
    const std::string_view after = trim(line.substr(digits));
    uint64_t size = 0;
    const auto [end, failed] = std::from_chars(line.data(), line.data() + digits, size, 16);
    const bool good = digits > 0 && digits <= 15 && failed == std::errc() && end == line.data() + digits &&
                      (after.empty() || after.front() == ';');
    m_remaining = size;
    m_state = !good ? State::failed : size == 0 ? State::trailer : State::data;
}

} // namespace hone::net
