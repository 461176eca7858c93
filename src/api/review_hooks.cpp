// Webhooks of forges: a signed word that something about a pull request changed. Nothing in it is believed but that:
// the forge itself is asked.
#include "api/forge_handlers.h"
#include "api/review_handlers.h"
#include "crypto/crypto.h"
#include "crypto/hmac.h"
#include "forge/client_rest.h"
#include "secret/vault.h"

namespace hone::api {

namespace {

constexpr std::string_view secret_name = "hook_secret";

Result<forge::Repo> repo_of_hook(const Call& call) {
    if (call.services.forge == nullptr || call.services.vault == nullptr)
        return unavailable("this server has no repositories");
    auto id = parse_id<forge::RepoTag>(call.at("repo"));
    if (!id.ok()) return not_found("repository " + std::string(truncate_utf8(call.at("repo"), 60)));
    return call.services.forge->repos.find(access::Caller::system(), id.value());
}

// GitHub, Gitea and Forgejo sign; GitLab sends the secret itself.
bool is_genuine(const net::RequestHead& head, std::string_view body, std::string_view secret) {
    const std::string signature = to_hex(crypto::hmac_sha256(secret, body));
    return crypto::equal(head.header("X-Hub-Signature-256"), "sha256=" + signature) ||
           crypto::equal(head.header("X-Gitea-Signature"), signature) ||
           crypto::equal(head.header("X-Gitlab-Token"), secret);
}

} // namespace

Result<One<ForgeHook>> make_forge_hook(const Call& call, const InSpace& query) {
    if (call.services.vault == nullptr) return unavailable("this server keeps no secrets");
    const forge::Repo repo = TRY(repo_in_path(call, query.space, access::Permission::repo_write));
    ForgeHook hook{"/v1/forge_hooks/" + repo.id.text(), crypto::random_token(32)};
    TRY(call.services.database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(call.services.vault->keep(transaction, secret::Scope{repo.space_id}, repo.id.text(),
                                      std::string(secret_name), secret::SecretBytes(hook.secret)));
        return call.access().audit.record(transaction, call.caller,
                                          {"repo_hook", repo.space_id, repo.id.text(), {{"name", repo.name}}});
    }));
    return One<ForgeHook>{std::move(hook)};
}

// With the credential of the repository's skill; only the text is the caller's.
Result<One<OpenedIssue>> open_repo_issue(const Call& call, const InSpace& query, const OpenRepoIssue& body) {
    ReviewServices& services = *TRY(reviews_of(call));
    const forge::Repo repo = TRY(repo_in_path(call, query.space, access::Permission::artifact_review));
    if (trim(body.title).empty() || body.title.size() > 300 || body.title.find('\n') != std::string::npos)
        return invalid("title must be one line of 1 to 300 bytes");
    if (body.body.value.size() > 60'000) return too_large("body has at most 60,000 bytes");
    if (body.labels.value.size() > 20) return invalid("labels: at most 20");
    if (services.delivery == nullptr) return unavailable("this machine cannot reach forges (`hone check`)");
    const forge::Remote remote{repo.space_id, repo.url, repo.skill_id.value_or(""), repo.allow_private, repo.id.text()};
    const forge::ForgeIssue opened =
        TRY(services.delivery->open_issue(remote, std::string(trim(body.title)), *body.body, *body.labels));
    TRY(call.access().audit.record(call.caller, {"repo_issue", repo.space_id, repo.id.text(), {{"url", opened.url}}}));
    return One<OpenedIssue>{OpenedIssue{opened.number, opened.url}};
}

Result<NoContent> deliver_forge_hook(const Call& call, const RawBody& body) {
    ReviewServices& services = *TRY(reviews_of(call));
    // Whoever does not know the secret does not learn which repositories there are.
    const Error refused = forbidden("the signature does not fit");
    const auto repo = repo_of_hook(call);
    if (!repo.ok()) return refused;
    const auto secret = call.services.vault->reveal(secret::Scope{repo.value().space_id}, repo.value().id.text(),
                                                    std::string(secret_name), "webhook of a forge");
    if (!secret.ok() || !is_genuine(call.head, body.bytes, secret.value().reveal())) return refused;
    const auto parsed = json::parse(body.bytes);
    int64_t number = 0;
    if (parsed.ok())
        for (const auto& [object, key] : {std::pair("pull_request", "number"),
                                          {"issue", "number"},
                                          {"object_attributes", "iid"},
                                          {"merge_request", "iid"}})
            if (number == 0) number = forge::number_at(parsed.value(), {object, key});
    // Checks and pushes name no pull request: all open ones of the repository are asked about.
    TRY(services.pull_requests.wake_open(repo.value().id.text(), number));
    if (services.wake_delivery) services.wake_delivery();
    return NoContent{};
}

} // namespace hone::api
