#include "api/mcp/issue_tools.h"

#include "api/core/in_path.h"
#include "api/mcp/reply.h"
#include "run/settings/settings.h"
#include "signal/signal.h"

#include <algorithm>

namespace hone::api {

namespace {

constexpr size_t most_issue_bytes = 64 << 10;

Result<access::Project> project_of_call(const Call& call, const std::optional<std::string>& wanted,
                                        access::Permission permission) {
    if (!wanted && call.caller.bound_project.empty()) return invalid("project is missing; list_projects names them");
    return find_project(call, {}, wanted.value_or(call.caller.bound_project.text()),
                        signal::Issues::needed_in_tools(call.caller, permission));
}

// What a list shows of an issue.
json::Value brief(const signal::Issue& issue) {
    return json::Object{{"id", issue.id.text()},
                        {"title", issue.title},
                        {"severity", name_of(issue.severity)},
                        {"status", name_of(issue.status)},
                        {"score", issue.score},
                        {"detector", name_of(issue.detector)},
                        {"traces", issue.traces},
                        {"filter", issue.filter},
                        {"first_seen", to_text(issue.first_seen)},
                        {"last_seen", to_text(issue.last_seen)}};
}

} // namespace

Result<json::Value> list_issues_tool(const Call& call, const ListIssuesTool& arguments) {
    signal::Signal& signal = call.services.signal;
    const access::Project project = TRY(project_of_call(call, arguments.project, access::Permission::issue_read));
    signal::IssueFilter filter;
    if (arguments.status)
        for (const std::string_view word : split(*arguments.status, ',')) {
            if (word == "all") {
                for (const auto& entry : enum_names(signal::Status{})) filter.statuses.push_back(entry.value);
                continue;
            }
            const auto status = parse_enum<signal::Status>(trim(word));
            if (!status)
                return invalid("status must be all or some of " + json::detail::enum_choices<signal::Status>());
            filter.statuses.push_back(*status);
        }
    const auto fetch = [&](int64_t limit) -> Result<json::Value> {
        const auto page = TRY(
            signal.issues.list_for_tool(call.caller, project, filter, {.limit = limit, .cursor = arguments.cursor}));
        json::Array issues;
        for (const signal::Issue& issue : page.data) issues.push_back(brief(issue));
        json::Object made{{"data", std::move(issues)}};
        if (page.next_cursor) made["next_cursor"] = *page.next_cursor;
        return json::Value(std::move(made));
    };
    return fit_page(fetch, std::clamp<int64_t>(arguments.limit.value_or(20), 1, 100), most_issue_bytes);
}

Result<json::Value> get_issue_tool(const Call& call, const GetIssueTool& arguments) {
    signal::Signal& signal = call.services.signal;
    const auto id = parse_id<signal::IssueTag>(arguments.issue);
    if (!id.ok()) return not_found("issue " + std::string(truncate_utf8(arguments.issue, 60)));
    const signal::Issue issue = TRY(signal.issues.find_for_tool(call.caller, id.value()));
    const auto fingerprints = TRY(signal.issues.fingerprints(issue));
    json::Value reply(json::Object{{"data", json::to_value(issue)}, {"fingerprints", json::to_value(fingerprints)}});
    fit(reply, most_issue_bytes);
    return reply;
}

Result<json::Value> report_issue_tool(const Call& call, const ReportIssueTool& arguments) {
    signal::Signal& signal = call.services.signal;
    const access::Project project = TRY(project_of_call(call, arguments.project, access::Permission::issue_write));
    const std::string by = call.caller.run.empty() ? call.caller.name : call.caller.run;
    TRY(run::refuse_secrets("explanation", arguments.explanation));
    const signal::Issue issue = TRY(signal.issues.report(call.caller, project.space_id, project.id, by,
                                                         {arguments.title, arguments.explanation, arguments.severity,
                                                          arguments.filter, arguments.trace_ids, arguments.subject}));
    return json::Value(json::Object{{"data", brief(issue)}});
}

Result<json::Value> save_findings_tool(const Call& call, const signal::ReadReport& arguments) {
    const signal::ReadOutcome outcome = TRY(call.services.signal.take_report(call.caller, arguments));
    return json::Value(json::Object{{"data", json::to_value(outcome)}});
}

} // namespace hone::api
