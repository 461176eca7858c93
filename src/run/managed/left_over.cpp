#include "run/managed/left_over.h"

#include "base/log.h"

namespace hone::run {

Result<> stop_left_over(ManagedServices& services, std::span<const std::string> others) {
    for (const ManagedSession& left : TRY(services.sessions.left_over(others))) {
        const bool is_deleted = !services.store.read(left.run).ok();
        const auto stopped = [&]() -> Result<> {
            if (left.stopped_at && !is_deleted) return {};
            const skill::Grant grant = TRY(services.skills.grant(left.space, {left.skill_id}, {}));
            if (grant.models.empty()) return conflict("its model skill has no endpoint any more");
            skill::ModelEndpoint endpoint = grant.models.front();
            endpoint.base_url = left.base_url;
            const auto transport = services.links.transport(left.space, left.run, endpoint);
            managed::Api api({left.base_url, {}, services.pace}, *transport, services.clock);
            managed::Launch launch(api);
            net::Cancel never;
            if (!left.session_id.empty())
                TRY(is_deleted ? launch.forget(left.session_id, never) : launch.stop(left.session_id, never));
            if (!left.vault_id.empty()) TRY(api.delete_vault(left.vault_id, never));
            return {};
        }();
        // Without its key nothing can be done about it any more.
        const bool is_hopeless =
            !stopped.ok() && (stopped.error().code == Code::not_found || stopped.error().code == Code::conflict);
        if (!stopped.ok())
            log(Level::warning, "managed session not stopped",
                {{"run", left.run.text()}, {"session", left.session_id}, {"why", stopped.error().message}});
        if (!stopped.ok() && !is_hopeless) continue;
        TRY(is_deleted ? services.sessions.remove(left.run) : services.sessions.set_stopped(left.run));
    }
    return {};
}

} // namespace hone::run
