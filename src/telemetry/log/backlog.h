// Spans that were acknowledged and are not in the engine yet, and why: what readiness, metrics, `hone check`, the web
// UI and notices report when it lasts. Plain data; Telemetry::backlog() makes it.
#pragma once

#include "base/fields.h"
#include "base/time.h"

#include <deque>
#include <string>

namespace hone::telemetry {

struct Backlog {
    int64_t spans = 0;
    int64_t bytes = 0;           // of the log that holds them
    Duration oldest_wait{};      // how long the oldest of them has waited
    uint64_t first_sequence = 0; // of the oldest in the log
    int64_t failures = 0;        // attempts to store that failed since the start of this server
    std::string why;             // the last attempt failed for this reason; empty: it did not fail
    bool is_late = false;        // the oldest has waited as long as span_wait_limit

    bool is_failing() const { return is_late && !why.empty(); }
    // "12,345 spans have waited 3 min to be stored: …"; empty when they are not late.
    std::string problem() const;
};

// What a person can do about it.
std::string backlog_advice();

// The same of log records and points of metrics, which have a log of their own.
struct RecordBacklog {
    int64_t requests = 0;
    int64_t bytes = 0;      // of the log that holds them
    Duration oldest_wait{}; // of those of an earlier server: since the start of this one
    int64_t failures = 0;
    std::string why;
    bool is_late = false;

    bool is_failing() const { return is_late && !why.empty(); }
    std::string problem() const;
};
std::string record_backlog_advice();

// Since when the oldest frame of a log waits, in the steps of a second: of each second only the first frame is kept.
// Not thread-safe. Times are those of a steady clock.
class WaitingFrames {
public:
    void add(uint64_t sequence, Duration now);
    // Everything before `next` was loaded; `after_last`: the sequence after the last frame of the log.
    void loaded(uint64_t next, uint64_t after_last);
    Duration oldest_wait(Duration now) const { return m_first.empty() ? Duration{} : now - m_first.front().since; }

private:
    struct Frame {
        uint64_t sequence;
        Duration since;
    };
    std::deque<Frame> m_first; // the front is the oldest
};

// The same for the API.
struct BacklogView {
    int64_t spans = 0;
    int64_t bytes = 0;
    int64_t oldest_wait_seconds = 0;
    int64_t failures = 0;
    bool is_late = false;
    std::string problem;
    std::string advice;
    static constexpr Pack fields{
        Field{"spans", &BacklogView::spans, "Acknowledged spans that are not stored yet."},
        Field{"bytes", &BacklogView::bytes, "Their size in the span log."},
        Field{"oldest_wait_seconds", &BacklogView::oldest_wait_seconds, "Waiting time of the oldest of them."},
        Field{"failures", &BacklogView::failures, "Failed attempts to store spans since the server started."},
        Field{"is_late", &BacklogView::is_late, "The oldest has waited longer than `span_wait_limit`."},
        Field{"problem", &BacklogView::problem,
              "Number of waiting spans, their waiting time and the reason; empty when they are not late."},
        Field{"advice", &BacklogView::advice, "What to do; empty when they are not late."},
    };
};

BacklogView view_of(const Backlog& backlog);

} // namespace hone::telemetry
