// MCP tools about issues: list, read, report.
#pragma once

#include "api/core/call.h"
#include "signal/analysis/candidate.h"
#include "signal/reading.h"
#include "json/json.h"

namespace hone::api {

struct ListIssuesTool {
    std::optional<std::string> project;
    std::optional<std::string> status;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"project", &ListIssuesTool::project, "Id or name of the project; the run's own if not given."},
        Field{"status", &ListIssuesTool::status,
              "Statuses, separated by commas, or all; the unresolved ones if not given."},
        Field{"limit", &ListIssuesTool::limit, "At most 100; 20 if not given."},
        Field{"cursor", &ListIssuesTool::cursor, "next_cursor of the previous reply."},
    };
};
Result<json::Value> list_issues_tool(const Call& call, const ListIssuesTool& arguments);

struct GetIssueTool {
    std::string issue;
    static constexpr Pack fields{
        Field{"issue", &GetIssueTool::issue, "Id of the issue."},
    };
};
Result<json::Value> get_issue_tool(const Call& call, const GetIssueTool& arguments);

struct ReportIssueTool {
    std::optional<std::string> project;
    std::string title;
    std::string explanation;
    std::optional<signal::Severity> severity;
    std::optional<std::string> filter;
    std::optional<std::vector<std::string>> trace_ids;
    std::optional<std::string> subject;
    static constexpr Pack fields{
        Field{"project", &ReportIssueTool::project, "Id or name of the project; the run's own if not given."},
        Field{"title", &ReportIssueTool::title, "One line: the problem and where it happens."},
        Field{"explanation", &ReportIssueTool::explanation, "Observation, and why it matters."},
        Field{"severity", &ReportIssueTool::severity, "low, medium (if not given), high or critical."},
        Field{"filter", &ReportIssueTool::filter, "The spans it is about: status = error and name = \"x\""},
        Field{"trace_ids", &ReportIssueTool::trace_ids, "Ids of example traces; at most 20."},
        Field{"subject", &ReportIssueTool::subject,
              "Text that identifies the problem when it is reported again; the words of the title if not given."},
    };
};
Result<json::Value> report_issue_tool(const Call& call, const ReportIssueTool& arguments);

Result<json::Value> save_findings_tool(const Call& call, const signal::ReadReport& arguments);

} // namespace hone::api
