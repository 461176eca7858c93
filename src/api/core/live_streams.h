// Ends event streams whose caller lost the right to them: a revoked key, an ended login, a changed role or binding, a
// deleted project. Every such change has an entry in the audit log, so one thread watches its head (also for changes
// that another server on the same database makes) and repeats the checks of each stream's request when there is one;
// every ten seconds it repeats them for what merely expires. Thread-safe.
#pragma once

#include "access/audit/audit.h"
#include "base/duty.h"
#include "base/mutex.h"
#include "net/http/http.h"

#include <functional>
#include <list>
#include <memory>

namespace hone::api {

class LiveStreams {
public:
    explicit LiveStreams(const access::AuditLog& audit);

    // `is_allowed` repeats the checks of the request; called on the thread of this object.
    void add(std::shared_ptr<net::EventStream> events, std::function<bool()> is_allowed);

    // Checks all streams if the audit log has a change since the last time, or if `always`. Returns how many it ended.
    int64_t step(bool always);

private:
    struct Stream {
        std::shared_ptr<net::EventStream> events;
        std::function<bool()> is_allowed;
    };

    const access::AuditLog& m_audit;
    Mutex m_mutex;
    std::list<Stream> m_streams GUARDED_BY(m_mutex);
    Mutex m_stepping;
    int64_t m_seen GUARDED_BY(m_stepping) = -1;
    bool m_is_started GUARDED_BY(m_mutex) = false;
    int64_t m_steps = 0; // of the duty's thread
    Duty m_duty;         // started with the first stream
};

} // namespace hone::api
