#include "api/signal_tools.h"

#include "api/handlers.h"
#include "api/mcp.h"
#include "api/signal_handlers.h"

#include <algorithm>

namespace hone::api {

namespace {

constexpr size_t most_issue_bytes = 64 << 10;

// Whose rights count. The key of a run reads its project and nothing else, so what a worker may ask about the issues of
// that project is asked for it; everybody else asks with their own rights.
struct Asking {
    access::Project project;
    access::Caller as;
};

Result<Asking> asking(const Call& call, const std::optional<std::string>& wanted, access::Permission permission) {
    const bool is_worker = !call.caller.run.empty();
    if (!wanted && call.caller.bound_project.empty()) return invalid("project is missing; list_projects names them");
    Asking made;
    made.project = TRY(find_project(call, {}, wanted.value_or(call.caller.bound_project.text()),
                                    is_worker ? access::Permission::project_read : permission));
    made.as = is_worker ? access::Caller::system() : call.caller;
    return made;
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
    signal::Signal& signal = *TRY(signal_of(call));
    const Asking asked = TRY(asking(call, arguments.project, access::Permission::issue_read));
    signal::IssueFilter filter;
    filter.project = asked.project.id.text();
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
    const int64_t limit = std::clamp<int64_t>(arguments.limit.value_or(20), 1, 100);
    const auto page = TRY(signal.issues.list(asked.as, asked.project.space_id, filter, {.limit = limit, .cursor = {}}));
    json::Array issues;
    for (const signal::Issue& issue : page.data) issues.push_back(brief(issue));
    json::Value reply(json::Object{{"data", std::move(issues)}});
    fit(reply, most_issue_bytes);
    return reply;
}

Result<json::Value> get_issue_tool(const Call& call, const GetIssueTool& arguments) {
    signal::Signal& signal = *TRY(signal_of(call));
    const auto id = parse_id<signal::IssueTag>(arguments.issue);
    const Error absent = not_found("issue " + std::string(truncate_utf8(arguments.issue, 60)));
    if (!id.ok()) return absent;
    const bool is_worker = !call.caller.run.empty();
    const signal::Issue issue = TRY(signal.issues.find(is_worker ? access::Caller::system() : call.caller, id.value()));
    if (is_worker && issue.project_id != call.caller.bound_project) return absent;
    const auto fingerprints = TRY(signal.issues.fingerprints(issue));
    json::Value reply(json::Object{{"data", json::to_value(issue)}, {"fingerprints", json::to_value(fingerprints)}});
    fit(reply, most_issue_bytes);
    return reply;
}

Result<json::Value> report_issue_tool(const Call& call, const ReportIssueTool& arguments) {
    signal::Signal& signal = *TRY(signal_of(call));
    const Asking asked = TRY(asking(call, arguments.project, access::Permission::issue_write));
    const std::string by = call.caller.run.empty() ? call.caller.name : call.caller.run;
    TRY(run::refuse_secrets("explanation", arguments.explanation));
    const signal::Issue issue = TRY(signal.issues.report(call.caller, asked.project.space_id, asked.project.id, by,
                                                         {arguments.title, arguments.explanation, arguments.severity,
                                                          arguments.filter, arguments.trace_ids, arguments.subject}));
    return json::Value(json::Object{{"data", brief(issue)}});
}

} // namespace hone::api
