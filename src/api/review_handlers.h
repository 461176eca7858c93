// Handlers of reviews and pull requests.
#pragma once

#include "api/call.h"
#include "api/review_requests.h"
#include "api/review_services.h"

namespace hone::api {

Result<List<review::ReviewItem>> list_reviews(const Call&, const ListReviews&);
Result<One<ReviewCounts>> count_reviews(const Call&, const InSpace&);
Result<One<review::ReviewView>> get_review(const Call&);
Result<One<DiffView>> get_review_diff(const Call&, const OfRevision&);
Result<One<review::FileDiff>> get_review_file(const Call&, const FileOfRevision&);
Result<One<InterdiffView>> get_interdiff(const Call&, const BetweenRevisions&);
Result<net::Response> get_review_patch(const Call&, const OfRevision&);
Result<List<review::Comment>> list_review_comments(const Call&, const PageQuery&);
Result<One<review::Comment>> add_review_comment(const Call&, const review::NewComment&);
Result<One<review::Comment>> change_review_comment(const Call&, const ChangeComment&);
Result<One<ViewedFiles>> get_viewed(const Call&);
Result<One<ViewedFiles>> set_viewed(const Call&, const SetViewed&);
Result<One<review::ReviewView>> approve_review(const Call&, const review::Decide&);
Result<One<review::ReviewView>> reject_review(const Call&, const review::Decide&);
Result<One<review::ReviewView>> request_changes(const Call&, const review::Decide&);

Result<List<review::PullRequest>> list_pull_requests(const Call&, const ListPullRequests&);
Result<One<review::PullRequest>> get_pull_request(const Call&);
Result<One<review::PullRequest>> sync_pull_request(const Call&);

// review_hooks.cpp
Result<One<ForgeHook>> make_forge_hook(const Call&, const InSpace&);
Result<One<OpenedIssue>> open_repo_issue(const Call&, const InSpace&, const OpenRepoIssue&);
Result<NoContent> deliver_forge_hook(const Call&, const RawBody&);

Result<ReviewServices*> reviews_of(const Call& call);
Result<review::ArtifactId> artifact_in_path(const Call& call);
// A decision about any artifact, and what it sets in motion.
Result<review::Artifact> decide_artifact(const Call& call, const review::ArtifactId& id, review::ReviewState decision,
                                         const review::Decide& wanted);

} // namespace hone::api
