// Repositories as the server has them, built in order: git in sandboxes, mirrors, quarantine, what workers clone.
// Thread-safe once connected.
#pragma once

#include "forge/catalog.h"
#include "forge/hooks.h"
#include "forge/supply.h"
#include "server/adapters/git_connections.h"

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

class Repositories {
public:
    static Result<std::unique_ptr<Repositories>> open(const RepositoriesParts& parts);

    // Once the broker stands, before the first fetch. The broker must outlive every fetch.
    void connect(broker::Broker& broker) { m_connections.connect(broker); }

    forge::Repos& repos() { return m_repos; }
    forge::Catalog& catalog() { return m_catalog; }
    forge::Hooks& hooks() { return m_hooks; }
    // Null where nothing can be isolated.
    forge::Supply* supply() { return m_supply ? &*m_supply : nullptr; }
    forge::Quarantine* quarantine() { return m_quarantine ? &*m_quarantine : nullptr; }
    forge::Mirrors* mirrors() { return m_mirrors ? &*m_mirrors : nullptr; }
    const forge::Git* git() const { return m_git ? &*m_git : nullptr; }
    // For the gateway: what workers fetch and push.
    broker::GitService* gateway_git() { return m_gateway_git ? &*m_gateway_git : nullptr; }

private:
    explicit Repositories(const RepositoriesParts& parts);
    Result<> open_git(const RepositoriesParts& parts);

    BrokeredGitConnections m_connections;
    std::optional<sandbox::Store> m_store;
    std::optional<forge::Git> m_git;
    forge::Repos m_repos;
    std::optional<forge::Mirrors> m_mirrors;
    std::optional<forge::Quarantine> m_quarantine;
    std::optional<forge::Supply> m_supply;
    std::optional<QuarantineGit> m_gateway_git;
    forge::Catalog m_catalog;
    forge::Hooks m_hooks;
};

} // namespace hone::server
