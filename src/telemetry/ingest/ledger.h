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
        for (const auto& [reason, count] : other.rejected) rejected[reason] += count;
    }
};

using Ledger = std::map<std::string, LedgerCounts, std::less<>>; // by project id

} // namespace hone::telemetry
