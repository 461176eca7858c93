#include "forge/cause.h"

#include "base/text.h"

namespace hone::forge {

namespace {

constexpr bool for_good = true;
constexpr CauseText table[] = {
    {Cause::credential_missing, "the forge requires a credential",
     "Attach a skill whose token can write to the repository: hone repo update REPO --skill SKILL", for_good,
     Code::unauthorized},
    {Cause::credential_refused, "the forge does not accept the credential of the skill",
     "Replace the token of the skill; it may be expired or revoked", for_good, Code::unauthorized},
    {Cause::not_allowed, "the credential of the skill is not allowed to do this",
     "Give its account write access to the repository; hone repo check REPO shows what is missing", for_good,
     Code::forbidden},
    {Cause::missing_scope, "the token of the skill lacks a scope",
     "Create a token with the scopes that docs/repositories.md lists for this forge", for_good, Code::forbidden},
    {Cause::repository_missing, "the forge has no such repository, or hides it from the credential of the skill",
     "Check the address and the token; if the repository was deleted, use hone pr abandon PR", for_good,
     Code::not_found},
    {Cause::repository_moved, "the repository has another address on the forge",
     "Change the address: hone repo update REPO --address URL", for_good, Code::not_found},
    {Cause::repository_removed, "the repository is no longer registered in Hone",
     "Use hone pr abandon PR, or register the repository and start a new run", for_good, Code::not_found},
    {Cause::archived, "the repository is archived on the forge and cannot be changed",
     "Unarchive it on the forge, or use hone pr abandon PR", for_good, Code::forbidden},
    {Cause::protected_branch, "a rule of the forge rejects pushes to this branch",
     "Allow the account of the token to push to branches below hone/", for_good, Code::forbidden},
    {Cause::name_collision,
     "the forge has a branch whose name is the first part of this one, so this branch cannot be created",
     "Rename or delete that branch on the forge", for_good, Code::invalid},
    {Cause::changed_by_people, "people pushed commits to this branch on the forge; they are not overwritten",
     "Let the worker take them over: hone pr take-over PR; or delete the branch on the forge", for_good, Code::invalid},
    {Cause::empty_repository, "the repository on the forge has no commits",
     "Push a first commit to its default branch, then hone repo fetch REPO", for_good, Code::invalid},
    {Cause::rejected, "the forge rejects the request", "Read the message of the forge", for_good, Code::invalid},
    {Cause::certificate, "the certificate of the forge is not trusted",
     "Set egress_ca_file to the certificate of its authority and restart the server", for_good, Code::forbidden},
    {Cause::private_address, "the forge has a private address, and the repository does not allow that",
     "An owner of the installation can allow it: hone repo update REPO --allow-private", for_good, Code::forbidden},
    {Cause::rate_limited, "the forge limits the rate of requests", "Wait for the next attempt", false, Code::busy},
    {Cause::unreachable, "the forge cannot be reached from this server",
     "Check the address of the repository, and that the forge runs", false, Code::unavailable},
    {Cause::forge_failed, "the forge failed", "Wait for the next attempt, or read the log of the forge", false,
     Code::unavailable},
};

bool has(std::string_view text, std::initializer_list<std::string_view> parts) {
    for (const std::string_view part : parts)
        if (text.find(part) != std::string_view::npos) return true;
    return false;
}

} // namespace

std::span<const CauseText> cause_texts() {
    return table;
}

const CauseText* text_of(Cause cause) {
    for (const CauseText& text : table)
        if (text.cause == cause) return &text;
    return nullptr;
}

Cause cause_of_git(std::string_view said, bool has_skill) {
    const std::string text = lowercase_ascii(said);
    if (has(text, {"stale info", "branch was changed by people"})) return Cause::changed_by_people;
    if (has(text, {"archived"})) return Cause::archived;
    if (has(text, {"exists; cannot create", "directory file conflict"})) return Cause::name_collision;
    if (has(text, {"push to create is not enabled"})) return Cause::repository_missing;
    // Gitea lets a token without the right to write begin, and refuses in its hook.
    if (has(text, {"user permission denied for writing", "not allowed to push code to this project"}))
        return Cause::not_allowed;
    if (has(text, {"hook declined", "protected branch", "gh006", "gh013", "[remote rejected]"}))
        return Cause::protected_branch;
    if (has(text, {"ssl certificate problem", "certificate verify failed", "self-signed certificate",
                   "unable to get local issuer"}))
        return Cause::certificate;
    if (has(text, {"could not read username", "authentication failed", "returned error: 401"}))
        return has_skill ? Cause::credential_refused : Cause::credential_missing;
    if (has(text, {"connect tunnel failed, response 403"})) return Cause::private_address;
    if (has(text, {"returned error: 301", "returned error: 302", "returned error: 307", "returned error: 308",
                   "unable to update url base from redirection"}))
        return Cause::repository_moved;
    if (has(text, {"returned error: 404", "repository not found", "project you were looking for could not be found"}) ||
        (has(text, {"fatal: repository"}) && has(text, {"not found"})))
        return Cause::repository_missing;
    if (has(text, {"returned error: 403"})) return Cause::not_allowed;
    if (has(text, {"returned error: 429"})) return Cause::rate_limited;
    if (has(text, {"returned error: 502", "response 502", "returned error: 504", "could not resolve host",
                   "failed to connect", "timed out", "connection refused"}))
        return Cause::unreachable;
    if (has(text, {"returned error: 5", "http 5", "rpc failed", "hung up unexpectedly"})) return Cause::forge_failed;
    return Cause::none;
}

Cause cause_of_status(int status, std::string_view said) {
    const std::string text = lowercase_ascii(said);
    if (status == 429) return Cause::rate_limited;
    if (status == 401) return Cause::credential_refused;
    if (status >= 300 && status < 400) return Cause::repository_moved;
    if (has(text, {"archived"})) return Cause::archived;
    if (status == 403) return has(text, {"scope", "not accessible by"}) ? Cause::missing_scope : Cause::not_allowed;
    if (status == 404 || status == 410) return Cause::repository_missing;
    if (status >= 500) return Cause::forge_failed;
    if (has(text, {"has no history", "repository is empty", "no commits between"})) return Cause::rejected;
    return Cause::rejected;
}

Cause cause_of_transport(const Error& error) {
    const std::string text = lowercase_ascii(error.message);
    if (has(text, {"certificate"})) return Cause::certificate;
    if (has(text, {"private addresses", "loopback address", "private address"})) return Cause::private_address;
    if (error.code == Code::unavailable || error.code == Code::busy) return Cause::unreachable;
    return Cause::none;
}

Error to_error(std::string_view doing, const Diagnosis& diagnosis) {
    const CauseText* text = text_of(diagnosis.cause);
    std::string message = "could not " + std::string(doing) + ": ";
    if (text == nullptr)
        return unavailable(message + (diagnosis.said.empty() ? "the reason is not known" : diagnosis.said));
    message += text->words;
    if (!diagnosis.moved_to.empty()) message += ": " + diagnosis.moved_to;
    message += ". " + std::string(text->advice) + ".";
    if (!diagnosis.said.empty()) message += " The forge: " + diagnosis.said;
    return Error{text->code, std::move(message), {}};
}

} // namespace hone::forge
