// The tools. Those that read call the routes of the HTTP API, so that rights, limits and meanings are the same.
#include "api/core/in_path.h"
#include "api/mcp/dataset_tools.h"
#include "api/mcp/issue_tools.h"
#include "api/mcp/mcp.h"
#include "api/mcp/reply.h"
#include "api/mcp/route_call.h"
#include "api/mcp/span_tools.h"
#include "review/delivery/checks.h"
#include "run/outputs/outputs.h"

#include <algorithm>

namespace hone::api {

namespace {

// --- reading -------------------------------------------------------------------------------------------------------

struct ListProjectsTool {
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"limit", &ListProjectsTool::limit, "At most 200; 50 if not given."},
        Field{"cursor", &ListProjectsTool::cursor, "next_cursor of the previous reply."},
    };
};

Result<json::Value> list_projects_tool(const Call& call, const ListProjectsTool& arguments) {
    return fit_page(
        [&](int64_t limit) -> Result<json::Value> {
            const QueryParameters query{{"limit", std::to_string(limit)}, {"cursor", arguments.cursor}};
            return call_route(call, "GET", "/v1/projects", {}, query);
        },
        std::clamp<int64_t>(arguments.limit.value_or(50), 1, 200), usual_bytes);
}

struct DescribeProject {
    std::optional<std::string> project;
    std::optional<Time> after;
    std::optional<Time> before;
    static constexpr Pack fields{
        Field{"project", &DescribeProject::project, "Id or name; the run's own if not given."},
        Field{"after", &DescribeProject::after, "Only spans that started at or after this time (RFC 3339)."},
        Field{"before", &DescribeProject::before, "Only spans that started before this time."},
    };
};

Result<json::Value> describe_project_tool(const Call& call, const DescribeProject& arguments) {
    const QueryParameters range{{"after", text_of(arguments.after)}, {"before", text_of(arguments.before)}};
    const auto read = [&](std::string_view path, QueryParameters query) -> Result<json::Value> {
        query.insert(query.end(), range.begin(), range.end());
        return data_in(TRY(read_project(call, arguments.project, path, query)));
    };
    const json::Value series = TRY(
        read("/v1/projects/{project}/series",
             {{"metrics", "count,errors,error_rate,traces,latency_p50,latency_p95,tokens,cost"}, {"bucket", "0s"}}));
    json::Object totals;
    const json::Array& names = series.at("metrics").as_array();
    if (const json::Array& buckets = series.at("buckets").as_array(); !buckets.empty())
        for (size_t i = 0; i < names.size(); ++i)
            totals[names[i].as_string()] = buckets.front().at("values").as_array()[i];
    json::Object made;
    made["totals"] = std::move(totals);
    for (const char* field : {"kind", "name", "model", "status", "service"})
        made[field] = TRY(read("/v1/projects/{project}/facets", {{"field", field}, {"limit", "15"}}));
    const QueryParameters most_keys{{"limit", "60"}};
    made["attribute_keys"] =
        data_in(TRY(read_project(call, arguments.project, "/v1/projects/{project}/attribute_keys", most_keys)));
    const json::Value fields = data_in(TRY(call_route(call, "GET", "/v1/filter_fields", {}, {})));
    json::Array filter_fields;
    for (const json::Value& field : fields.as_array())
        filter_fields.push_back(json::Value(std::string(field.at("name").as_string()) + " (" +
                                            std::string(field.at("type").as_string()) + ")"));
    made["filter_fields"] = std::move(filter_fields);
    made["filter_example"] = "status = error and latency > 2s and output ~ \"refund\"";
    json::Value reply(std::move(made));
    fit(reply, usual_bytes);
    return reply;
}

struct GetSeries {
    std::optional<std::string> project;
    std::optional<std::string> metrics;
    std::optional<std::string> bucket;
    std::optional<std::string> group_by;
    std::optional<std::string> filter;
    std::optional<Time> after;
    std::optional<Time> before;
    static constexpr Pack fields{
        Field{"project", &GetSeries::project, "Id or name; the run's own if not given."},
        Field{"metrics", &GetSeries::metrics,
              "count, errors, error_rate, latency_p50, latency_p95, latency_p99, first_token_p50, first_token_p95, "
              "tokens, cost, traces; separated by commas."},
        Field{"bucket", &GetSeries::bucket, "5m, 1h, 1d; 0s: one bucket."},
        Field{"group_by", &GetSeries::group_by, "A filter field such as model or name."},
        Field{"filter", &GetSeries::filter, "Only spans that match."},
        Field{"after", &GetSeries::after, "Started at or after this time (RFC 3339)."},
        Field{"before", &GetSeries::before, "Started before this time."},
    };
};

Result<json::Value> get_series_tool(const Call& call, const GetSeries& arguments) {
    const QueryParameters query{{"metrics", arguments.metrics},      {"bucket", arguments.bucket.value_or("1h")},
                                {"group_by", arguments.group_by},    {"filter", arguments.filter},
                                {"after", text_of(arguments.after)}, {"before", text_of(arguments.before)}};
    json::Value reply = data_in(TRY(read_project(call, arguments.project, "/v1/projects/{project}/series", query)));
    fit(reply, most_bytes);
    return reply;
}

struct ListEvals {
    std::optional<std::string> project;
    std::optional<std::string> target_id;
    std::optional<std::string> name;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"project", &ListEvals::project, "Id or name; the run's own if not given."},
        Field{"target_id", &ListEvals::target_id, "Only evals of this span."},
        Field{"name", &ListEvals::name, "Only evals with this name."},
        Field{"limit", &ListEvals::limit, "At most 200; 50 if not given."},
        Field{"cursor", &ListEvals::cursor, "next_cursor of the previous reply."},
    };
};

Result<json::Value> list_evals_tool(const Call& call, const ListEvals& arguments) {
    const std::string named = TRY(project_of(call, arguments.project));
    const auto project = TRY(find_project(call, {}, named, access::Permission::project_read));
    TRY(call.services.spans.store());
    telemetry::ListEvals request;
    request.project = project.id.text();
    if (arguments.target_id) request.target_ids = {*arguments.target_id};
    if (arguments.name) request.names = {*arguments.name};
    request.cursor = arguments.cursor.value_or("");
    const auto fetch = [&](int64_t limit) -> Result<json::Value> {
        request.limit = static_cast<size_t>(limit);
        const telemetry::EvalPage page = TRY(call.services.spans.evals.list(request));
        json::Array rows;
        for (const telemetry::Eval& eval : page.evals)
            rows.push_back(json::Object{{"target", name_of(eval.target)},
                                        {"target_id", eval.target_id},
                                        {"name", eval.name},
                                        {"label", eval.label},
                                        {"score", json::to_value(eval.score)},
                                        {"explanation", eval.explanation},
                                        {"by", name_of(eval.kind)}});
        json::Object made{{"data", std::move(rows)}};
        if (!page.next_cursor.empty()) made["next_cursor"] = page.next_cursor;
        return json::Value(std::move(made));
    };
    return fit_page(fetch, std::clamp<int64_t>(arguments.limit.value_or(50), 1, 200), most_bytes);
}

struct GetChecks {
    std::optional<std::string> check;
    std::optional<int64_t> max_bytes;
    static constexpr Pack fields{
        Field{"check", &GetChecks::check, "Name or id of a check: returns the end of its log."},
        Field{"max_bytes", &GetChecks::max_bytes, "Size of the reply, up to 262144; 32768 if not given."},
    };
};

Result<json::Value> get_checks_tool(const Call& call, const GetChecks& arguments) {
    const size_t budget = budget_of(arguments.max_bytes);
    if (arguments.check) {
        const review::CheckLog log = TRY(call.services.review.check_log_of_run(call.caller.run, *arguments.check));
        // The end is worth most; half of the budget, because JSON escapes quotes and line ends.
        const review::ReadableLog end = review::readable_log(log.text, budget / 2);
        json::Value reply(json::Object{{"name", log.name},
                                       {"result", log.result},
                                       {"end_of_log", end.text},
                                       {"truncated", log.truncated || end.truncated}});
        fit(reply, budget);
        return reply;
    }
    json::Array shown;
    for (const review::PullRequest& one : TRY(call.services.review.pull_requests_of_run(call.caller.run)))
        shown.push_back(json::Object{{"branch", one.branch},
                                     {"url", one.url},
                                     {"commit", one.forge_commit},
                                     {"mergeable", one.mergeable},
                                     {"checks", one.checks},
                                     {"check_results", json::to_value(one.check_results)}});
    json::Value reply(json::Object{{"data", std::move(shown)}});
    fit(reply, budget);
    return reply;
}

// --- saving --------------------------------------------------------------------------------------------------------

json::Value saved(const review::Artifact& artifact) {
    return json::Object{{"artifact", artifact.id.text()}, {"review", name_of(artifact.review)}};
}

struct SaveInvestigation {
    std::string title;
    std::string markdown;
    std::optional<std::string> summary;
    static constexpr Pack fields{
        Field{"title", &SaveInvestigation::title, "Short; saving the same title again replaces it."},
        Field{"markdown", &SaveInvestigation::markdown,
              "Overview, evidence (trace ids, filters, charts), root cause, proposed fix. Show a saved file with "
              "![](file:NAME)."},
        Field{"summary", &SaveInvestigation::summary, "Summary of one or two sentences, for lists."},
    };
};

Result<json::Value> save_investigation_tool(const Call& call, const SaveInvestigation& arguments) {
    return saved(TRY(
        call.services.outputs.save(run::RunId(call.caller.run), {review::ArtifactKind::investigation, arguments.title,
                                                                 arguments.summary.value_or(""), arguments.markdown})));
}

struct SaveFile {
    std::string name;
    std::optional<std::string> text;
    std::optional<std::string> base64;
    std::optional<std::string> summary;
    static constexpr Pack fields{
        Field{"name", &SaveFile::name, "File name without folders; saving it again replaces it."},
        Field{"text", &SaveFile::text, "The content, when it is text."},
        Field{"base64", &SaveFile::base64, "The content in base64, when it is not."},
        Field{"summary", &SaveFile::summary, "Summary of one or two sentences, for lists."},
    };
};

Result<json::Value> save_file_tool(const Call& call, const SaveFile& arguments) {
    if (arguments.text.has_value() == arguments.base64.has_value()) return invalid("give either text or base64");
    std::string content = arguments.text.value_or("");
    if (arguments.base64) {
        // The usual alphabet and the one for URLs, with or without padding.
        std::string letters;
        for (const char c : *arguments.base64)
            if (c == '+')
                letters += '-';
            else if (c == '/')
                letters += '_';
            else if (c != '=' && c != '\n' && c != '\r')
                letters += c;
        auto decoded = from_base64url(letters);
        if (!decoded.ok()) return invalid("base64 is not valid");
        content = std::move(decoded).value();
    }
    return saved(TRY(
        call.services.outputs.save(run::RunId(call.caller.run), {review::ArtifactKind::file, arguments.name,
                                                                 arguments.summary.value_or(""), std::move(content)})));
}

struct LabelSpans {
    std::vector<run::ProposedLabel> labels;
    std::optional<std::string> name;
    std::optional<std::string> summary;
    static constexpr Pack fields{
        Field{"labels", &LabelSpans::labels, "At most 10000. They become evals when they are approved."},
        Field{"name", &LabelSpans::name,
              "Name of this set of labels; saving it again replaces it. `labels` if not given."},
        Field{"summary", &LabelSpans::summary, "Summary of one or two sentences, for lists."},
    };
};

Result<json::Value> label_spans_tool(const Call& call, const LabelSpans& arguments) {
    return saved(TRY(call.services.outputs.save_labels(
        run::RunId(call.caller.run), arguments.name.value_or("labels"),
        arguments.summary.value_or(std::to_string(arguments.labels.size()) + " labels"), arguments.labels)));
}

// --- the table -----------------------------------------------------------------------------------------------------

template <class Signature>
struct ToolArguments;
template <class Arguments>
struct ToolArguments<Result<json::Value> (*)(const Call&, const Arguments&)> {
    using type = Arguments;
};

constexpr ToolUsers every_user{.outside = true, .workers = true, .evaluators = true}; // for tools that only read
constexpr ToolUsers not_evaluators{.outside = true, .workers = true};
constexpr ToolUsers only_outside{.outside = true}; // writes immediately, which workers do not: theirs is reviewed
constexpr ToolUsers only_workers{.workers = true};
constexpr ToolUsers only_evaluators{.evaluators = true};

template <auto work>
McpTool tool(ToolUsers users, std::string_view name, std::string_view description) {
    using Arguments = typename ToolArguments<decltype(work)>::type;
    return {name, description, users, [] { return json::schema<Arguments>(); },
            [](const Call& call, const json::Value& arguments) -> Result<json::Value> {
                return work(call, TRY(json::from_value<Arguments>(arguments)));
            }};
}

} // namespace

std::span<const McpTool> mcp_tools() {
    static const McpTool tools[] = {
        tool<list_projects_tool>(every_user, "list_projects", "The projects that can be read."),
        tool<describe_project_tool>(every_user, "describe_project",
                                    "What is in a project: volume, errors, latency, tokens, cost, "
                                    "kinds, names, models, attribute keys, filter fields."),
        tool<search_spans_tool>(every_user, "search_spans",
                                "Spans that match a filter, newest first, without their texts."),
        tool<get_trace_tool>(every_user, "get_trace", "All spans of a trace as a tree, without their texts."),
        tool<get_span_tool>(every_user, "get_span",
                            "Everything about one span: input, output, messages, attributes. Long texts "
                            "can be read in parts with path and offset."),
        tool<query_sql_tool>(every_user, "query_sql", "Read-only SQL over the spans and evals of a project."),
        tool<get_series_tool>(every_user, "get_series",
                              "Numbers over time: volume, errors, latency, tokens, cost; grouped."),
        tool<list_evals_tool>(every_user, "list_evals", "Labels and scores that people, models and code gave."),
        tool<add_evals_tool>(only_outside, "add_evals", "Label or score spans, traces or chat sessions."),
        tool<list_issues_tool>(every_user, "list_issues", "Recurring problems of a project, highest ranked first."),
        tool<get_issue_tool>(every_user, "get_issue", "Everything about one issue: numbers, filter, example traces."),
        tool<report_issue_tool>(not_evaluators, "report_issue",
                                "Report a recurring problem; reporting it again adds to the same issue."),
        tool<list_datasets_tool>(every_user, "list_datasets", "Datasets of the space, newest first."),
        tool<read_examples_tool>(every_user, "read_examples", "Examples of a dataset, oldest first, with a cursor."),
        tool<propose_examples_tool>(not_evaluators, "propose_examples",
                                    "Propose examples for a dataset; a person accepts or rejects them."),
        tool<run_evaluator_tool>(not_evaluators, "run_evaluator",
                                 "Run an evaluator of code on a few documents; stores nothing."),
        tool<get_checks_tool>(only_workers, "get_checks",
                              "Checks of the forge on the run's pull requests; with a check, the end of its log."),
        tool<report_verdict_tool>(only_evaluators, "report_verdict",
                                  "Report the verdict about the document that this run evaluates; once."),
        tool<save_findings_tool>(only_workers, "save_findings",
                                 "Save what a reading of sampled traces found, for Signal."),
        tool<save_investigation_tool>(only_workers, "save_investigation", "Save an investigation for review."),
        tool<label_spans_tool>(only_workers, "label_spans", "Propose labels for spans, traces or chat sessions."),
        tool<save_file_tool>(only_workers, "save_file", "Save a file for review: a chart, a table, a script."),
    };
    return tools;
}

} // namespace hone::api
