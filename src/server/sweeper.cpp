#include "server/sweeper.h"

#include "base/log.h"

namespace hone::server {

void Sweeper::step() {
    const auto note = [](const char* what, const auto& outcome) {
        if (!outcome.ok())
            log(Level::warning, "background duty failed", {{"duty", what}, {"why", outcome.error().message}});
    };
    note("project data", m_access.projects.purge());
    note("logins", m_access.logins.sweep());
    note("idempotent responses", m_access.idempotent_responses.sweep());
    note("retention of spans", m_spans.step());
    note("use of secrets", m_vault.flush_used());
    note("notices and monitors", m_monitors.sweep());
    note("sign-ins", m_identities.sign_on.sweep());
    note("agents", m_identities.agents.sweep());
}

} // namespace hone::server
