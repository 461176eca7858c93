#include "run/run_notices.h"

#include "review/artifacts.h"
#include "review/branch/branches.h"
#include "review/delivery/pull_requests.h"
#include "run/runs.h"

#include <fmt/format.h>

namespace hone::run {

namespace {

constexpr int64_t most_per_scan = 500;

} // namespace

Result<> RunNotices::find(notice::Notices& notices, Time since) {
    TRY(find_ended_runs(notices, since));
    TRY(find_pending_reviews(notices, since));
    return find_pull_requests(notices, since);
}

Result<> RunNotices::find_ended_runs(notice::Notices& notices, Time since) {
    for (const Run& run : TRY(runs_ended_since(m_database, since, most_per_scan))) {
        notice::Notice notice;
        notice.space = run.space_id;
        notice.project = run.project_id;
        notice.kind = notice::Kind::run_finished;
        notice.title = fmt::format("Run {}: {}", name_of(run.state), run.title);
        notice.body = fmt::format("Started by {}.{}", run.started_by, run.reason.empty() ? "" : " " + run.reason);
        notice.link = "/runs/" + run.id.text();
        // A session that a follow-up resumes ends again.
        notice.key = run.id.text() + ":" + std::to_string(to_ns(*run.ended_at));
        TRY(notices.notify(notice));
    }
    return {};
}

Result<> RunNotices::find_pending_reviews(notice::Notices& notices, Time since) {
    const auto artifacts = TRY(review::artifacts_pending_since(m_database, since, most_per_scan));
    std::vector<RunId> ids;
    for (const review::Artifact& artifact : artifacts) ids.emplace_back(artifact.run_id);
    const auto titles = TRY(run_titles(m_database, ids));
    const auto revisions = TRY(review::newest_revisions(m_database, artifacts));
    for (const review::Artifact& artifact : artifacts) {
        const auto title = titles.find(RunId(artifact.run_id));
        if (title == titles.end()) continue;
        notice::Notice notice;
        notice.space = artifact.space_id;
        notice.project = artifact.project_id;
        notice.kind = notice::Kind::review_waiting;
        notice.title = fmt::format("Review pending: {} {}", name_of(artifact.kind), artifact.name);
        notice.body = "Saved by the run \"" + title->second + "\".";
        notice.link = "/inbox/" + artifact.id.text();
        notice.key = artifact.id.text();
        // Each later revision waits again.
        if (const auto revision = revisions.find(artifact.id.text());
            revision != revisions.end() && revision->second > 1) {
            notice.title += fmt::format(", revision {}", revision->second);
            notice.key += ":" + std::to_string(revision->second);
        }
        TRY(notices.notify(notice));
    }
    return {};
}

Result<> RunNotices::find_pull_requests(notice::Notices& notices, Time since) {
    for (const review::PullRequestNews& one : TRY(review::pull_request_news(m_database, since, most_per_scan))) {
        using enum review::PullRequestEventKind;
        const review::PullRequest& about = one.pull_request;
        const std::string name =
            about.number ? fmt::format("{} #{}", about.repo_name, *about.number) : about.repo_name + " " + about.branch;
        notice::Notice notice;
        notice.space = about.space_id;
        notice.project = about.project_id;
        notice.link = "/inbox/" + about.artifact_id.text();
        notice.key = one.event.id.text();
        notice.body = one.event.message;
        switch (one.event.kind) {
        case opened:
            notice.kind = notice::Kind::pull_request_opened;
            notice.title = fmt::format("Pull request opened: {} {}", name, about.title);
            break;
        case merged:
            notice.kind = notice::Kind::pull_request_merged;
            notice.title = fmt::format("Pull request merged: {} {}", name, about.title);
            break;
        case changes_requested:
            notice.kind = notice::Kind::pull_request_changes_requested;
            notice.title = fmt::format("Changes requested on the forge: {} {}", name, about.title);
            break;
        case commits_added:
        case force_pushed:
            notice.kind = notice::Kind::pull_request_changed;
            notice.title = fmt::format("People pushed to the branch of {} {}", name, about.title);
            break;
        default:
            notice.kind = notice::Kind::pull_request_failed;
            notice.title =
                fmt::format("Pull request not {}: {} {}", about.number ? "updated" : "opened", name, about.title);
        }
        TRY(notices.notify(notice));
    }
    return {};
}

} // namespace hone::run
