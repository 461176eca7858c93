// What happened to every span that was received, per project: it is stored, a repetition, rejected with a reason, or
// not in the engine yet. received = stored + repeated + pending + rejected, always. Plain data.
#pragma once

#include "base/fields.h"

#include <cstdint>
#include <map>
#include <string>

namespace hone::telemetry {

struct LedgerCounts {
    int64_t received = 0;
    int64_t stored = 0;
    int64_t repeated = 0;
    int64_t redacted = 0;                    // values replaced by redaction rules
    int64_t truncated = 0;                   // spans with values cut to the cap
    int64_t bytes = 0;                       // of the rows written to the log
    std::map<std::string, int64_t> rejected; // by reason

    // Beside the spans: log records that were stored or dropped, and points of metrics that arrived.
    int64_t log_records = 0;
    int64_t log_records_dropped = 0;
    int64_t metric_points = 0;
    int64_t metric_points_dropped = 0;
    std::map<std::string, int64_t> dropped; // log records and points of metrics, by reason

    bool has_records() const { return log_records != 0 || log_records_dropped != 0 || metric_points != 0; }
    void drop_log_records(const std::string& reason, int64_t count = 1) {
        log_records_dropped += count;
        dropped[reason] += count;
    }
    void drop_metric_points(const std::string& reason, int64_t count) {
        metric_points_dropped += count;
        dropped[reason] += count;
    }
    int64_t rejected_total() const {
        int64_t total = 0;
        for (const auto& [reason, count] : rejected) total += count;
        return total;
    }
    int64_t pending() const { return received - stored - repeated - rejected_total(); }

    void add(const LedgerCounts& other) {
        received += other.received;
        stored += other.stored;
        repeated += other.repeated;
        redacted += other.redacted;
        truncated += other.truncated;
        bytes += other.bytes;
        log_records += other.log_records;
        log_records_dropped += other.log_records_dropped;
        metric_points += other.metric_points;
        metric_points_dropped += other.metric_points_dropped;
        for (const auto& [reason, count] : other.rejected) rejected[reason] += count;
        for (const auto& [reason, count] : other.dropped) dropped[reason] += count;
    }
};

using Ledger = std::map<std::string, LedgerCounts, std::less<>>; // by project id

} // namespace hone::telemetry
