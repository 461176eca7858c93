#include "forge/hooks.h"

#include "crypto/crypto.h"
#include "crypto/hmac.h"
#include "forge/clients/rest.h"

namespace hone::forge {

namespace {

constexpr std::string_view hook_secret_name = "hook_secret";

// GitHub, Gitea and Forgejo sign; GitLab sends the secret itself.
bool is_genuine(const net::RequestHead& head, std::string_view body, std::string_view secret) {
    const std::string signature = to_hex(crypto::hmac_sha256(secret, body));
    return crypto::equal(head.header("X-Hub-Signature-256"), "sha256=" + signature) ||
           crypto::equal(head.header("X-Gitea-Signature"), signature) ||
           crypto::equal(head.header("X-Gitlab-Token"), secret);
}

int64_t pull_request_in(std::string_view body) {
    const auto parsed = json::parse(body);
    if (!parsed.ok()) return 0;
    for (const auto& [object, key] : {std::pair("pull_request", "number"),
                                      {"issue", "number"},
                                      {"object_attributes", "iid"},
                                      {"merge_request", "iid"}})
        if (const int64_t number = number_at(parsed.value(), {object, key}); number != 0) return number;
    return 0;
}

} // namespace

Result<ForgeHook> Hooks::create(const access::Caller& caller, const RepoId& id) {
    const Repo repo = TRY(m_repos.find(caller, id, access::Permission::repo_write));
    ForgeHook hook{"/v1/forge_hooks/" + repo.id.text(), crypto::random_token(32)};
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(m_vault.keep(transaction, secret::Scope{repo.space_id}, repo.id.text(), std::string(hook_secret_name),
                         secret::SecretBytes(hook.secret)));
        return m_access.audit.record(transaction, caller,
                                     {"repo_hook", repo.space_id, repo.id.text(), {{"name", repo.name}}});
    }));
    return hook;
}

bool Hooks::has_secret(const Repo& repo) const {
    return m_vault
        .reveal(secret::Scope{repo.space_id}, repo.id.text(), std::string(hook_secret_name), "check of a webhook")
        .ok();
}

Result<HookEvent> Hooks::receive(std::string_view repo_id, const net::RequestHead& head, std::string_view body) const {
    const Error refused = forbidden("the signature does not match");
    const auto id = parse_id<RepoTag>(repo_id);
    if (!id.ok()) return refused;
    const auto repo = m_repos.find(access::Caller::system(), id.value());
    if (!repo.ok()) return refused;
    const auto secret = m_vault.reveal(secret::Scope{repo.value().space_id}, repo.value().id.text(),
                                       std::string(hook_secret_name), "webhook of a forge");
    if (!secret.ok() || !is_genuine(head, body, secret.value().reveal())) return refused;
    return HookEvent{repo.value().id, pull_request_in(body)};
}

} // namespace hone::forge
