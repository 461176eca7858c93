#include "api/core/live_streams.h"

#include "base/log.h"

namespace hone::api {

namespace {

constexpr auto watch_every = std::chrono::milliseconds(200);
constexpr int64_t steps_between_full_checks = 50; // ten seconds

} // namespace

LiveStreams::LiveStreams(const access::AuditLog& audit)
    : m_audit(audit),
      m_duty({"rights of event streams", watch_every}, [this]() -> Result<> {
          step(++m_steps % steps_between_full_checks == 0);
          return {};
      }) {}

void LiveStreams::add(std::shared_ptr<net::EventStream> events, std::function<bool()> is_allowed) {
    const Lock lock(m_mutex);
    m_streams.push_back({std::move(events), std::move(is_allowed)});
    if (m_is_started) return;
    m_duty.start();
    m_is_started = true;
}

int64_t LiveStreams::step(bool always) {
    {
        const Lock lock(m_mutex);
        m_streams.remove_if([](const Stream& stream) { return !stream.events->is_open(); });
        if (m_streams.empty()) return 0;
    }
    const auto changed = [&] {
        const Lock lock(m_stepping);
        return m_audit.rights_changed_since(m_seen);
    }();
    // A database that does not respond must not keep a stream open: the checks fail too, and end it.
    if (changed.ok() && !changed.value() && !always) return 0;
    std::list<Stream> streams;
    {
        const Lock lock(m_mutex);
        streams = m_streams;
    }
    int64_t ended = 0;
    for (const Stream& stream : streams) {
        if (!stream.events->is_open() || stream.is_allowed()) continue;
        stream.events->cut(); // what still waits to be sent is not sent
        ++ended;
    }
    if (ended > 0) log(Level::info, "event streams ended: their callers lost the permission", {{"count", ended}});
    return ended;
}

} // namespace hone::api
