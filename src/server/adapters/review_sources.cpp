#include "server/adapters/review_sources.h"

#include "base/log.h"
#include "base/text.h"
#include "signal/issues.h"

namespace hone::server {

namespace {

// Links to some of an issue's traces; without a public address their ids.
std::vector<std::string> evidence_of(const std::vector<signal::Example>& examples, const std::string& home,
                                     const access::ProjectId& project) {
    constexpr size_t most_links = 5;
    std::vector<std::string> links;
    for (const signal::Example& one : examples)
        if (links.size() < most_links)
            links.push_back(home.empty() ? "Trace " + one.trace_id
                                         : home + "/projects/" + project.text() + "/traces/" + one.trace_id);
    return links;
}

} // namespace

Result<review::RepoPlace> QuarantineRepos::place(const std::string& run, const std::string& repo) {
    const forge::RepoId id(repo);
    const forge::Repo found = TRY(m_repos.find(access::Caller::system(), id));
    const forge::RunRepo checkout = TRY(m_quarantine.find(run, id));
    review::RepoPlace place;
    place.space = found.space_id;
    place.url = found.url;
    const std::string& ref = checkout.base_ref.starts_with("refs/heads/") ? checkout.base_ref : found.head_ref;
    place.default_branch = ref.starts_with("refs/heads/") ? ref.substr(11) : "main";
    place.skill_id = found.skill_id.value_or("");
    place.allow_private = found.allow_private;
    place.mounts = m_quarantine.mounts(checkout);
    place.directory = forge::quarantine_inside;
    if (found.url.starts_with("file://")) place.local_path = TRY(m_repos.local_path(found));
    return place;
}

IssueContexts::IssueContexts(sql::Database& database, const review::Artifacts& artifacts, review::RunSource& runs,
                             const std::string& public_url)
    : m_database(database),
      m_artifacts(artifacts),
      m_runs(runs),
      m_public_url(public_url) {
    while (m_public_url.ends_with('/')) m_public_url.pop_back();
}

Result<review::PullRequestContext> IssueContexts::context(const review::PullRequest& about) {
    review::PullRequestContext context;
    std::optional<std::string> investigation;
    const std::string home = m_public_url.empty() ? "" : m_public_url + "/s/" + percent_encode(about.space_id.text());
    if (!home.empty()) {
        context.run_url = home + "/runs/" + about.run_id;
        context.review_url = home + "/inbox/" + about.artifact_id.text();
        if (!about.fix_of.empty())
            context.issue_url = home + "/projects/" + about.project_id.text() + "/signal/" + about.fix_of;
    }
    if (!about.fix_of.empty()) {
        const auto issue = TRY(signal::Issues::read(m_database, signal::IssueId(about.fix_of)));
        context.issue_title = issue ? issue->title + " (" + about.fix_of + ")" : about.fix_of;
        if (issue) {
            investigation = issue->investigation_id;
            context.evidence = evidence_of(issue->examples, home, about.project_id);
        }
    }
    if (investigation) {
        const auto found = m_artifacts.find(access::Caller::system(), review::ArtifactId(*investigation));
        if (found.ok()) context.root_cause = TRY(m_artifacts.content(found.value()));
        return context;
    }
    review::ArtifactFilter filter;
    filter.run = about.run_id;
    filter.kind = review::ArtifactKind::investigation;
    const auto found = TRY(m_artifacts.list(access::Caller::system(), about.space_id, filter, {}));
    for (const review::Artifact& artifact : found.data)
        if (artifact.review != review::ReviewState::rejected) {
            context.root_cause = TRY(m_artifacts.content(artifact));
            break;
        }
    return context;
}

void IssueContexts::ended(const review::PullRequest& about) {
    log(Level::info, "pull request ended",
        {{"pull_request", about.id.text()}, {"state", std::string(name_of(about.state))}, {"fix_of", about.fix_of}});
    const auto noted = m_runs.note(about.run_id, about.artifact_id,
                                   "pull request " + std::string(name_of(about.state)) + ": " + about.url);
    if (!noted.ok()) log(Level::warning, "end of a pull request not recorded", {{"why", noted.error().message}});
}

} // namespace hone::server
