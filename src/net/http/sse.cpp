#include "net/http/sse.h"

#include "base/text.h"

#include <algorithm>

namespace hone::net {

namespace {

void append_plain(std::string& out, std::string_view text) {
    std::copy_if(text.begin(), text.end(), std::back_inserter(out),
                 [](char c) { return c != '\n' && c != '\r' && c != '\0'; });
}

} // namespace

std::string format_event(std::string_view event, std::string_view id, std::string_view data) {
    std::string out;
    out.reserve(event.size() + id.size() + data.size() + 32);
    if (!id.empty()) {
        out += "id: ";
        append_plain(out, id);
        out += '\n';
    }
    if (!event.empty()) {
        out += "event: ";
        append_plain(out, event);
        out += '\n';
    }
    for (;;) {
        const size_t end = data.find_first_of("\r\n");
        out += "data: ";
        out += data.substr(0, end);
        out += '\n';
        if (end == std::string_view::npos) break;
        data.remove_prefix(data.substr(end).starts_with("\r\n") ? end + 2 : end + 1);
    }
    out += '\n';
    return out;
}

Result<> EventParser::feed(std::string_view bytes, const std::function<Result<>(ServerEvent&&)>& callback) {
    if (m_failed) return invalid("the event stream was broken before");
    m_failed = true; // until all went well: an early return leaves it so
    while (!bytes.empty()) {
        if (m_after_return && bytes.front() == '\n') {
            m_after_return = false;
            bytes.remove_prefix(1);
            continue;
        }
        m_after_return = false;
        const size_t end = bytes.find_first_of("\r\n");
        m_line += bytes.substr(0, end);
        if (m_line.size() + m_data.size() > m_limit)
            return too_large("an event is larger than " + std::to_string(m_limit) + " bytes");
        if (end == std::string_view::npos) break;
        m_after_return = bytes[end] == '\r';
        bytes.remove_prefix(end + 1);
        TRY(finish_line(callback));
    }
    m_failed = false;
    return {};
}

Result<> EventParser::finish_line(const std::function<Result<>(ServerEvent&&)>& callback) {
    std::string line;
    std::swap(line, m_line);
    std::string_view text = line;
    if (m_first_line && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    m_first_line = false;
    if (text.empty()) return dispatch(callback);
    const size_t colon = text.find(':');
    if (colon == 0) return {}; // a comment, such as a heartbeat
    std::string_view value = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    take_field(text.substr(0, colon), value);
    return {};
}

void EventParser::take_field(std::string_view name, std::string_view value) {
    if (name == "data") {
        if (m_has_data) m_data += '\n';
        m_data += value;
        m_has_data = true;
    } else if (name == "event") {
        m_event = value;
    } else if (name == "id") {
        if (value.find('\0') == std::string_view::npos) m_last_id = value;
    } else if (name == "retry") {
        const bool digits = !value.empty() && value.size() <= 9 &&
                            std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
        if (digits) m_retry_ms = parse_integer(value).value();
    }
}

Result<> EventParser::dispatch(const std::function<Result<>(ServerEvent&&)>& callback) {
    ServerEvent event;
    std::swap(event.event, m_event);
    std::swap(event.data, m_data);
    const bool has_data = std::exchange(m_has_data, false);
    if (!has_data) return {};
    if (event.event.empty()) event.event = "message";
    event.id = m_last_id;
    return callback(std::move(event));
}

} // namespace hone::net
