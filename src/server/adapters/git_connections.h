// Between git's sandboxes and the broker, which do not know each other. Thread-safe once connected.
#pragma once

#include "broker/broker.h"
#include "broker/gateway/git_service.h"
#include "forge/push/quarantine.h"
#include "secret/vault.h"
#include "skill/skills.h"

namespace hone::server {

// forge::GitConnections over the broker: a way from git's sandbox to one repository of a forge, with the credential
// added outside the sandbox. Each request is in the audit log.
class BrokeredGitConnections final : public forge::GitConnections {
public:
    BrokeredGitConnections(const Clock& clock, const access::AuditLog& audit, const skill::Skills& skills,
                           secret::Vault& vault)
        : m_clock(clock),
          m_audit(audit),
          m_skills(skills),
          m_vault(vault) {}

    // Before the first fetch. The broker must outlive every fetch.
    void connect(broker::Broker& broker) { m_broker = &broker; }
    Result<std::unique_ptr<forge::GitConnection>> open(const forge::Remote& remote, std::vector<Fd> listeners) override;

private:
    Result<skill::Grant> grant_for(const forge::Remote& remote) const;

    const Clock& m_clock;
    const access::AuditLog& m_audit;
    const skill::Skills& m_skills;
    secret::Vault& m_vault;
    broker::Broker* m_broker = nullptr;
};

// broker::GitService over the quarantine: what workers fetch and push.
class QuarantineGit final : public broker::GitService {
public:
    explicit QuarantineGit(forge::Quarantine& quarantine) : m_quarantine(quarantine) {}
    Result<std::unique_ptr<broker::GitResponse>> serve(const broker::GitCall& call) override;

private:
    forge::Quarantine& m_quarantine;
};

} // namespace hone::server
