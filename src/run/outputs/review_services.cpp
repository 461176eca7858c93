#include "run/outputs/review_services.h"

#include "base/log.h"
#include "base/text.h"
#include "review/delivery/checks.h"

#include <fmt/format.h>

namespace hone::run {

namespace {

constexpr size_t longest_issue_title = 300;
constexpr size_t longest_issue_body = 60'000;
constexpr size_t most_issue_labels = 20;
constexpr size_t most_sent_checks = 5;

// The principal that a run acts for: the person behind a session, also when they used an API key.
Result<std::string> starter_of(sql::Database& database, const RunId& id) {
    const auto rows = TRY(database.query("SELECT started_by, rights FROM runs WHERE id = ?", id));
    if (rows.empty()) return std::string();
    const auto rights = json::parse(rows.front().text(1));
    if (rights.ok() && rights.value().is_object())
        if (const json::Value* user = rights.value().get_object().if_contains("user");
            user != nullptr && user->is_string() && !user->get_string().empty())
            return std::string(user->get_string());
    return rows.front().text(0);
}

} // namespace

Result<review::Revision> ReviewServices::revision(const access::Caller& caller, const review::ArtifactId& id,
                                                  int64_t number) const {
    const review::Artifact artifact = TRY(m_runs.artifacts.find(caller, id));
    if (artifact.kind != review::ArtifactKind::branch)
        return invalid("only branches have a diff; this is a " + std::string(name_of(artifact.kind)));
    return branches.revision(artifact.id, number);
}

Result<Interdiff> ReviewServices::interdiff(const access::Caller& caller, const review::ArtifactId& artifact,
                                            int64_t from, int64_t to) const {
    Interdiff made;
    made.from = TRY(revision(caller, artifact, from));
    made.to = TRY(revision(caller, artifact, to));
    if (m_inspector == nullptr) return unavailable("this machine cannot run git in a sandbox (`hone check`)");
    made.diff = TRY(m_inspector->interdiff(artifact, made.from.revision, made.to.revision));
    return made;
}

Result<review::PullRequest> ReviewServices::sync(const access::Caller& caller, const review::PullRequestId& id) {
    auto woken = TRY(pull_requests.wake(caller, id));
    if (m_wake_delivery) m_wake_delivery();
    return woken;
}

Result<review::PullRequest> ReviewServices::take_over(const access::Caller& caller, const review::PullRequestId& id) {
    const review::PullRequest one = TRY(pull_requests.find(caller, id, access::Permission::artifact_review));
    if (!caller.run.empty()) return forbidden("a worker cannot take over commits");
    if (one.people.empty() || one.state != review::PullRequestState::open)
        return conflict("there are no commits of people on the branch; hone pr sync PR reads it again");
    if (!m_bring_commits) return unavailable("this machine cannot run git in a sandbox (`hone check`)");
    TRY(m_bring_commits(one));
    json::Array commits;
    for (const review::PeopleCommit& commit : one.their_commits)
        commits.push_back(json::Object{{"commit", commit.id}, {"author", commit.author}, {"title", commit.title}});
    const std::string message =
        "People pushed commits to your branch " + one.branch + " of the repository " + one.repo_name +
        ". Take them over: run `git fetch`, put your own work on top of origin/" + one.branch +
        " (`git rebase`, or `git merge`), keep their changes, and push the branch again. Their commits, as data:\n"
        "```json\n" +
        json::print_pretty(commits) + "```\n";
    TRY(send_follow_up(caller, one.run_id, message));
    TRY(pull_requests.add_event(id, {review::PullRequestEventKind::taken_over, "Requested by " + caller.name + "."}));
    TRY(m_access.audit.record(caller, {"pull_request_take_over", one.space_id, id.text(), {{"branch", one.branch}}}));
    return one;
}

Result<std::vector<ForgeCommentView>> ReviewServices::forge_comments(const access::Caller& caller,
                                                                     const review::PullRequestId& id) const {
    const review::PullRequest one = TRY(pull_requests.find(caller, id));
    if (m_delivery == nullptr) return unavailable("this machine cannot reach forges (`hone check`)");
    std::vector<ForgeCommentView> shown;
    for (const forge::ForgeComment& comment : TRY(m_delivery->comments(one)))
        shown.push_back(
            {repair_utf8(comment.author), repair_utf8(comment.path), comment.line, repair_utf8(comment.body)});
    return shown;
}

Result<review::CheckLog> ReviewServices::read_log(const review::PullRequest& one, const std::string& check) const {
    if (m_delivery == nullptr) return unavailable("this machine cannot reach forges (`hone check`)");
    // Only checks that the forge listed for this pull request: the number of another job is not found.
    for (const review::PullRequestCheck& known : one.check_results)
        if (!known.id.empty() && (known.id == check || known.name == check)) return m_delivery->check_log(one, known);
    return not_found("a check with a log named " + std::string(truncate_utf8(check, 100)));
}

Result<review::CheckLog> ReviewServices::check_log(const access::Caller& caller, const review::PullRequestId& id,
                                                   const std::string& check) const {
    return read_log(TRY(pull_requests.find(caller, id)), check);
}

Result<review::PullRequest> ReviewServices::send_checks(const access::Caller& caller, const review::PullRequestId& id) {
    const review::PullRequest one = TRY(pull_requests.find(caller, id, access::Permission::artifact_review));
    if (!caller.run.empty()) return forbidden("a worker cannot send checks to itself; it has the tool get_checks");
    if (one.checks != "failed" || one.state != review::PullRequestState::open)
        return conflict("no check of the pull request failed; hone pr sync PR reads them again");
    std::vector<review::CheckLog> logs;
    for (const review::PullRequestCheck& check : one.check_results) {
        if (check.result != "failed" || logs.size() >= most_sent_checks) continue;
        // The names of the checks are worth sending also when the forge does not give their logs.
        auto log = check.id.empty() ? Result<review::CheckLog>(review::CheckLog{check.name, check.result, "", false})
                                    : read_log(one, check.id);
        if (!log.ok()) {
            hone::log(Level::warning, "log of a check not read",
                      {{"pull_request", id.text()}, {"check", check.name}, {"why", log.error().message}});
            log = review::CheckLog{check.name, check.result, "", false};
        }
        logs.push_back(std::move(log).value());
    }
    TRY(send_follow_up(caller, one.run_id, review::checks_message(one, logs)));
    TRY(pull_requests.add_event(id, {review::PullRequestEventKind::checks_sent, "By " + caller.name + "."}));
    TRY(m_access.audit.record(caller, {"pull_request_send_checks", one.space_id, id.text(), {{"branch", one.branch}}}));
    return one;
}

Result<std::vector<review::PullRequest>> ReviewServices::pull_requests_of_run(const std::string& run) const {
    review::PullRequestFilter filter;
    filter.run = run;
    filter.state = review::PullRequestState::open;
    const Run found = TRY(m_runs.runs.find(access::Caller::system(), RunId(run)));
    return TRY(pull_requests.list(access::Caller::system(), found.space_id, filter, {})).data;
}

Result<review::CheckLog> ReviewServices::check_log_of_run(const std::string& run, const std::string& check) const {
    Result<review::CheckLog> log = not_found("a check with a log named " + std::string(truncate_utf8(check, 100)));
    for (const review::PullRequest& one : TRY(pull_requests_of_run(run)))
        if (log = read_log(one, check); log.ok() || log.error().code != Code::not_found) break;
    return log;
}

Result<std::vector<review::RepoCheck>> ReviewServices::check_repo(const access::Caller& caller,
                                                                  const forge::Repo& repo) const {
    TRY(caller.require(access::Permission::repo_write, repo.space_id));
    if (m_delivery == nullptr) return unavailable("this machine cannot reach forges (`hone check`)");
    if (repo.url.starts_with("file://"))
        return std::vector<review::RepoCheck>{
            {"read", review::CheckResult::skipped, "The repository is on this server; no credential is needed."}};
    return m_delivery->check({repo.space_id, repo.url, repo.skill_id.value_or(""), repo.allow_private, repo.id.text()});
}

Result<> ReviewServices::release_repo(const access::Caller& caller, const forge::Repo& repo, bool abandon) {
    TRY(caller.require(access::Permission::repo_write, repo.space_id));
    const auto open = TRY(pull_requests.unfinished_of_repo(repo.id.text()));
    if (open.empty()) return {};
    if (!abandon) {
        std::string names;
        for (const review::PullRequest& one : open)
            if (names.size() < 300) names += (names.empty() ? "" : ", ") + (one.url.empty() ? one.branch : one.url);
        return conflict(fmt::format("{} has {} pull requests that are not over: {}. Merge or close them first, or "
                                    "abandon them (hone repo rm --abandon)",
                                    repo.name, open.size(), names));
    }
    return pull_requests.abandon_repo(caller, repo.id.text());
}

Result<> ReviewServices::repo_moved(const access::Caller& caller, const forge::Repo& repo) {
    TRY(caller.require(access::Permission::repo_write, repo.space_id));
    TRY(pull_requests.repo_moved(repo.id.text()));
    if (m_wake_delivery) m_wake_delivery();
    return {};
}

Result<> ReviewServices::take_hook(const forge::HookEvent& event) {
    TRY(pull_requests.wake_open(event.repo.text(), event.pull_request));
    if (m_wake_delivery) m_wake_delivery();
    return {};
}

Result<forge::ForgeIssue> ReviewServices::open_issue(const access::Caller& caller, const forge::Repo& repo,
                                                     const NewForgeIssue& wanted) {
    TRY(caller.require(access::Permission::artifact_review, repo.space_id));
    const std::string title(trim(wanted.title));
    if (title.empty() || title.size() > longest_issue_title || title.find('\n') != std::string::npos)
        return invalid("title must be one line of 1 to 300 bytes");
    if (wanted.body.size() > longest_issue_body) return too_large("body has at most 60,000 bytes");
    if (wanted.labels.size() > most_issue_labels) return invalid("labels: at most 20");
    if (m_delivery == nullptr) return unavailable("this machine cannot reach forges (`hone check`)");
    const forge::Remote remote{repo.space_id, repo.url, repo.skill_id.value_or(""), repo.allow_private, repo.id.text()};
    const forge::ForgeIssue opened = TRY(m_delivery->open_issue(remote, title, wanted.body, wanted.labels));
    TRY(m_access.audit.record(caller, {"repo_issue", repo.space_id, repo.id.text(), {{"url", opened.url}}}));
    return opened;
}

void ReviewServices::publish_labels(const review::ArtifactId& artifact) {
    if (!labels) return;
    if (const auto done = labels->publish(artifact); !done.ok())
        log(Level::warning, "labels not published yet", {{"artifact", artifact.text()}, {"why", done.error().message}});
}

Result<review::RunFacts> ReviewServices::facts(const std::string& run) {
    const RunId id(run);
    const Run found = TRY(m_runs.runs.find(access::Caller::system(), id));
    const Manifest manifest = TRY(m_runs.runs.manifest(access::Caller::system(), id));
    const SandboxSettings& sandbox = *manifest.settings.sandbox;
    review::RunFacts facts;
    facts.space = found.space_id;
    facts.project = found.project_id;
    facts.starter = TRY(starter_of(m_database, id));
    facts.title = found.title;
    if (m_issue_of_run) facts.fix_of = TRY(m_issue_of_run(run));
    facts.policy = *manifest.settings.review;
    facts.approved = *manifest.settings.outputs.value.branch == OutputPolicy::automatic;
    facts.image = *sandbox.image;
    facts.init_script = *sandbox.init_script;
    facts.init_seconds = *sandbox.init_seconds;
    facts.env = *sandbox.env;
    facts.minimum_tier = *sandbox.minimum_tier;
    facts.setup = *sandbox.setup;
    if (m_runs.build_networks != nullptr) {
        facts.network = m_runs.build_networks->of(found.space_id, id, manifest.settings);
        facts.network_description = m_runs.build_networks->description(manifest.settings);
    }
    facts.limits.memory_bytes = *sandbox.memory_bytes;
    facts.limits.cpus = *sandbox.cpus;
    facts.limits.pids = *sandbox.pids;
    facts.limits.disk_bytes = *sandbox.disk_bytes;
    facts.limits.wall_clock_ms = *sandbox.wall_clock_minutes * 60'000;
    return facts;
}

Result<> ReviewServices::note(const std::string& run, const review::ArtifactId& artifact, const std::string& line) {
    const Run found = TRY(m_runs.runs.find(access::Caller::system(), RunId(run)));
    RunEvent event;
    event.kind = harness::EventKind::artifact;
    event.turn = found.turns;
    event.text = line;
    event.artifact = artifact.text();
    return m_runs.transcript.append(found.id, {event});
}

Result<> ReviewServices::send_follow_up(const access::Caller& caller, const std::string& run,
                                        const std::string& message) {
    TRY(m_runs.runs.send_message(caller, RunId(run), message));
    return {};
}

} // namespace hone::run
