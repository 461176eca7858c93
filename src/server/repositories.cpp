#include "server/repositories.h"

#include "run/runs.h"
#include "sandbox/image/tree.h"

#include <unistd.h>

namespace hone::server {

Repositories::Repositories(const RepositoriesParts& parts)
    : m_connections(parts.clock, parts.access.audit, parts.skills, parts.vault),
      m_repos(parts.database, parts.clock, parts.access, parts.skills, parts.data_directory + "/repos"),
      m_catalog(m_repos, parts.clock),
      m_hooks(parts.database, parts.access, parts.vault, m_repos) {}

Result<std::unique_ptr<Repositories>> Repositories::open(const RepositoriesParts& parts) {
    std::unique_ptr<Repositories> made(new Repositories(parts));
    if (parts.provider != nullptr) TRY(made->open_git(parts));
    return made;
}

Result<> Repositories::open_git(const RepositoriesParts& parts) {
    const std::string& data = parts.data_directory;
    m_store = TRY(sandbox::Store::open(data));
    // What a server that was killed left of its fetches and pushes.
    for (const char* folder : {"/git", "/mirrors/tmp", "/quarantine/tmp"}) TRY(sandbox::remove_tree(data + folder));
    m_git.emplace(*parts.provider, *m_store, &m_connections, forge::GitOptions{data + "/git", ::geteuid() == 0});
    forge::MirrorOptions mirrors = parts.mirrors;
    mirrors.directory = data + "/mirrors";
    m_mirrors.emplace(m_repos, *m_git, parts.clock, mirrors);
    forge::QuarantineOptions quarantine = parts.quarantine;
    quarantine.directory = data + "/quarantine";
    m_quarantine.emplace(parts.database, parts.clock, *m_mirrors, *m_git, quarantine);
    TRY(m_quarantine->sweep([&](std::span<const std::string> ids) { return run::existing_runs(parts.database, ids); }));
    m_supply.emplace(m_repos, *m_mirrors, *m_quarantine, parts.skills);
    m_gateway_git.emplace(*m_quarantine);
    m_catalog.set_mirrors(*m_mirrors);
    return {};
}

} // namespace hone::server
