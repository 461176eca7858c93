// What arrives about a span in requests of its own: log records that name it, and the start and the end of runs that
// are sent separately. Parts wait here for their span, or for the other parts, whatever arrives first: on disk (a
// write-ahead log of their own) and in memory, for a day and up to a limit of bytes, then the oldest are dropped.
// Spans that were stored before their log records are requested to be joined (span_joiner.h). Thread-safe.
#pragma once

#include "base/mutex.h"
#include "base/time.h"
#include "telemetry/log/wal.h"

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace hone::telemetry {

struct SpanKey {
    std::string project;  // its id
    std::string trace_id; // 16 raw bytes
    std::string span_id;  // 8 raw bytes

    std::string text() const { return trace_id + span_id + project; }
    friend auto operator<=>(const SpanKey&, const SpanKey&) = default;
};

// The numbers are on disk: never change one.
enum class PartKind : uint8_t { log = 1, run = 2 };

struct SpanPart {
    SpanKey key;
    PartKind kind = PartKind::log;
    std::string bytes; // an OTLP trace request in protobuf with one span; redacted
};

// Spans that may be stored without their log records: look for them once the span log is loaded up to `sequence`.
struct JoinRequest {
    std::vector<SpanKey> keys;
    uint64_t sequence = 0;
};

struct SpanPartsOptions {
    WalOptions wal;
    Duration kept_for = std::chrono::hours(24);
    size_t memory_bytes = 64 << 20;
};

class SpanParts {
public:
    // Reads what waits on disk.
    static Result<std::unique_ptr<SpanParts>> open(SpanPartsOptions options, const Clock& clock);

    // On disk when it returns. A part that is there already is left out.
    Result<> add(std::vector<SpanPart> parts);
    // In the order of arrival.
    std::vector<std::string> of(const SpanKey& key, PartKind kind) const;
    bool has(const SpanKey& key, PartKind kind) const;
    bool is_empty() const { return m_count == 0; }
    // Grows with every part: a span that was checked before it grew is checked again after it is stored.
    uint64_t generation() const { return m_generation; }

    void request_join(std::vector<SpanKey> keys, uint64_t sequence);
    // All requests that wait, as one; nothing when stop is requested. Calling it again ends the one before.
    std::optional<JoinRequest> next_request(std::stop_token stop);
    // Until no request waits and none is worked on: joined spans can be read. False when the time is over.
    bool wait_joined(Duration most);
    // The same for the spans of one trace.
    void await_trace(const std::string& project, std::string_view trace_id, Duration most);
    // Keys of log records that arrived within this time.
    std::vector<SpanKey> recent_logs(Duration within) const;

    // Drops the parts of a deleted project.
    void forget(const std::string& project);

private:
    struct Entry {
        uint64_t sequence = 0;
        int64_t received_ns = 0;
        SpanPart part;
    };
    using Entries = std::vector<std::shared_ptr<const Entry>>; // shared with the order of arrival

    SpanParts(SpanPartsOptions options, const Clock& clock) : m_options(std::move(options)), m_clock(clock) {}
    Result<> read_log();
    void keep(uint64_t sequence, int64_t received_ns, std::vector<SpanPart> parts) REQUIRES_LOCK(m_mutex);
    void drop_old() REQUIRES_LOCK(m_mutex);
    void drop_front() REQUIRES_LOCK(m_mutex);

    const SpanPartsOptions m_options;
    const Clock& m_clock;
    std::unique_ptr<Wal> m_wal;
    std::atomic<size_t> m_count{0};
    std::atomic<uint64_t> m_generation{0};
    mutable Mutex m_mutex;
    Condition m_requested;
    std::map<std::string, Entries> m_by_key GUARDED_BY(m_mutex);
    std::deque<std::shared_ptr<const Entry>> m_order GUARDED_BY(m_mutex);
    size_t m_bytes GUARDED_BY(m_mutex) = 0;
    std::optional<JoinRequest> m_request GUARDED_BY(m_mutex);
    bool m_is_joining GUARDED_BY(m_mutex) = false;
    std::vector<SpanKey> m_joining GUARDED_BY(m_mutex); // worked on
};

} // namespace hone::telemetry
