#include "telemetry/engine/recent_spans.h"

#include <algorithm>

namespace hone::telemetry {

namespace {

constexpr int64_t second_ns = 1'000'000'000;

} // namespace

RecentSpans::Seconds& RecentSpans::of_project(std::string_view project) {
    auto place = m_projects.find(project);
    if (place == m_projects.end()) {
        if (m_projects.size() >= most_projects) m_projects.clear(); // a hint: lists read further without it
        place = m_projects.emplace(std::string(project), Seconds()).first;
    }
    return place->second;
}

void RecentSpans::add(std::span<const SpanRowHead> rows) {
    const Lock lock(m_mutex);
    std::string_view last_project;
    Seconds* seconds = nullptr;
    for (const SpanRowHead& row : rows) {
        if (!seconds || row.project != last_project) {
            seconds = &of_project(row.project);
            last_project = row.project;
        }
        ++(*seconds)[row.start_ns / second_ns];
        if (seconds->size() > most_seconds) seconds->erase(seconds->begin());
    }
}

void RecentSpans::add_stored(std::string_view project, int64_t second, int64_t spans) {
    const Lock lock(m_mutex);
    Seconds& seconds = of_project(project);
    int64_t& known = seconds[second];
    known = std::max(known, spans); // those that were loaded by this process are among them
    if (seconds.size() > most_seconds) seconds.erase(seconds.begin());
}

std::optional<int64_t> RecentSpans::start_of_newest(std::string_view project, int64_t to_ns, int64_t count) const {
    const Lock lock(m_mutex);
    const auto place = m_projects.find(project);
    if (place == m_projects.end()) return std::nullopt;
    const Seconds& seconds = place->second;
    int64_t found = 0, all = 0;
    for (auto second = seconds.rbegin(); second != seconds.rend(); ++second) {
        all += second->second;
        if (second->first * second_ns >= to_ns) continue;
        found += second->second;
        if (found >= count) return second->first * second_ns;
    }
    if (seconds.size() < most_seconds) return std::nullopt;
    // What began before these seconds is not counted: it is taken to be as dense.
    const int64_t oldest = seconds.begin()->first, length = seconds.rbegin()->first - oldest + 1;
    const double back_s = static_cast<double>(count - found) * static_cast<double>(length) / static_cast<double>(all);
    const int64_t from_s = std::min(oldest, to_ns / second_ns) - static_cast<int64_t>(std::min(back_s, 1e9)) - 1;
    return from_s > 0 ? std::optional(from_s * second_ns) : std::nullopt;
}

} // namespace hone::telemetry
