// Finds what tasks of evaluators evaluate: spans, traces and chat sessions that match a filter and are in the sample.
// The sample is a hash of the trace (of a chat session: of its name), so that tasks with one rate have the same targets
// and a higher rate keeps them. Spans of evaluators are never targets. Thread-safe, blocking.
#pragma once

#include "base/time.h"
#include "telemetry/engine/clickhouse.h"
#include "telemetry/engine/eval_row.h"

#include <optional>
#include <string>
#include <vector>

namespace hone::telemetry {

constexpr int64_t whole_ppm = 1'000'000;

// Targets that match its filter are sampled at its rate; the first stratum that matches decides.
struct TargetStratum {
    std::string filter;
    int64_t rate_ppm = whole_ppm;
};

struct TargetSample {
    std::string project;
    EvalTarget target = EvalTarget::span;
    std::string filter; // of a trace or a chat session: one of its spans matches
    int64_t rate_ppm = whole_ppm;
    std::vector<TargetStratum> strata;
};

// Which are complete, by the time at which their last span was received. All in nanoseconds.
struct ReadyTargets {
    int64_t received_after = 0; // a span was received after this time
    int64_t last_until = 0;     // and none after this one
    int64_t rootless_until = 0; // the same for traces whose root is missing
    int64_t first_until = 0;    // of chat sessions: also those that began before this time, although they continue
};

struct FoundTarget {
    std::string id;
    std::string trace_id; // of a span
    int64_t start_ns = 0;
    int64_t last_ns = 0;     // when its last span was received
    double inclusion = 1;    // probability of being in the sample
    bool is_complete = true; // false: a chat session that continues
};

struct TargetCursor {
    int64_t at = 0; // last_ns of new targets, start_ns of past ones
    std::string id;
};

struct TargetCount {
    int64_t hour_ns = 0; // start of the hour
    int64_t received = 0;
    int64_t matched = 0;
};

struct PastTargets {
    int64_t received = 0;
    int64_t matched = 0;
    int64_t sampled = 0;
};

class EvalTargets {
public:
    explicit EvalTargets(ClickHouse& engine) : m_engine(engine) {}

    // Oldest first, after the cursor.
    Result<std::vector<FoundTarget>> find_new(const TargetSample& sample, const ReadyTargets& ready,
                                              const TargetCursor& after, size_t limit);
    // Of each hour since `from_ns`, the start of an hour: targets whose last span was received in it.
    Result<std::vector<TargetCount>> count_by_hour(const TargetSample& sample, const ReadyTargets& ready,
                                                   int64_t from_ns);
    // Those that began in [from_ns, to_ns), newest first, before the cursor. A chat session begins with its first span.
    Result<std::vector<FoundTarget>> find_past(const TargetSample& sample, int64_t from_ns, int64_t to_ns,
                                               const std::optional<TargetCursor>& before, size_t limit);
    Result<PastTargets> count_past(const TargetSample& sample, int64_t from_ns, int64_t to_ns);

private:
    ClickHouse& m_engine;
};

} // namespace hone::telemetry
