// How much a project and a space may send in a day (UTC). Counts what is acknowledged; over a limit a span is refused
// with a reason that names the quota. Counts outlive a restart (a crash may forget the last second). Thread-safe;
// called for every span, so it is quick.
#pragma once

#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace hone::telemetry {

struct Quota {
    int64_t spans_per_day = 0; // 0: no limit
    int64_t bytes_per_day = 0;
    bool is_set() const { return spans_per_day > 0 || bytes_per_day > 0; }
};

struct QuotaUse {
    int64_t day = 0; // since 1970
    int64_t spans = 0;
    int64_t bytes = 0;
};

class Quotas {
public:
    // Reads what the last run counted; a missing or damaged file means nothing was counted.
    Quotas(std::string state_file, const Clock& clock);
    ~Quotas(); // writes it

    // The part of a batch that one owner ("project_…", "space_…") takes; empty, or the quota that it is over.
    std::string_view take(std::string_view owner, const Quota& quota, int64_t spans, int64_t bytes);
    // A span that another quota refused, or that could not be stored, does not count.
    void give_back(std::string_view owner, const Quota& quota, int64_t spans, int64_t bytes);
    QuotaUse used_today(std::string_view owner) const;

    // Writes the counts when they changed and the last time is a second ago.
    void save_soon();

private:
    int64_t today() const;
    std::string encode() const REQUIRES_LOCK(m_mutex);
    void decode(std::string_view bytes);

    const std::string m_state_file;
    const Clock& m_clock;
    mutable Mutex m_mutex;
    std::map<std::string, QuotaUse, std::less<>> m_used GUARDED_BY(m_mutex);
    bool m_is_changed GUARDED_BY(m_mutex) = false;
    Duration m_last_saved GUARDED_BY(m_mutex){};
};

// "over the project's quota of spans per day": the reason in the ledger, from the result of Quotas::take.
std::string quota_reason(std::string_view whose, std::string_view what);
bool is_quota_reason(std::string_view reason);

} // namespace hone::telemetry
