// Issues on forges (declared in signal.h): opened by a person's click with the credential of the repository's skill, or
// linked by their address. Text from outside is plain text there, and nothing that looks like a secret leaves.
#include "signal/signal.h"

#include "base/text.h"
#include "crypto/crypto.h"
#include "signal/analysis/words.h"
#include "signal/signal_row.h"
#include "signal/text/message_template.h"

namespace hone::signal {

using access::Caller, access::Permission;

namespace {

constexpr size_t longest_address = 1000;
constexpr size_t longest_body = 20'000;

// An address that can be shown as a link: a web page, without a password in it.
Result<std::string> checked_address(std::string_view given) {
    const std::string address(trim(given));
    const std::string_view rest = std::string_view(address).substr(std::min(address.size(), address.find("://")));
    const bool is_web = address.starts_with("https://") || address.starts_with("http://");
    const std::string_view host = rest.substr(std::min<size_t>(3, rest.size()));
    const bool is_plain = std::all_of(address.begin(), address.end(), [](char letter) {
        return letter > ' ' && letter != 0x7f && std::string_view("\"'<>`\\").find(letter) == std::string_view::npos;
    });
    if (!is_web || !is_plain || host.empty() || address.size() > longest_address)
        return invalid("url must be the address of a web page: https://…");
    if (host.substr(0, host.find('/')).find('@') != std::string_view::npos)
        return invalid("url must not hold a user or a password");
    return address;
}

std::string body_of(const Issue& issue) {
    std::string body = issue.explanation + "\n\n";
    for (const Fact& fact : issue.facts) body += "- " + fact.name + ": " + fact.value + "\n";
    body += fmt::format("- Traces: {} ({} of the window)\n- Severity: {}\n- First seen: {}\n- Last seen: {}\n",
                        issue.traces, percent(issue.share), name_of(issue.severity),
                        to_text(issue.first_seen).substr(0, 19) + "Z", to_text(issue.last_seen).substr(0, 19) + "Z");
    if (!issue.examples.empty()) body += "\nExample traces:\n\n";
    for (size_t i = 0; i < issue.examples.size() && i < 5; ++i) body += "- " + issue.examples[i].trace_id + "\n";
    return body;
}

ForgeIssueDraft draft_of(const Issue& issue) {
    ForgeIssueDraft draft{plain_line(issue.title, 200), body_of(issue), {}};
    draft.digest = to_hex(crypto::hash(draft.title + "\n" + draft.body));
    return draft;
}

} // namespace

Result<ForgeIssueDraft> Signal::forge_issue_draft(const Caller& caller, const IssueId& id) const {
    return draft_of(TRY(issues.find(caller, id)));
}

Result<Issue> Signal::link_forge_issue(const Caller& caller, const IssueId& id, const ForgeIssueRequest& wanted) {
    const Issue issue = TRY(issues.find(caller, id, Permission::issue_write));
    if (issue.merged_into) return conflict("it was merged into " + issue.merged_into->text());
    if (wanted.url) {
        const std::string address = TRY(checked_address(*wanted.url));
        TRY(issues.forge_issue_linked(caller, id, address, "linked " + address));
        return issues.find(Caller::system(), id);
    }
    if (issue.forge_issue) return conflict("it is linked to " + *issue.forge_issue + " already");
    if (m_forge_issues == nullptr) return unavailable("this server reaches no forge");
    const auto row = TRY(row_of(issue.project_id));
    const bool has_own = row && row->settings.repo;
    if (!wanted.repo && !has_own)
        return conflict("the issue has no repository: send repo, or set one in the settings of Signal");
    const std::string repo = wanted.repo ? *wanted.repo : row->settings.repo->url;
    const ForgeIssueDraft draft = draft_of(issue);
    if (!wanted.body && !wanted.digest)
        return invalid(
            "digest is missing: send the digest of the draft that you reviewed (GET …/forge_issue), or body");
    if (wanted.digest && *wanted.digest != draft.digest)
        return conflict("the issue has changed since you reviewed its draft: \"" + draft.title + "\", " +
                        std::to_string(issue.traces) + " traces, last seen " + to_text(issue.last_seen).substr(0, 19) +
                        "Z. Review the draft again");
    const std::string title = plain_line(wanted.title.value_or(issue.title), 200);
    const std::string body = wanted.body.value_or(draft.body);
    if (title.empty()) return invalid("title is empty");
    if (body.size() > longest_body) return too_large("body has at most 20,000 bytes");
    if (!is_valid_utf8(body)) return invalid("body is not valid UTF-8 text");
    TRY(run::refuse_secrets("body", body));
    TRY(run::refuse_secrets("title", title));
    if (!TRY(issues.claim_forge_issue(id)))
        return conflict("another request is opening one right now; try again in a minute");
    const auto opened = m_forge_issues->open_issue(caller, issue, repo, title, body);
    const std::string address = opened.ok() ? opened.value() : "";
    TRY(issues.forge_issue_linked(caller, id, address, opened.ok() ? "opened " + address : ""));
    if (!opened.ok()) return opened.error();
    return issues.find(Caller::system(), id);
}

Result<Issue> Signal::unlink_forge_issue(const Caller& caller, const IssueId& id) {
    const Issue issue = TRY(issues.find(caller, id, Permission::issue_write));
    if (!issue.forge_issue) return conflict("it is linked to no issue on a forge");
    TRY(issues.forge_issue_linked(caller, id, "", "unlinked " + *issue.forge_issue));
    return issues.find(Caller::system(), id);
}

} // namespace hone::signal
