// Everything about repositories, built in order: git in sandboxes, mirrors, quarantine. Stands between forge/ and
// broker/, which do not know each other: opens the way from git's sandbox to a forge, with the credential put in on the
// broker's side, and answers the gateway's /git/. Thread-safe once connected.
#pragma once

#include "api/forge_services.h"
#include "broker/broker.h"
#include "broker/gateway/git_service.h"
#include "forge/supply.h"
#include "secret/vault.h"

#include <optional>

namespace hone::server {

struct RepositoriesParts {
    sql::Database& database;
    const Clock& clock;
    access::Access& access;
    skill::Skills& skills;
    secret::Vault& vault;
    sandbox::Provider* provider = nullptr; // null: this machine cannot isolate; nothing is fetched or served
    std::string data_directory = {};
    forge::MirrorOptions mirrors = {}; // their directories are below data_directory
    forge::QuarantineOptions quarantine = {};
};

class Repositories final : public broker::GitService, private forge::Uplinks {
public:
    static Result<std::unique_ptr<Repositories>> open(const RepositoriesParts& parts);

    // Once the broker stands, before the first fetch. The broker must outlive every fetch.
    void connect(broker::Broker& broker) { m_broker = &broker; }

    api::ForgeServices& services() { return m_services; }
    // Null where nothing can be isolated.
    forge::Supply* supply() { return m_supply ? &*m_supply : nullptr; }
    forge::Quarantine* quarantine() { return m_quarantine ? &*m_quarantine : nullptr; }
    forge::Mirrors* mirrors() { return m_mirrors ? &*m_mirrors : nullptr; }
    const forge::Git* git() const { return m_git ? &*m_git : nullptr; }

    Result<std::unique_ptr<broker::GitAnswer>> serve(const broker::GitCall& call) override;

private:
    explicit Repositories(const RepositoriesParts& parts);
    Result<std::unique_ptr<forge::Uplink>> open(const forge::Remote& remote, std::vector<Fd> listeners) override;
    Result<skill::Grant> grant_for(const forge::Remote& remote) const;

    const RepositoriesParts m_parts;
    broker::Broker* m_broker = nullptr;
    std::optional<sandbox::Store> m_store;
    std::optional<forge::Git> m_git;
    forge::Repos m_repos;
    std::optional<forge::Mirrors> m_mirrors;
    std::optional<forge::Quarantine> m_quarantine;
    std::optional<forge::Supply> m_supply;
    api::ForgeServices m_services;
};

} // namespace hone::server
