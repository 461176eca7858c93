// The times of chat sessions that the loader writes: those that the table does not have yet. A session that continues
// is written once an hour. Used by the loader's thread alone.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace hone::telemetry {

class SessionTimes {
public:
    void add(std::string_view project, std::string_view chat_session, int64_t start_ns);
    // Rows of `hone.session_times` in RowBinary for what was added since written(); empty: the table has it.
    std::string rows() const;
    // They are in the table.
    void written();
    void forget();

    static constexpr size_t most_sessions = 100'000; // that are remembered

private:
    using Key = std::pair<std::string, std::string>; // project, session
    struct Times {
        int64_t first_ns = 0;
        int64_t last_ns = 0; // the end of the hour of the last span
    };
    std::map<Key, Times> m_known; // in the table
    std::map<Key, Times> m_added;
};

} // namespace hone::telemetry
