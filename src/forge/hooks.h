// Webhooks of forges: each repository can have a secret, with which its forge signs what it sends. A delivery is only a
// hint that something changed; the state is read from the forge itself. Thread-safe; the secrets are in the vault.
#pragma once

#include "forge/repos.h"
#include "net/http/http.h"
#include "secret/vault.h"

namespace hone::forge {

// What a forge needs to send webhooks.
struct ForgeHook {
    std::string path;
    std::string secret;
    static constexpr Pack fields{
        Field{"path", &ForgeHook::path, "Path on this server that the forge sends its webhook to."},
        Field{"secret", &ForgeHook::secret, "Shown once; replaces the previous secret."},
    };
};

struct HookEvent {
    RepoId repo;
    int64_t pull_request = 0; // 0: it names none, as pushes and checks do
};

class Hooks {
public:
    Hooks(sql::Database& database, access::Access& access, const secret::Vault& vault, Repos& repos)
        : m_database(database),
          m_access(access),
          m_vault(vault),
          m_repos(repos) {}

    // A new secret for the repository; the one before is no longer accepted.
    Result<ForgeHook> create(const access::Caller& caller, const RepoId& repo);
    // Whether the repository has a secret for its webhook.
    bool has_secret(const Repo& repo) const;
    // forbidden when the signature does not match, and the same when there is no such repository: a sender without the
    // secret does not learn which repositories exist.
    Result<HookEvent> receive(std::string_view repo, const net::RequestHead& head, std::string_view body) const;

private:
    sql::Database& m_database;
    access::Access& m_access;
    const secret::Vault& m_vault;
    Repos& m_repos;
};

} // namespace hone::forge
