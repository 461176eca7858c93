// Signal and issues.
#include "api/routes.h"
#include "api/signal_handlers.h"

namespace hone::api {

namespace {

using enum access::Permission;

const Route signal_table[] = {
    route<get_signal>("GET", "/v1/projects/{project}/signal", need(issue_read),
                      "Settings of Signal, its last and its next scan."),
    route<put_signal>("PUT", "/v1/projects/{project}/signal", need(automation_write),
                      "Switch Signal on or off, change its settings."),
    route<scan_project>("POST", "/v1/projects/{project}/signal/scan", need(issue_write),
                        "Scan now; answers when it is done.")
        .on(net::Lane::query),
    route<list_scans>("GET", "/v1/projects/{project}/signal/scans", need(issue_read),
                      "Scans with what they found and cost, newest first."),
    route<get_issue_volumes>("GET", "/v1/projects/{project}/issue_volume", need(issue_read),
                             "Traces that issues touch, by hour and severity."),
    route<list_issues>("GET", "/v1/issues", need(issue_read), "Issues, highest score first."),
    route<report_issue>("POST", "/v1/issues", need(issue_write),
                        "Tell of a problem; the same one again is the same issue."),
    route<get_issue>("GET", "/v1/issues/{issue}", need(issue_read), "An issue and what it is recognised by."),
    route<update_issue>("PATCH", "/v1/issues/{issue}", need(issue_write),
                        "Change status (with a reason), severity, assignee or title."),
    route<merge_issue>("POST", "/v1/issues/{issue}/merge", need(issue_write), "Make another issue a part of this one."),
    route<split_issue>("POST", "/v1/issues/{issue}/split", need(issue_write),
                       "Give one of its fingerprints an issue of its own."),
    route<list_issue_comments>("GET", "/v1/issues/{issue}/comments", need(issue_read), "Comments, newest first."),
    route<comment_on_issue>("POST", "/v1/issues/{issue}/comments", need(issue_write), "Add a comment."),
    route<list_issue_history>("GET", "/v1/issues/{issue}/history", need(issue_read),
                              "What happened to it, newest first."),
    route<get_issue_volume>("GET", "/v1/issues/{issue}/volume", need(issue_read), "Traces that it touches, by hour."),
    route<investigate_issue>("POST", "/v1/issues/{issue}/investigate", need(run_start),
                             "Let a worker investigate it now."),
    route<fix_issue>("POST", "/v1/issues/{issue}/fix", need(run_start), "Let a worker propose a fix."),
    route<monitor_issue>("POST", "/v1/issues/{issue}/monitor", need(monitor_write), "Make a monitor that watches it."),
    route<evaluate_issue>("POST", "/v1/issues/{issue}/evaluator", need(eval_write),
                          "Make an evaluator that marks its spans from now on, and those of the last day."),
    route<get_forge_issue_draft>("GET", "/v1/issues/{issue}/forge_issue", need(issue_read),
                                 "The text that opening an issue on a forge would publish."),
    route<link_forge_issue>("POST", "/v1/issues/{issue}/forge_issue", need(issue_write),
                            "Open an issue on a repository's forge, or link one that is there."),
    route<unlink_forge_issue>("DELETE", "/v1/issues/{issue}/forge_issue", need(issue_write),
                              "Take the link away; the issue on the forge stays."),
    route<list_evaluators>("GET", "/v1/evaluators", need(project_read), "Rules that judge new spans, oldest first."),
    route<create_evaluator>("POST", "/v1/evaluators", need(eval_write), "Make a rule that judges new spans."),
    route<preview_evaluator>("POST", "/v1/evaluator_preview", need(project_read),
                             "What a rule would have said about the last 24 hours.")
        .on(net::Lane::query),
    route<get_evaluator>("GET", "/v1/evaluators/{evaluator}", need(project_read), "A rule and what it did."),
    route<update_evaluator>("PATCH", "/v1/evaluators/{evaluator}", need(eval_write),
                            "Change a rule, switch it on or off."),
    route<delete_evaluator>("DELETE", "/v1/evaluators/{evaluator}", need(eval_write), "Delete a rule; its evals stay."),
};

} // namespace

std::span<const Route> signal_routes() {
    return signal_table;
}

} // namespace hone::api
