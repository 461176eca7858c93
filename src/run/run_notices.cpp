#include "run/run_notices.h"

#include "review/artifacts.h"
#include "run/runs.h"

#include <fmt/format.h>

namespace hone::run {

namespace {

constexpr int64_t most_per_scan = 500;

} // namespace

Result<> RunNotices::find(notice::Notices& notices, Time since) {
    TRY(find_ended_runs(notices, since));
    return find_pending_reviews(notices, since);
}

Result<> RunNotices::find_ended_runs(notice::Notices& notices, Time since) {
    for (const Run& run : TRY(runs_ended_since(m_database, since, m_clock.now(), most_per_scan))) {
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
        TRY(notices.notify(notice));
    }
    return {};
}

} // namespace hone::run
