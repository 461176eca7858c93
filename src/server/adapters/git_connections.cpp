#include "server/adapters/git_connections.h"

#include "base/log.h"
#include "base/text.h"
#include "forge/credential.h"
#include "server/adapters/space_secrets.h"

namespace hone::server {

namespace {

// Of a token for which the skill names no form: every forge takes it as the password of any user.
constexpr std::string_view usual_format = "Basic x-access-token:{}";

// A request that cannot be recorded is not sent.
class AuditedFetch final : public broker::Decisions {
public:
    AuditedFetch(const access::AuditLog& audit, access::SpaceId space, std::string purpose)
        : m_audit(audit),
          m_space(std::move(space)),
          m_purpose(std::move(purpose)) {}
    Result<> decided(broker::Decision& decision) override {
        return record(decision.allowed ? "forge_request" : "forge_request_refused", decision, decision.reason);
    }
    // The rules allowed it, and it got no response: the address of the host is blocked, or nothing responds there.
    void finished(const broker::Decision& decision, const broker::Outcome& outcome) override {
        log(Level::debug, "request to a forge finished",
            {{"target", decision.target.text()}, {"status", outcome.status}, {"error", outcome.error}});
        if (outcome.status != 0 || outcome.error.empty()) return;
        if (const auto recorded = record("forge_request_failed", decision, outcome.error); !recorded.ok())
            log(Level::warning, "failed request to a forge not audited", {{"error", recorded.error().message}});
    }

private:
    Result<> record(std::string_view action, const broker::Decision& decision, const std::string& reason) const {
        json::Array secrets;
        for (const std::string& name : decision.secret_names) secrets.emplace_back(name);
        return m_audit.record(access::Caller::system(), {action,
                                                         m_space,
                                                         m_purpose,
                                                         {{"method", decision.method},
                                                          {"target", decision.target.text()},
                                                          {"path", std::string(truncate_utf8(decision.path, 500))},
                                                          {"reason", std::string(truncate_utf8(reason, 500))},
                                                          {"secrets", std::move(secrets)}}});
    }

    const access::AuditLog& m_audit;
    const access::SpaceId m_space;
    const std::string m_purpose;
};

class BrokeredGitConnection final : public forge::GitConnection {
public:
    BrokeredGitConnection(broker::Broker& broker, std::string id) : m_broker(broker), m_id(std::move(id)) {}
    ~BrokeredGitConnection() override { m_broker.detach(m_id); }

private:
    broker::Broker& m_broker;
    const std::string m_id;
};

class ForwardedGit final : public broker::GitResponse {
public:
    explicit ForwardedGit(std::unique_ptr<forge::GitExchange> exchange) : m_exchange(std::move(exchange)) {}
    Result<> write(std::string_view bytes) override { return m_exchange->write(bytes); }
    Result<> finish() override { return m_exchange->finish(); }
    Result<std::string> read() override { return m_exchange->read(); }

private:
    std::unique_ptr<forge::GitExchange> m_exchange;
};

} // namespace

// The credential of the skill for this forge, limited to this repository; without a skill the repository alone.
Result<skill::Grant> BrokeredGitConnections::grant_for(const forge::Remote& remote) const {
    const forge::Place place = TRY(forge::place_of(remote.url));
    const skill::HostRule rule{place.host, place.port, true, {"GET", "POST"}, place.path, false};
    skill::Grant narrow;
    if (remote.skill_id.empty()) {
        narrow.allow = {rule};
        return narrow;
    }
    const std::vector<std::string> skills{remote.skill_id};
    const skill::Grant whole =
        TRY(m_skills.resolve(access::Caller::system(), remote.space, skills, skill::for_delivery()));
    const skill::Credential* chosen = forge::choose_credential(whole, place, forge::ForgeUse::git);
    if (chosen == nullptr) return invalid("the skill has no credential for " + place.host);
    if (remote.writes) TRY(forge::check_may_write(*chosen));
    skill::Credential used = *chosen;
    used.brokered = true;
    used.hosts = {rule};
    if (used.header.empty()) used.header = "authorization", used.format = usual_format;
    narrow.credentials = {std::move(used)};
    return narrow;
}

Result<std::unique_ptr<forge::GitConnection>> BrokeredGitConnections::open(const forge::Remote& remote,
                                                                           std::vector<Fd> listeners) {
    if (m_broker == nullptr) return unavailable("the server is still starting");
    if (listeners.empty()) return internal("the sandbox has no listeners");
    broker::RunAccess access;
    access.run_id = remote.purpose + "/" + make_ulid(m_clock.now());
    access.space_id = remote.space.text();
    access.grant = TRY(grant_for(remote));
    access.reach = remote.allow_private ? broker::Reach::also_private : broker::Reach::public_only;
    access.decisions = std::make_shared<AuditedFetch>(m_audit, remote.space, remote.purpose);
    access.secrets = std::make_shared<SpaceSecrets>(m_vault, remote.space, remote.purpose);
    const auto attached = TRY(m_broker->attach(access, {std::move(listeners[0]), Fd()}));
    auto connection = std::make_unique<BrokeredGitConnection>(*m_broker, access.run_id);
    const broker::SandboxEnvironment environment = TRY(broker::sandbox_environment(*attached));
    for (const auto& [name, value] : environment.variables) connection->environment[name] = value;
    // Also a forge on this machine is reached through the broker.
    for (const char* name : {"NO_PROXY", "no_proxy"}) connection->environment.erase(name);
    connection->ca_bundle = environment.ca_bundle_content;
    std::unique_ptr<forge::GitConnection> opened = std::move(connection);
    return opened;
}

Result<std::unique_ptr<broker::GitResponse>> QuarantineGit::serve(const broker::GitCall& call) {
    const auto service = call.pushes ? forge::GitService::receive_pack : forge::GitService::upload_pack;
    auto exchange = TRY(
        m_quarantine.serve({call.run_id, call.repo, service, call.advertise, call.protocol, call.gzip, call.stopped}));
    std::unique_ptr<broker::GitResponse> forwarded = std::make_unique<ForwardedGit>(std::move(exchange));
    return forwarded;
}

} // namespace hone::server
