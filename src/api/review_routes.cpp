// Reviews of artifacts, above all of branches, and the pull requests that come of them.
#include "api/review_handlers.h"
#include "api/routes.h"

namespace hone::api {

namespace {

using enum access::Permission;

const Route review_table[] = {
    route<list_reviews>("GET", "/v1/reviews", need(run_read), "The inbox: artifacts and their reviews, newest first."),
    route<count_reviews>("GET", "/v1/review_counts", need(run_read), "How much waits for a person."),
    route<get_review>("GET", "/v1/reviews/{artifact}", need(run_read),
                      "Revisions, flags, verification, decisions and pull request of one artifact."),
    route<get_review_diff>("GET", "/v1/reviews/{artifact}/diff", need(run_read), "Files that a branch changes."),
    route<get_review_file>("GET", "/v1/reviews/{artifact}/diff/file", need(run_read), "Lines of one changed file."),
    route<get_interdiff>("GET", "/v1/reviews/{artifact}/interdiff", need(run_read),
                         "What changed from one revision to a later one.")
        .on(net::Lane::query),
    route<get_review_patch>("GET", "/v1/reviews/{artifact}/patch", need(run_read), "A patch for `git am`.")
        .raw("text/plain"),
    route<list_review_comments>("GET", "/v1/reviews/{artifact}/comments", need(run_read), "Comments, oldest first."),
    route<add_review_comment>("POST", "/v1/reviews/{artifact}/comments", need(artifact_review),
                              "Comment on a line, a file or the whole; or answer a comment."),
    route<change_review_comment>("PATCH", "/v1/reviews/{artifact}/comments/{comment}", need(artifact_review),
                                 "Change a comment, or close and open its thread."),
    route<get_viewed>("GET", "/v1/reviews/{artifact}/viewed", need(run_read), "Files that the caller has viewed."),
    route<set_viewed>("PUT", "/v1/reviews/{artifact}/viewed", need(run_read), "Mark a file as viewed, or not."),
    route<approve_review>("POST", "/v1/reviews/{artifact}/approve", need(artifact_review),
                          "Approve; a branch with enough approvals is pushed and a pull request opened."),
    route<reject_review>("POST", "/v1/reviews/{artifact}/reject", need(artifact_review), "Reject."),
    route<request_changes>("POST", "/v1/reviews/{artifact}/request_changes", need(artifact_review),
                           "Send the comments to the session and wait for its next push."),
    route<list_pull_requests>("GET", "/v1/pull_requests", need(run_read), "Pull requests of a space, newest first."),
    route<get_pull_request>("GET", "/v1/pull_requests/{pull_request}", need(run_read), "A pull request."),
    route<sync_pull_request>("POST", "/v1/pull_requests/{pull_request}/sync", need(artifact_review),
                             "Look at it now: try again what failed, or ask the forge."),
    route<open_repo_issue>("POST", "/v1/repos/{repo}/issues", need(artifact_review),
                           "Open an issue on the repository's forge with its credential."),
    route<make_forge_hook>("POST", "/v1/repos/{repo}/hook", need(repo_write),
                           "Make the secret of the repository's webhook, or another one.")
        .secret(),
    route<deliver_forge_hook>("POST", "/v1/forge_hooks/{repo}", guest,
                              "For forges: something about a pull request changed.")
        .takes("application/json, application/x-www-form-urlencoded"),
};

} // namespace

std::span<const Route> review_routes() {
    return review_table;
}

} // namespace hone::api
