#include "api/review_handlers.h"

#include "api/labels.h"
#include "api/path_id.h"
#include "api/run_handlers.h"
#include "api/span_handlers.h"

namespace hone::api {

namespace {

Result<review::PullRequestId> pull_request_in_path(const Call& call) {
    return id_in_path<review::PullRequestTag>(call, "pull_request");
}

// The revision that is asked about, of a branch that the caller may see.
Result<review::Revision> revision_of(const Call& call, ReviewServices& services, int64_t number) {
    const review::Artifact artifact = TRY(services.runs.artifacts.find(call.caller, TRY(artifact_in_path(call))));
    if (artifact.kind != review::ArtifactKind::branch)
        return invalid("only branches have a diff; this is a " + std::string(name_of(artifact.kind)));
    return services.branches.revision(artifact.id, number);
}

Result<One<review::ReviewView>> decide(const Call& call, review::ReviewState decision, const review::Decide& wanted) {
    ReviewServices& services = *TRY(reviews_of(call));
    const auto id = TRY(artifact_in_path(call));
    if (decision != review::ReviewState::approved && *wanted.allow_protected)
        return invalid("allow_protected belongs to an approval");
    TRY(decide_artifact(call, id, decision, wanted));
    return One<review::ReviewView>{TRY(services.reviews.find(call.caller, id))};
}

} // namespace

Result<review::ArtifactId> artifact_in_path(const Call& call) {
    return id_in_path<review::ArtifactTag>(call, "artifact");
}

Result<ReviewServices*> reviews_of(const Call& call) {
    if (call.services.reviews == nullptr) return unavailable("this server has no reviews");
    return call.services.reviews;
}

// Approved labels are in the outbox with the approval; publishing them now is only faster than the background step.
Result<review::Artifact> decide_artifact(const Call& call, const review::ArtifactId& id, review::ReviewState decision,
                                         const review::Decide& wanted) {
    ReviewServices& services = *TRY(reviews_of(call));
    review::Artifact decided = TRY(services.reviews.decide(call.caller, id, decision, wanted));
    if (decided.kind != review::ArtifactKind::labels || decision != review::ReviewState::approved) return decided;
    services.publish_labels(id);
    return services.runs.artifacts.find(call.caller, id);
}

Result<List<review::ReviewItem>> list_reviews(const Call& call, const ListReviews& query) {
    const auto space = TRY(call.access().spaces.choose(call.caller, query.space));
    return TRY(reviews_of(call))
        ->reviews.list(call.caller, space, {query.project, query.run, query.kind, query.review},
                       TRY(page_of(query.limit, query.cursor)));
}

Result<One<ReviewCounts>> count_reviews(const Call& call, const InSpace& query) {
    const auto space = TRY(call.access().spaces.choose(call.caller, query.space));
    ReviewCounts counts;
    counts.counts = TRY(TRY(reviews_of(call))->reviews.counts(call.caller, space));
    for (const review::ReviewCount& one : counts.counts)
        if (one.review == review::ReviewState::pending) counts.pending += one.count;
    return One<ReviewCounts>{std::move(counts)};
}

Result<One<review::ReviewView>> get_review(const Call& call) {
    return One<review::ReviewView>{TRY(TRY(reviews_of(call))->reviews.find(call.caller, TRY(artifact_in_path(call))))};
}

Result<One<DiffView>> get_review_diff(const Call& call, const OfRevision& query) {
    ReviewServices& services = *TRY(reviews_of(call));
    const review::Revision revision = TRY(revision_of(call, services, query.revision.value_or(0)));
    review::Diff diff = TRY(services.branches.diff(revision));
    DiffView view{revision.revision,
                  revision.base_commit,
                  revision.head_commit,
                  diff.additions,
                  diff.deletions,
                  diff.truncated,
                  {}};
    for (review::FileDiff& file : diff.files) view.files.push_back(std::move(file.file));
    return One<DiffView>{std::move(view)};
}

Result<One<review::FileDiff>> get_review_file(const Call& call, const FileOfRevision& query) {
    ReviewServices& services = *TRY(reviews_of(call));
    const review::Revision revision = TRY(revision_of(call, services, query.revision.value_or(0)));
    if (!query.path) return invalid("query parameter path is missing");
    review::Diff diff = TRY(services.branches.diff(revision));
    for (review::FileDiff& file : diff.files)
        if (file.file.path == *query.path) return One<review::FileDiff>{std::move(file)};
    return not_found("file " + std::string(truncate_utf8(*query.path, 200)) + " in this diff");
}

Result<One<InterdiffView>> get_interdiff(const Call& call, const BetweenRevisions& query) {
    ReviewServices& services = *TRY(reviews_of(call));
    if (!query.from) return invalid("query parameter from is missing");
    const review::Revision from = TRY(revision_of(call, services, *query.from));
    const review::Revision to = TRY(revision_of(call, services, query.to.value_or(0)));
    if (services.inspector == nullptr) return unavailable("this machine cannot run git in a sandbox (`hone check`)");
    review::Diff diff = TRY(services.inspector->interdiff(TRY(artifact_in_path(call)), from.revision, to.revision));
    return One<InterdiffView>{InterdiffView{from.revision, to.revision, from.base_commit != to.base_commit,
                                            diff.additions, diff.deletions, diff.truncated, std::move(diff.files)}};
}

// Made by a worker: offered for saving, never shown as anything but text.
Result<net::Response> get_review_patch(const Call& call, const OfRevision& query) {
    ReviewServices& services = *TRY(reviews_of(call));
    const review::Revision revision = TRY(revision_of(call, services, query.revision.value_or(0)));
    net::Response response;
    response.body = TRY(services.branches.patch(revision));
    response.content_type = "text/plain; charset=utf-8";
    const std::string name = call.at("artifact") + "-" + std::to_string(revision.revision) + ".patch";
    response.set_header("Content-Disposition", "attachment; filename=\"" + name + "\"");
    response.set_header("X-Content-Type-Options", "nosniff");
    return response;
}

Result<List<review::Comment>> list_review_comments(const Call& call, const PageQuery& query) {
    return TRY(reviews_of(call))
        ->reviews.comments(call.caller, TRY(artifact_in_path(call)), TRY(page_of(query.limit, query.cursor)));
}

Result<One<review::Comment>> add_review_comment(const Call& call, const review::NewComment& body) {
    return One<review::Comment>{
        TRY(TRY(reviews_of(call))->reviews.comment(call.caller, TRY(artifact_in_path(call)), body))};
}

Result<One<review::Comment>> change_review_comment(const Call& call, const ChangeComment& body) {
    const auto comment = parse_id<review::CommentTag>(call.at("comment"));
    if (!comment.ok()) return not_found("comment " + std::string(truncate_utf8(call.at("comment"), 60)));
    return One<review::Comment>{TRY(TRY(reviews_of(call))
                                        ->reviews.change_comment(call.caller, TRY(artifact_in_path(call)),
                                                                 comment.value(), body.body, body.resolved))};
}

Result<One<ViewedFiles>> get_viewed(const Call& call) {
    return One<ViewedFiles>{{TRY(TRY(reviews_of(call))->reviews.viewed(call.caller, TRY(artifact_in_path(call))))}};
}

Result<One<ViewedFiles>> set_viewed(const Call& call, const SetViewed& body) {
    ReviewServices& services = *TRY(reviews_of(call));
    const auto id = TRY(artifact_in_path(call));
    TRY(services.reviews.set_viewed(call.caller, id, body.path, body.viewed));
    return One<ViewedFiles>{{TRY(services.reviews.viewed(call.caller, id))}};
}

Result<One<review::ReviewView>> approve_review(const Call& call, const review::Decide& body) {
    return decide(call, review::ReviewState::approved, body);
}

Result<One<review::ReviewView>> reject_review(const Call& call, const review::Decide& body) {
    return decide(call, review::ReviewState::rejected, body);
}

Result<One<review::ReviewView>> request_changes(const Call& call, const review::Decide& body) {
    return decide(call, review::ReviewState::changes_requested, body);
}

Result<List<review::PullRequest>> list_pull_requests(const Call& call, const ListPullRequests& query) {
    const auto space = TRY(call.access().spaces.choose(call.caller, query.space));
    return TRY(reviews_of(call))
        ->pull_requests.list(call.caller, space, {query.project, query.repo, query.run, query.fix_of, query.state},
                             TRY(page_of(query.limit, query.cursor)));
}

Result<One<review::PullRequest>> get_pull_request(const Call& call) {
    return One<review::PullRequest>{
        TRY(TRY(reviews_of(call))->pull_requests.find(call.caller, TRY(pull_request_in_path(call))))};
}

Result<One<review::PullRequest>> sync_pull_request(const Call& call) {
    ReviewServices& services = *TRY(reviews_of(call));
    auto woken = TRY(services.pull_requests.wake(call.caller, TRY(pull_request_in_path(call))));
    if (services.wake_delivery) services.wake_delivery();
    return One<review::PullRequest>{std::move(woken)};
}

} // namespace hone::api
