#include "telemetry/span/session_times.h"

#include "telemetry/span/binary.h"

#include <algorithm>
#include <limits>

namespace hone::telemetry {

namespace {

constexpr int64_t session_hour_ns = 3'600'000'000'000;

int64_t end_of_hour(int64_t ns) {
    const int64_t hour = ns / session_hour_ns;
    if (hour >= std::numeric_limits<int64_t>::max() / session_hour_ns) return ns;
    return (hour + 1) * session_hour_ns - 1;
}

} // namespace

void SessionTimes::add(std::string_view project, std::string_view chat_session, int64_t start_ns) {
    if (chat_session.empty()) return;
    Key key{project, chat_session};
    const auto known = m_known.find(key);
    if (known != m_known.end() && known->second.first_ns <= start_ns && start_ns <= known->second.last_ns) return;
    const Times times{start_ns, end_of_hour(start_ns)};
    const auto [place, is_new] = m_added.try_emplace(std::move(key), times);
    if (is_new) return;
    place->second.first_ns = std::min(place->second.first_ns, times.first_ns);
    place->second.last_ns = std::max(place->second.last_ns, times.last_ns);
}

std::string SessionTimes::rows() const {
    std::string rows;
    for (const auto& [key, times] : m_added) {
        put_text(rows, key.first);
        put_text(rows, key.second);
        put_number(rows, times.first_ns);
        put_number(rows, times.last_ns);
    }
    return rows;
}

void SessionTimes::written() {
    if (m_known.size() + m_added.size() > most_sessions) m_known.clear();
    for (auto& [key, times] : m_added) {
        const auto [place, is_new] = m_known.try_emplace(key, times);
        if (is_new) continue;
        place->second.first_ns = std::min(place->second.first_ns, times.first_ns);
        place->second.last_ns = std::max(place->second.last_ns, times.last_ns);
    }
    m_added.clear();
}

void SessionTimes::forget() {
    m_known.clear();
    m_added.clear();
}

} // namespace hone::telemetry
