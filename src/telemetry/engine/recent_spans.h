// How many spans each project got for each second lately, as the loader put them in. A list of the newest spans reads
// only as far back as it needs: no more than a hint, because a list reads on where it finds too few. Thread-safe.
#pragma once

#include "base/mutex.h"
#include "telemetry/span/span_row.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hone::telemetry {

class RecentSpans {
public:
    void add(std::span<const SpanRowHead> rows);
    // What the store has of a second, as read from it.
    void add_stored(std::string_view project, int64_t second, int64_t spans);

    // The start of the time, up to `to_ns`, that holds about the newest `count` spans. Nothing: not known. Before the
    // seconds that it counts a project is taken to be as dense as in them.
    std::optional<int64_t> start_of_newest(std::string_view project, int64_t to_ns, int64_t count) const;

    static constexpr size_t most_seconds = 1000; // of a project, in which there are spans
    static constexpr size_t most_projects = 1000;

private:
    using Seconds = std::map<int64_t, int64_t>; // number of spans, by the second of their start
    Seconds& of_project(std::string_view project) REQUIRES_LOCK(m_mutex);

    mutable Mutex m_mutex;
    std::map<std::string, Seconds, std::less<>> m_projects GUARDED_BY(m_mutex);
};

} // namespace hone::telemetry
