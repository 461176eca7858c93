// Reviews of what runs left: branches, comments and decisions, pull requests. Implements review::RunSource over runs,
// which review/ does not know. Built once by server/, which connects what reads repositories and calls forges; without
// that connection (the machine cannot isolate git) those operations are unavailable. Thread-safe.
#pragma once

#include "forge/hooks.h"
#include "review/branch/inspector.h"
#include "review/delivery/delivery.h"
#include "review/delivery/pull_requests.h"
#include "review/label_outbox.h"
#include "review/reviews.h"
#include "run/run_services.h"

namespace hone::run {

// What changed from one revision of a branch to another.
struct Interdiff {
    review::Revision from;
    review::Revision to;
    review::Diff diff;
};

struct NewForgeIssue {
    std::string title;
    std::string body{};
    std::vector<std::string> labels{};
};

// What a person wrote on the forge about a pull request.
struct ForgeCommentView {
    std::string author;
    std::string path;
    std::optional<int64_t> line;
    std::string body;
    static constexpr Pack fields{
        Field{"author", &ForgeCommentView::author, "User name on the forge."},
        Field{"path", &ForgeCommentView::path, "File; empty: the whole pull request."},
        Field{"line", &ForgeCommentView::line, "Line of that file."},
        Field{"body", &ForgeCommentView::body, "Markdown."},
    };
};

class ReviewServices final : public review::RunSource {
public:
    ReviewServices(sql::Database& database, const Clock& clock, access::Access& access, RunServices& run_services)
        : branches(database, clock, run_services.artifacts, *this),
          reviews(database, clock, access, run_services.artifacts, branches, *this),
          pull_requests(database, clock, access),
          m_database(database),
          m_clock(clock),
          m_runs(run_services),
          m_access(access) {}

    // Where approved labels go. Once, before requests come.
    void set_label_sink(review::LabelSink& sink) { labels.emplace(m_database, m_clock, m_runs.artifacts, sink); }
    // Tries to publish approved labels now; what fails is retried by the background step.
    void publish_labels(const review::ArtifactId& artifact);

    // Which issue a run was started to fix; empty: none. Signal knows. Once, before requests come.
    using IssueOfRun = std::function<Result<std::string>(const std::string& run)>;
    void set_issue_of_run(IssueOfRun issue_of_run) { m_issue_of_run = std::move(issue_of_run); }
    // Once, before requests come. `wake` makes the delivery duty run its next step now.
    // `bring` fetches the repository of a pull request and gives the run's branch the commits that people pushed.
    using BringCommits = std::function<Result<>(const review::PullRequest& one)>;
    void connect(review::Inspector& inspector, review::Delivery& delivery, std::function<void()> wake,
                 BringCommits bring) {
        m_inspector = &inspector;
        m_delivery = &delivery;
        m_wake_delivery = std::move(wake);
        m_bring_commits = std::move(bring);
    }

    // The revision of a branch that the caller may see; 0: the newest.
    Result<review::Revision> revision(const access::Caller& caller, const review::ArtifactId& artifact,
                                      int64_t number) const;
    Result<Interdiff> interdiff(const access::Caller& caller, const review::ArtifactId& artifact, int64_t from,
                                int64_t to) const;
    // Reads a pull request from the forge now; retries a step that failed.
    Result<review::PullRequest> sync(const access::Caller& caller, const review::PullRequestId& id);
    // Gives the worker the commits that people pushed to the branch on the forge, and requests that it continues on
    // them.
    Result<review::PullRequest> take_over(const access::Caller& caller, const review::PullRequestId& id);
    // What people wrote about it, read from the forge now.
    Result<std::vector<ForgeCommentView>> forge_comments(const access::Caller& caller,
                                                         const review::PullRequestId& id) const;
    // What a check of the forge printed, read from the forge now. `check`: its id or name.
    Result<review::CheckLog> check_log(const access::Caller& caller, const review::PullRequestId& id,
                                       const std::string& check) const;
    // Sends the failed checks with the ends of their logs to the session, as data.
    Result<review::PullRequest> send_checks(const access::Caller& caller, const review::PullRequestId& id);
    // For the worker itself: the open pull requests of its run with their checks, and the log of one of these checks.
    Result<std::vector<review::PullRequest>> pull_requests_of_run(const std::string& run) const;
    Result<review::CheckLog> check_log_of_run(const std::string& run, const std::string& check) const;
    // What the credential of a repository can do on its forge.
    Result<std::vector<review::RepoCheck>> check_repo(const access::Caller& caller, const forge::Repo& repo) const;
    // Before a repository is removed. Conflict while it has pull requests that are not over, unless they are abandoned.
    Result<> release_repo(const access::Caller& caller, const forge::Repo& repo, bool abandon);
    // After a repository got another address: its pull requests are read there now.
    Result<> repo_moved(const access::Caller& caller, const forge::Repo& repo);
    // A forge reported a change: its open pull requests are due now.
    Result<> take_hook(const forge::HookEvent& event);
    // Opens an issue on the repository's forge with the credential of its skill.
    Result<forge::ForgeIssue> open_issue(const access::Caller& caller, const forge::Repo& repo,
                                         const NewForgeIssue& wanted);

    // review::RunSource
    Result<review::RunFacts> facts(const std::string& run) override;
    Result<> note(const std::string& run, const review::ArtifactId& artifact, const std::string& line) override;
    Result<> send_follow_up(const access::Caller& caller, const std::string& run, const std::string& message) override;

    review::Branches branches;
    review::Reviews reviews;
    review::PullRequests pull_requests;
    std::optional<review::LabelOutbox> labels; // after set_label_sink

private:
    Result<review::CheckLog> read_log(const review::PullRequest& one, const std::string& check) const;

    sql::Database& m_database;
    const Clock& m_clock;
    RunServices& m_runs;
    access::Access& m_access;
    IssueOfRun m_issue_of_run;
    review::Inspector* m_inspector = nullptr; // null: the machine cannot isolate git
    review::Delivery* m_delivery = nullptr;   // likewise
    std::function<void()> m_wake_delivery;
    BringCommits m_bring_commits;
};

} // namespace hone::run
