// Reviews of artifacts, above all of branches.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/loop/artifact_query.h"
#include "run/outputs/outputs.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct OfRevision {
    static constexpr bool is_query = true;
    std::optional<int64_t> revision;
    static constexpr Pack fields{
        Field{"revision", &OfRevision::revision, "Number of the revision; the newest if not given."},
    };
};

struct FileOfRevision {
    static constexpr bool is_query = true;
    std::optional<std::string> path;
    std::optional<int64_t> revision;
    static constexpr Pack fields{
        Field{"path", &FileOfRevision::path, "File as the diff names it; needed."},
        Field{"revision", &FileOfRevision::revision, "Number of the revision; the newest if not given."},
    };
};

struct BetweenRevisions {
    static constexpr bool is_query = true;
    std::optional<int64_t> from;
    std::optional<int64_t> to;
    static constexpr Pack fields{
        Field{"from", &BetweenRevisions::from, "Earlier revision; needed."},
        Field{"to", &BetweenRevisions::to, "Later revision; the newest if not given."},
    };
};

struct DiffView {
    int64_t revision = 0;
    std::string base_commit;
    std::string head_commit;
    int64_t additions = 0;
    int64_t deletions = 0;
    bool truncated = false;
    std::vector<review::FileChange> files;
    static constexpr Pack fields{
        Field{"revision", &DiffView::revision, "Number of the revision."},
        Field{"base_commit", &DiffView::base_commit, "Base commit."},
        Field{"head_commit", &DiffView::head_commit, "Head commit."},
        Field{"additions", &DiffView::additions, "Added lines."},
        Field{"deletions", &DiffView::deletions, "Deleted lines."},
        Field{"truncated", &DiffView::truncated, "The diff is larger than the shown part."},
        Field{"files", &DiffView::files, "Changed files; GET …/diff/file has the lines of one."},
    };
};

struct InterdiffView {
    int64_t from = 0;
    int64_t to = 0;
    bool base_changed = false;
    int64_t additions = 0;
    int64_t deletions = 0;
    bool truncated = false;
    std::vector<review::FileDiff> files;
    static constexpr Pack fields{
        Field{"from", &InterdiffView::from, "Earlier revision."},
        Field{"to", &InterdiffView::to, "Later revision."},
        Field{"base_changed", &InterdiffView::base_changed,
              "The revisions have different base commits: other changes are included."},
        Field{"additions", &InterdiffView::additions, "Added lines."},
        Field{"deletions", &InterdiffView::deletions, "Deleted lines."},
        Field{"truncated", &InterdiffView::truncated, "The diff is larger than the shown part."},
        Field{"files", &InterdiffView::files, "Changes between the revisions, with lines."},
    };
};

struct ChangeComment {
    std::optional<std::string> body;
    std::optional<bool> resolved;
    static constexpr Pack fields{
        Field{"body", &ChangeComment::body, "New text; only by its author, before it is sent to the session."},
        Field{"resolved", &ChangeComment::resolved, "Resolves or reopens the thread."},
    };
};

struct SetViewed {
    std::string path;
    bool viewed = true;
    static constexpr Pack fields{
        Field{"path", &SetViewed::path, "File as the diff names it."},
        Field{"viewed", &SetViewed::viewed, "false removes the mark."},
    };
};

struct ViewedFiles {
    std::vector<std::string> paths;
    static constexpr Pack fields{
        Field{"paths", &ViewedFiles::paths, "Files that the caller marked as viewed and that have not changed since."},
    };
};

struct ReviewCounts {
    int64_t pending = 0;
    std::vector<review::ReviewCount> counts;
    static constexpr Pack fields{
        Field{"pending", &ReviewCounts::pending, "Number of artifacts of all kinds that wait for a review."},
        Field{"counts", &ReviewCounts::counts, "Counts by kind and state."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

Result<One<review::ReviewView>> decide(const Call& call, review::ReviewState decision, const review::Decide& wanted) {
    const auto id = TRY(id_in_path<review::ArtifactTag>(call, "artifact"));
    TRY(call.services.outputs.decide(call.caller, id, decision, wanted));
    return One<review::ReviewView>{TRY(call.services.review.reviews.find(call.caller, id))};
}

} // namespace

Result<List<review::ReviewItem>> list_reviews(const Call& call, const ListArtifacts& query) {
    const auto space = TRY(space_of(call, query.space));
    return call.services.review.reviews.list(call.caller, space, filter_of(query),
                                             TRY(page_of(query.limit, query.cursor)));
}

Result<One<ReviewCounts>> count_reviews(const Call& call, const InSpace& query) {
    const auto space = TRY(space_of(call, query.space));
    ReviewCounts counts;
    counts.counts = TRY(call.services.review.reviews.counts(call.caller, space));
    for (const review::ReviewCount& one : counts.counts)
        if (one.review == review::ReviewState::pending) counts.pending += one.count;
    return One<ReviewCounts>{std::move(counts)};
}

Result<One<review::ReviewView>> get_review(const Call& call) {
    const auto id = TRY(id_in_path<review::ArtifactTag>(call, "artifact"));
    return One<review::ReviewView>{TRY(call.services.review.reviews.find(call.caller, id))};
}

Result<One<DiffView>> get_review_diff(const Call& call, const OfRevision& query) {
    run::ReviewServices& services = call.services.review;
    const auto id = TRY(id_in_path<review::ArtifactTag>(call, "artifact"));
    const review::Revision revision = TRY(services.revision(call.caller, id, query.revision.value_or(0)));
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
    run::ReviewServices& services = call.services.review;
    const auto id = TRY(id_in_path<review::ArtifactTag>(call, "artifact"));
    const review::Revision revision = TRY(services.revision(call.caller, id, query.revision.value_or(0)));
    if (!query.path) return invalid("query parameter path is missing");
    review::Diff diff = TRY(services.branches.diff(revision));
    for (review::FileDiff& file : diff.files)
        if (file.file.path == *query.path) return One<review::FileDiff>{std::move(file)};
    return not_found("file " + std::string(truncate_utf8(*query.path, 200)) + " in this diff");
}

Result<One<InterdiffView>> get_interdiff(const Call& call, const BetweenRevisions& query) {
    if (!query.from) return invalid("query parameter from is missing");
    const auto id = TRY(id_in_path<review::ArtifactTag>(call, "artifact"));
    run::Interdiff made = TRY(call.services.review.interdiff(call.caller, id, *query.from, query.to.value_or(0)));
    return One<InterdiffView>{InterdiffView{made.from.revision, made.to.revision,
                                            made.from.base_commit != made.to.base_commit, made.diff.additions,
                                            made.diff.deletions, made.diff.truncated, std::move(made.diff.files)}};
}

// Made by a worker: offered for saving, never shown as anything but text.
Result<net::Response> get_review_patch(const Call& call, const OfRevision& query) {
    run::ReviewServices& services = call.services.review;
    const auto id = TRY(id_in_path<review::ArtifactTag>(call, "artifact"));
    const review::Revision revision = TRY(services.revision(call.caller, id, query.revision.value_or(0)));
    net::Response response;
    response.body = TRY(services.branches.patch(revision));
    response.content_type = "text/plain; charset=utf-8";
    const std::string name = call.at("artifact") + "-" + std::to_string(revision.revision) + ".patch";
    response.set_header("Content-Disposition", "attachment; filename=\"" + name + "\"");
    response.set_header("X-Content-Type-Options", "nosniff");
    return response;
}

Result<List<review::Comment>> list_review_comments(const Call& call, const PageQuery& query) {
    return call.services.review.reviews.comments(call.caller, TRY(id_in_path<review::ArtifactTag>(call, "artifact")),
                                                 TRY(page_of(query.limit, query.cursor)));
}

Result<One<review::Comment>> add_review_comment(const Call& call, const review::NewComment& body) {
    const auto id = TRY(id_in_path<review::ArtifactTag>(call, "artifact"));
    return One<review::Comment>{TRY(call.services.review.reviews.comment(call.caller, id, body))};
}

Result<One<review::Comment>> change_review_comment(const Call& call, const ChangeComment& body) {
    const auto comment = parse_id<review::CommentTag>(call.at("comment"));
    if (!comment.ok()) return not_found("comment " + std::string(truncate_utf8(call.at("comment"), 60)));
    const auto id = TRY(id_in_path<review::ArtifactTag>(call, "artifact"));
    return One<review::Comment>{
        TRY(call.services.review.reviews.change_comment(call.caller, id, comment.value(), body.body, body.resolved))};
}

Result<One<ViewedFiles>> get_viewed(const Call& call) {
    const auto id = TRY(id_in_path<review::ArtifactTag>(call, "artifact"));
    return One<ViewedFiles>{{TRY(call.services.review.reviews.viewed(call.caller, id))}};
}

Result<One<ViewedFiles>> set_viewed(const Call& call, const SetViewed& body) {
    run::ReviewServices& services = call.services.review;
    const auto id = TRY(id_in_path<review::ArtifactTag>(call, "artifact"));
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

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route reviews_table[] = {
    route<list_reviews>("GET", "/v1/reviews", need(run_read), "The inbox: artifacts and their reviews, newest first."),
    route<count_reviews>("GET", "/v1/review_counts", need(run_read), "Counts of artifacts by kind and state."),
    route<get_review>("GET", "/v1/reviews/{artifact}", need(run_read),
                      "Revisions, flags, verification, decisions and pull request of one artifact."),
    route<get_review_diff>("GET", "/v1/reviews/{artifact}/diff", need(run_read), "Files that a branch changes."),
    route<get_review_file>("GET", "/v1/reviews/{artifact}/diff/file", need(run_read), "Lines of one changed file."),
    route<get_interdiff>("GET", "/v1/reviews/{artifact}/interdiff", need(run_read), "Changes between two revisions.")
        .on(net::Lane::query),
    route<get_review_patch>("GET", "/v1/reviews/{artifact}/patch", need(run_read), "Patch of a branch for `git am`.")
        .raw("text/plain"),
    route<list_review_comments>("GET", "/v1/reviews/{artifact}/comments", need(run_read),
                                "Comments on an artifact, oldest first."),
    route<add_review_comment>("POST", "/v1/reviews/{artifact}/comments", need(artifact_review),
                              "Comment on a line, a file or the whole artifact; or reply to a comment."),
    route<change_review_comment>("PATCH", "/v1/reviews/{artifact}/comments/{comment}", need(artifact_review),
                                 "Change a comment, or resolve or reopen its thread."),
    route<get_viewed>("GET", "/v1/reviews/{artifact}/viewed", need(run_read),
                      "Files that the caller has marked as viewed."),
    route<set_viewed>("PUT", "/v1/reviews/{artifact}/viewed", need(run_read), "Mark a file as viewed, or not."),
    route<approve_review>("POST", "/v1/reviews/{artifact}/approve", need(artifact_review),
                          "Approve an artifact; a branch with enough approvals is pushed and a pull request opened."),
    route<reject_review>("POST", "/v1/reviews/{artifact}/reject", need(artifact_review), "Reject an artifact."),
    route<request_changes>("POST", "/v1/reviews/{artifact}/request_changes", need(artifact_review),
                           "Request changes: sends the comments to the session."),
};

} // namespace

std::span<const Route> reviews_routes() {
    return reviews_table;
}

} // namespace hone::api
