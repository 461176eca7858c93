// Server-Sent Events: writing one event, and an incremental, bounded parser for the client's side. Any thread, one at
// a time per parser.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hone::net {

// Empty event and id are left out; line breaks in them are dropped, in data they are kept.
std::string format_event(std::string_view event, std::string_view id, std::string_view data);

struct ServerEvent {
    std::string event; // "message" when the stream did not say
    std::string id;    // the last id seen so far, for Last-Event-ID
    std::string data;
};

class EventParser {
public:
    // An event (with all its lines) above `limit` bytes is an error.
    explicit EventParser(size_t limit = 4 << 20) : m_limit(limit) {}
    // Calls back for each event that these bytes complete. After an error the parser stays failed.
    Result<> feed(std::string_view bytes, const std::function<Result<>(ServerEvent&&)>& callback);
    const std::string& last_id() const { return m_last_id; }
    std::optional<int64_t> retry_ms() const { return m_retry_ms; }

private:
    Result<> finish_line(const std::function<Result<>(ServerEvent&&)>& callback);
    Result<> dispatch(const std::function<Result<>(ServerEvent&&)>& callback);
    void take_field(std::string_view name, std::string_view value);

    size_t m_limit;
    std::string m_line;
    std::string m_event;
    std::string m_data;
    std::string m_last_id;
    std::optional<int64_t> m_retry_ms;
    bool m_has_data = false;
    bool m_after_return = false; // a line feed that follows a carriage return is part of the same line end
    bool m_first_line = true;    // a byte order mark may stand before it
    bool m_failed = false;
};

} // namespace hone::net
