// Signal and issues.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "signal/advice.h"
#include "signal/signal.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ListScans {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &ListScans::space, "Id or name of the space; the caller's first one if not given."},
        Field{"limit", &ListScans::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListScans::cursor, "next_cursor of the previous response."},
    };
};

struct ListIssues {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> project;
    std::optional<std::string> status;
    std::optional<std::string> severity;
    std::optional<signal::Detector> detector;
    std::optional<std::string> assignee;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &ListIssues::space, "Id or name of the space; the caller's first one if not given."},
        Field{"project", &ListIssues::project, "Id or name of a project: only its issues."},
        Field{"status", &ListIssues::status,
              "Statuses, separated by commas, or `all`; open,investigating,fix_proposed if not given."},
        Field{"severity", &ListIssues::severity, "Severities, separated by commas: high,critical."},
        Field{"detector", &ListIssues::detector, "Only issues of this detector."},
        Field{"assignee", &ListIssues::assignee, "Id of a user; `me`: the caller."},
        Field{"limit", &ListIssues::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListIssues::cursor, "next_cursor of the previous response."},
    };
};

struct ReportIssue {
    std::string project;
    std::string title;
    std::string explanation;
    std::optional<signal::Severity> severity;
    std::optional<std::string> filter;
    std::optional<std::vector<std::string>> trace_ids;
    std::optional<std::string> subject;
    static constexpr Pack fields{
        Field{"project", &ReportIssue::project, "Id or name of the project."},
        Field{"title", &ReportIssue::title, "One line: the problem and where it happens."},
        Field{"explanation", &ReportIssue::explanation, "Observation, and why it matters."},
        Field{"severity", &ReportIssue::severity, "medium if not given."},
        Field{"filter", &ReportIssue::filter, "Filter of its spans, in the filter language."},
        Field{"trace_ids", &ReportIssue::trace_ids, "Ids of example traces; at most 20."},
        Field{"subject", &ReportIssue::subject,
              "Text that identifies the problem when it is reported again; the words of the title if not given."},
    };
};

struct IssueDetail {
    signal::Issue issue;
    std::vector<signal::Fingerprint> fingerprints;
    signal::Advice advice;
    static constexpr Pack fields{
        Field{"issue", &IssueDetail::issue, "The issue."},
        Field{"fingerprints", &IssueDetail::fingerprints,
              "Fingerprints: hashes of detector, project and subject; several after a merge."},
        Field{"advice", &IssueDetail::advice,
              "Usual cause and next step of such an issue: the same for each detector."},
    };
};

struct MergeIssue {
    signal::IssueId issue;
    static constexpr Pack fields{
        Field{"issue", &MergeIssue::issue, "Id of the issue to merge into this one."},
    };
};

struct SplitIssue {
    std::string fingerprint;
    static constexpr Pack fields{
        Field{"fingerprint", &SplitIssue::fingerprint, "Fingerprint to move to a new issue."},
    };
};

struct CommentOnIssue {
    std::string text;
    static constexpr Pack fields{
        Field{"text", &CommentOnIssue::text, "Plain text or Markdown, at most 20,000 bytes."},
    };
};

struct VolumeQuery {
    static constexpr bool is_query = true;
    std::optional<int64_t> hours;
    static constexpr Pack fields{
        Field{"hours", &VolumeQuery::hours, "Hours until now, 1 to 2160; 168 if not given."},
    };
};

struct ProjectVolumeQuery {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<int64_t> hours;
    static constexpr Pack fields{
        Field{"space", &ProjectVolumeQuery::space, "Id or name of the space; the caller's first one if not given."},
        Field{"hours", &ProjectVolumeQuery::hours, "Hours until now, 1 to 2160; 168 if not given."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

Result<signal::IssueId> issue_in_path(const Call& call) {
    return id_in_path<signal::IssueTag>(call, "issue");
}

// "high,critical"
template <class Enum>
Result<std::vector<Enum>> words_of(std::string_view parameter, const std::optional<std::string>& list) {
    std::vector<Enum> words;
    if (!list) return words;
    if (*list == "all") {
        for (const auto& entry : enum_names(Enum{})) words.push_back(entry.value);
        return words;
    }
    for (const std::string_view word : split(*list, ',')) {
        const auto value = parse_enum<Enum>(trim(word));
        if (!value)
            return invalid("query parameter " + std::string(parameter) + " must be some of " +
                           json::detail::enum_choices<Enum>() + ", with commas");
        words.push_back(*value);
    }
    return words;
}

Result<Time> since(const Call& call, const std::optional<int64_t>& hours) {
    const int64_t wanted = hours.value_or(168);
    if (wanted < 1 || wanted > 2160) return invalid("query parameter hours must be between 1 and 2160");
    return call.services.clock.now() - std::chrono::hours(wanted);
}

} // namespace

Result<One<signal::SignalView>> get_signal(const Call& call, const InSpace& query) {
    const auto space = TRY(space_of(call, query.space));
    return One<signal::SignalView>{TRY(call.services.signal.view(call.caller, space, call.at("project")))};
}

Result<One<signal::SignalView>> put_signal(const Call& call, const InSpace& query,
                                           const signal::ConfigureSignal& body) {
    const auto space = TRY(space_of(call, query.space));
    return One<signal::SignalView>{TRY(call.services.signal.configure(call.caller, space, call.at("project"), body))};
}

Result<One<signal::Scan>> scan_project(const Call& call, const InSpace& query) {
    const auto space = TRY(space_of(call, query.space));
    return One<signal::Scan>{TRY(call.services.signal.scan_now(call.caller, space, call.at("project")))};
}

Result<One<signal::ReadingStarted>> read_sample(const Call& call, const InSpace& query) {
    const auto space = TRY(space_of(call, query.space));
    return One<signal::ReadingStarted>{TRY(call.services.signal.read_now(call.caller, space, call.at("project")))};
}

Result<List<signal::Scan>> list_scans(const Call& call, const ListScans& query) {
    return call.services.signal.scans(call.caller, TRY(space_of(call, query.space)), call.at("project"),
                                      TRY(page_of(query.limit, query.cursor)));
}

Result<List<signal::SeverityVolume>> get_issue_volumes(const Call& call, const ProjectVolumeQuery& query) {
    signal::Signal& signal = call.services.signal;
    const auto project = TRY(find_project(call, query.space, call.at("project"), access::Permission::issue_read));
    const auto after = TRY(since(call, query.hours));
    return List<signal::SeverityVolume>{TRY(signal.issues.project_volume(project.id, after)), {}};
}

Result<List<signal::Issue>> list_issues(const Call& call, const ListIssues& query) {
    signal::IssueFilter filter;
    filter.project = query.project;
    filter.statuses = TRY(words_of<signal::Status>("status", query.status));
    filter.severities = TRY(words_of<signal::Severity>("severity", query.severity));
    filter.detector = query.detector;
    filter.assignee = query.assignee == "me" ? call.caller.user.text() : query.assignee;
    return call.services.signal.issues.list(call.caller, TRY(space_of(call, query.space)), filter,
                                            TRY(page_of(query.limit, query.cursor)));
}

Result<One<signal::Issue>> report_issue(const Call& call, const InSpace& query, const ReportIssue& body) {
    signal::Signal& signal = call.services.signal;
    const auto project = TRY(find_project(call, query.space, body.project, access::Permission::issue_write));
    return One<signal::Issue>{TRY(signal.issues.report(
        call.caller, project.space_id, project.id, call.caller.name,
        {body.title, body.explanation, body.severity, body.filter, body.trace_ids, body.subject}))};
}

Result<One<IssueDetail>> get_issue(const Call& call) {
    signal::Signal& signal = call.services.signal;
    IssueDetail detail;
    const auto id = TRY(issue_in_path(call));
    detail.issue = TRY(signal.issues.find(call.caller, id));
    detail.fingerprints = TRY(signal.issues.fingerprints(detail.issue));
    detail.advice = signal::advice_of(detail.issue.detector);
    return One<IssueDetail>{std::move(detail)};
}

Result<One<signal::Issue>> update_issue(const Call& call, const signal::IssueChange& body) {
    const auto id = TRY(issue_in_path(call));
    return One<signal::Issue>{TRY(call.services.signal.issues.update(call.caller, id, body))};
}

Result<One<signal::Issue>> merge_issue(const Call& call, const MergeIssue& body) {
    const auto id = TRY(issue_in_path(call));
    return One<signal::Issue>{TRY(call.services.signal.issues.merge(call.caller, id, body.issue))};
}

Result<One<signal::Issue>> split_issue(const Call& call, const SplitIssue& body) {
    const auto id = TRY(issue_in_path(call));
    return One<signal::Issue>{TRY(call.services.signal.issues.split(call.caller, id, body.fingerprint))};
}

Result<List<signal::IssueComment>> list_issue_comments(const Call& call, const PageQuery& query) {
    return call.services.signal.issues.comments(call.caller, TRY(issue_in_path(call)),
                                                TRY(page_of(query.limit, query.cursor)));
}

Result<One<signal::IssueComment>> comment_on_issue(const Call& call, const CommentOnIssue& body) {
    const auto id = TRY(issue_in_path(call));
    return One<signal::IssueComment>{TRY(call.services.signal.issues.comment(call.caller, id, body.text))};
}

Result<List<signal::Change>> list_issue_history(const Call& call, const PageQuery& query) {
    return call.services.signal.issues.history(call.caller, TRY(issue_in_path(call)),
                                               TRY(page_of(query.limit, query.cursor)));
}

Result<List<signal::VolumePoint>> get_issue_volume(const Call& call, const VolumeQuery& query) {
    const auto id = TRY(issue_in_path(call));
    const auto after = TRY(since(call, query.hours));
    return List<signal::VolumePoint>{TRY(call.services.signal.issues.volume(call.caller, id, after)), {}};
}

Result<One<signal::Issue>> investigate_issue(const Call& call) {
    const auto id = TRY(issue_in_path(call));
    return One<signal::Issue>{TRY(call.services.signal.investigate(call.caller, id))};
}

Result<One<signal::Issue>> fix_issue(const Call& call) {
    const auto id = TRY(issue_in_path(call));
    return One<signal::Issue>{TRY(call.services.signal.fix(call.caller, id))};
}

Result<One<signal::Issue>> monitor_issue(const Call& call) {
    const auto id = TRY(issue_in_path(call));
    return One<signal::Issue>{TRY(call.services.signal.make_monitor(call.caller, id))};
}

Result<One<signal::Issue>> evaluate_issue(const Call& call) {
    const auto id = TRY(issue_in_path(call));
    return One<signal::Issue>{TRY(call.services.signal.make_evaluator(call.caller, id))};
}

Result<One<signal::ForgeIssueDraft>> get_forge_issue_draft(const Call& call) {
    const auto id = TRY(issue_in_path(call));
    return One<signal::ForgeIssueDraft>{TRY(call.services.signal.forge_issue_draft(call.caller, id))};
}

Result<One<signal::Issue>> link_forge_issue(const Call& call, const signal::ForgeIssueRequest& body) {
    const auto id = TRY(issue_in_path(call));
    return One<signal::Issue>{TRY(call.services.signal.link_forge_issue(call.caller, id, body))};
}

Result<One<signal::Issue>> unlink_forge_issue(const Call& call) {
    const auto id = TRY(issue_in_path(call));
    return One<signal::Issue>{TRY(call.services.signal.unlink_forge_issue(call.caller, id))};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route issues_table[] = {
    route<get_signal>("GET", "/v1/projects/{project}/signal", need(issue_read),
                      "Settings of Signal, its last and its next scan."),
    route<put_signal>("PUT", "/v1/projects/{project}/signal", need(automation_write),
                      "Enable or disable Signal, change its settings."),
    route<scan_project>("POST", "/v1/projects/{project}/signal/scan", need(issue_write),
                        "Scan a project now; responds when the scan has finished.")
        .on(net::Lane::query),
    route<read_sample>("POST", "/v1/projects/{project}/signal/read", need(run_start),
                       "Start a run with a model that reads sampled traces for Signal.")
        .on(net::Lane::query),
    route<list_scans>("GET", "/v1/projects/{project}/signal/scans", need(issue_read),
                      "Scans with their findings and cost, newest first."),
    route<get_issue_volumes>("GET", "/v1/projects/{project}/issue_volume", need(issue_read),
                             "Traces affected by issues, by hour and severity."),
    route<list_issues>("GET", "/v1/issues", need(issue_read), "Issues, highest score first."),
    route<report_issue>("POST", "/v1/issues", need(issue_write),
                        "Report a problem; reporting it again adds to the same issue."),
    route<get_issue>("GET", "/v1/issues/{issue}", need(issue_read), "An issue and its fingerprints."),
    route<update_issue>("PATCH", "/v1/issues/{issue}", need(issue_write),
                        "Change status (with a reason), severity, assignee or title of an issue."),
    route<merge_issue>("POST", "/v1/issues/{issue}/merge", need(issue_write), "Merge another issue into this one."),
    route<split_issue>("POST", "/v1/issues/{issue}/split", need(issue_write),
                       "Move one fingerprint of an issue to a new issue."),
    route<list_issue_comments>("GET", "/v1/issues/{issue}/comments", need(issue_read),
                               "Comments on an issue, newest first."),
    route<comment_on_issue>("POST", "/v1/issues/{issue}/comments", need(issue_write), "Comment on an issue."),
    route<list_issue_history>("GET", "/v1/issues/{issue}/history", need(issue_read),
                              "History of an issue, newest first."),
    route<get_issue_volume>("GET", "/v1/issues/{issue}/volume", need(issue_read),
                            "Traces affected by an issue, by hour."),
    route<investigate_issue>("POST", "/v1/issues/{issue}/investigate", need(run_start),
                             "Start a run that investigates an issue."),
    route<fix_issue>("POST", "/v1/issues/{issue}/fix", need(run_start), "Start a run that proposes a fix."),
    route<monitor_issue>("POST", "/v1/issues/{issue}/monitor", need(monitor_write), "Create a monitor for an issue."),
    route<evaluate_issue>("POST", "/v1/issues/{issue}/evaluator", need(eval_write),
                          "Create an evaluator that marks new spans of an issue, and those of the last day."),
    route<get_forge_issue_draft>("GET", "/v1/issues/{issue}/forge_issue", need(issue_read),
                                 "Draft of an issue on a forge; nothing is published."),
    route<link_forge_issue>("POST", "/v1/issues/{issue}/forge_issue", need(issue_write),
                            "Create an issue on a repository's forge, or link an existing one."),
    route<unlink_forge_issue>("DELETE", "/v1/issues/{issue}/forge_issue", need(issue_write),
                              "Remove the link to an issue on a forge; that issue is kept."),
};

} // namespace

std::span<const Route> issues_routes() {
    return issues_table;
}

} // namespace hone::api
