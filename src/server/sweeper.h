// What the server deletes or writes once a minute: data of deleted projects, old logins, responses, spans and notices.
// step() is what tests call; one thread calls it. Another one reads every second how the span engine merges.
#pragma once

#include "access/access.h"
#include "base/duty.h"
#include "identity/identity.h"
#include "server/monitors.h"
#include "telemetry/span_duties.h"

namespace hone::server {

class Sweeper {
public:
    Sweeper(access::Access& access, telemetry::SpanDuties& spans, secret::Vault& vault, MonitorDuties& monitors,
            identity::Identities& identities)
        : m_access(access),
          m_spans(spans),
          m_vault(vault),
          m_monitors(monitors),
          m_identities(identities),
          m_duty({"sweeper", std::chrono::minutes(1)},
                 [this]() -> Result<> {
                     step();
                     return {};
                 }),
          m_merges({"span merges", std::chrono::seconds(1), 1, false}, [this] { return m_spans.read_merges(); }) {}
    void step();
    void start() {
        m_duty.start();
        m_merges.start();
    }
    // Runs a step soon, without waiting for its time.
    void wake() { m_duty.wake(); }

private:
    access::Access& m_access;
    telemetry::SpanDuties& m_spans;
    secret::Vault& m_vault;
    MonitorDuties& m_monitors;
    identity::Identities& m_identities;
    Duty m_duty; // the last members: their threads end before what they use is destroyed
    Duty m_merges;
};

} // namespace hone::server
