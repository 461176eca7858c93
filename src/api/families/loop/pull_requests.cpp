// Pull requests of approved branches.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "run/outputs/review_services.h"

#include <algorithm>

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ListPullRequests {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> project;
    std::optional<std::string> repo;
    std::optional<std::string> run;
    std::optional<std::string> fix_of;
    std::optional<review::PullRequestState> state;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &ListPullRequests::space, "Id or name of the space; the caller's first one if not given."},
        Field{"project", &ListPullRequests::project, "Id or name of a project: only pull requests of its runs."},
        Field{"repo", &ListPullRequests::repo, "Id or name of a repository: only its pull requests."},
        Field{"run", &ListPullRequests::run, "Id of a run: only its pull requests."},
        Field{"fix_of", &ListPullRequests::fix_of, "Id of an issue: only its fixes."},
        Field{"state", &ListPullRequests::state, "Only pull requests in this state."},
        Field{"limit", &ListPullRequests::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListPullRequests::cursor, "next_cursor of the previous response."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

Result<review::PullRequestId> pull_request_in_path(const Call& call) {
    return id_in_path<review::PullRequestTag>(call, "pull_request");
}

} // namespace

Result<List<review::PullRequest>> list_pull_requests(const Call& call, const ListPullRequests& query) {
    const auto space = TRY(space_of(call, query.space));
    return call.services.review.pull_requests.list(call.caller, space,
                                                   {query.project, query.repo, query.run, query.fix_of, query.state},
                                                   TRY(page_of(query.limit, query.cursor)));
}

Result<One<review::PullRequest>> get_pull_request(const Call& call) {
    const auto id = TRY(pull_request_in_path(call));
    return One<review::PullRequest>{TRY(call.services.review.pull_requests.find(call.caller, id))};
}

Result<One<review::PullRequest>> sync_pull_request(const Call& call) {
    const auto id = TRY(pull_request_in_path(call));
    return One<review::PullRequest>{TRY(call.services.review.sync(call.caller, id))};
}

Result<List<review::PullRequestEvent>> list_pull_request_events(const Call& call, const PageQuery& query) {
    return call.services.review.pull_requests.events(call.caller, TRY(pull_request_in_path(call)),
                                                     TRY(page_of(query.limit, query.cursor)));
}

// There are about 100 at most: one page.
Result<List<run::ForgeCommentView>> list_pull_request_comments(const Call& call, const PageQuery& query) {
    const auto page = TRY(page_of(query.limit, query.cursor));
    List<run::ForgeCommentView> comments;
    comments.data = TRY(call.services.review.forge_comments(call.caller, TRY(pull_request_in_path(call))));
    comments.data.resize(std::min(comments.data.size(), static_cast<size_t>(page.limit)));
    return comments;
}

Result<One<review::PullRequest>> cancel_pull_request(const Call& call) {
    const auto id = TRY(pull_request_in_path(call));
    return One<review::PullRequest>{TRY(call.services.review.pull_requests.cancel(call.caller, id))};
}

Result<One<review::PullRequest>> abandon_pull_request(const Call& call) {
    const auto id = TRY(pull_request_in_path(call));
    return One<review::PullRequest>{TRY(call.services.review.pull_requests.abandon(call.caller, id))};
}

Result<One<review::PullRequest>> take_over_pull_request(const Call& call) {
    const auto id = TRY(pull_request_in_path(call));
    return One<review::PullRequest>{TRY(call.services.review.take_over(call.caller, id))};
}

Result<One<review::CheckLog>> get_pull_request_check_log(const Call& call) {
    const auto id = TRY(pull_request_in_path(call));
    return One<review::CheckLog>{TRY(call.services.review.check_log(call.caller, id, std::string(call.at("check"))))};
}

Result<One<review::PullRequest>> send_pull_request_checks(const Call& call) {
    const auto id = TRY(pull_request_in_path(call));
    return One<review::PullRequest>{TRY(call.services.review.send_checks(call.caller, id))};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route pull_requests_table[] = {
    route<list_pull_requests>("GET", "/v1/pull_requests", need(run_read), "Pull requests of a space, newest first."),
    route<get_pull_request>("GET", "/v1/pull_requests/{pull_request}", need(run_read), "A pull request."),
    route<sync_pull_request>("POST", "/v1/pull_requests/{pull_request}/sync", need(artifact_review),
                             "Update a pull request now: retry a failed step, or read its state from the forge."),
    route<list_pull_request_events>("GET", "/v1/pull_requests/{pull_request}/events", need(run_read),
                                    "What happened to a pull request, in Hone and on the forge, oldest first."),
    route<list_pull_request_comments>("GET", "/v1/pull_requests/{pull_request}/comments", need(run_read),
                                      "What people wrote about a pull request on the forge, read from there now.")
        .on(net::Lane::query),
    route<get_pull_request_check_log>("GET", "/v1/pull_requests/{pull_request}/checks/{check}/log", need(run_read),
                                      "What a check of the forge printed, read from there now.")
        .on(net::Lane::query),
    route<send_pull_request_checks>("POST", "/v1/pull_requests/{pull_request}/send_checks", need(artifact_review),
                                    "Send the failed checks, with the ends of their logs, to the session.")
        .on(net::Lane::query),
    route<cancel_pull_request>(
        "POST", "/v1/pull_requests/{pull_request}/cancel", need(artifact_review),
        "Withdraw what was approved and is not on the forge yet; the branch waits for a review."),
    route<abandon_pull_request>("POST", "/v1/pull_requests/{pull_request}/abandon", need(artifact_review),
                                "Stop following a pull request that will not end; nothing changes on the forge."),
    route<take_over_pull_request>("POST", "/v1/pull_requests/{pull_request}/take_over", need(artifact_review),
                                  "Give the worker the commits that people pushed to the branch on the forge.")
        .on(net::Lane::query),
};

} // namespace

std::span<const Route> pull_requests_routes() {
    return pull_requests_table;
}

} // namespace hone::api
