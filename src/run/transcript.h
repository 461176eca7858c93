// The transcript of a run: an append-only log of events with sequence numbers, durable before it is announced. Texts
// are made harmless on the way in (control and direction characters, secrets, size). Thread-safe.
#pragma once

#include "base/mutex.h"
#include "run/run.h"
#include "sql/sql.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <set>
#include <span>
#include <stop_token>

namespace hone::run {

// Shown with the event; the rest, up to `full_text`, on demand.
constexpr size_t shown_text = 16 << 10;
constexpr size_t full_text = 1 << 20;

// Control characters other than newline and tab become pictures of themselves, direction overrides their code;
// malformed UTF-8 is repaired.
std::string harmless(std::string_view text);

// What was announced since the last call.
struct TranscriptChanges {
    uint64_t seen = 0;    // give it to the next call
    bool any_run = false; // it is not known which runs: read all
    std::set<RunId> runs;
};

class Transcript {
public:
    Transcript(sql::Database& database, const Clock& clock) : m_database(database), m_clock(clock) {}

    // Appends within a transaction of the caller; sets `seq` and `time`. Call `announce` after the commit.
    Result<> append(sql::Transaction& transaction, const RunId& run, std::span<RunEvent> events);
    // Appends and announces.
    Result<> append(const RunId& run, std::vector<RunEvent> events);
    void announce(const RunId& run);

    // Events after `seq`, oldest first.
    Result<std::vector<RunEvent>> after(const RunId& run, int64_t seq, int64_t limit) const;
    // One event with its texts as long as they are kept.
    Result<RunEvent> whole(const RunId& run, int64_t seq) const;
    // Waits until something was announced since `seen` (a number from an earlier call; 0 at first), at most `timeout`;
    // then any run may have changed: another server may have written.
    TranscriptChanges wait(uint64_t seen, Duration timeout, std::stop_token stop) const;

private:
    sql::Database& m_database;
    const Clock& m_clock;
    mutable std::mutex m_mutex;
    mutable std::condition_variable_any m_announced;
    uint64_t m_announcements = 0;
    std::deque<RunId> m_last; // whose the last of them were
};

} // namespace hone::run
