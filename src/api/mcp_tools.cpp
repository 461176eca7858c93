// The tools: each asks the same handlers that the HTTP API has, so that rights, limits and meanings are the same.
#include "api/labels.h"
#include "api/mcp.h"
#include "api/review_services.h"
#include "api/run_handlers.h"
#include "api/signal_tools.h"
#include "api/span_handlers.h"

namespace hone::api {

namespace {

constexpr size_t usual_bytes = 32 << 10;
constexpr size_t most_bytes = 256 << 10;

size_t budget_of(const std::optional<int64_t>& bytes) {
    return static_cast<size_t>(std::clamp<int64_t>(bytes.value_or(usual_bytes), 1000, most_bytes));
}

// The project that a tool asks about: the one it names, else the one the run is bound to.
Result<std::string> project_of(const Call& call, const std::optional<std::string>& project) {
    if (project) return *project;
    if (!call.caller.bound_project.empty()) return call.caller.bound_project.text();
    return invalid("project is missing; list_projects names them");
}

// A call of another handler, as if the request had come to its own address.
Result<Call> call_for(const Call& call, const std::optional<std::string>& project,
                      std::map<std::string, std::string, std::less<>> path = {}) {
    path["project"] = TRY(project_of(call, project));
    return Call{call.head, call.caller, call.services, std::move(path)};
}

template <class Answer>
json::Value reply_of(const Answer& answer, size_t bytes) {
    json::Object made;
    made["data"] = json::to_value(answer.data);
    if constexpr (requires { answer.next_cursor; })
        if (answer.next_cursor) made["next_cursor"] = *answer.next_cursor;
    json::Value reply(std::move(made));
    fit(reply, bytes);
    return reply;
}

// --- questions -----------------------------------------------------------------------------------------------------

struct NoArguments {
    static constexpr std::tuple<> fields{};
};

Result<json::Value> list_projects_tool(const Call& call, const NoArguments&) {
    return reply_of(TRY(list_projects(call, {})), usual_bytes);
}

struct DescribeProject {
    std::optional<std::string> project;
    std::optional<Time> after;
    std::optional<Time> before;
    static constexpr std::tuple fields{
        Field{"project", &DescribeProject::project, "Id or name; the run's own if not given."},
        Field{"after", &DescribeProject::after, "Only spans that started at or after this time (RFC 3339)."},
        Field{"before", &DescribeProject::before, "Only spans that started before this time."},
    };
};

Result<json::Value> describe_project_tool(const Call& call, const DescribeProject& arguments) {
    const Call asked = TRY(call_for(call, arguments.project));
    AskSeries series;
    series.metrics = "count,errors,error_rate,traces,latency_p50,latency_p95,tokens,cost";
    series.bucket = "0s";
    series.after = arguments.after;
    series.before = arguments.before;
    json::Object made;
    const auto numbers = TRY(get_series(asked, series)).data;
    json::Object totals;
    if (!numbers.buckets.empty())
        for (size_t i = 0; i < numbers.metrics.size(); ++i)
            totals[numbers.metrics[i]] = json::to_value(numbers.buckets.front().values[i]);
    made["totals"] = std::move(totals);
    for (const char* field : {"kind", "name", "model", "status", "service"}) {
        AskFacets facets;
        facets.field = field;
        facets.limit = 15;
        facets.after = arguments.after;
        facets.before = arguments.before;
        made[field] = json::to_value(TRY(get_facets(asked, facets)).data);
    }
    AskAttributeKeys keys;
    keys.limit = 60;
    made["attribute_keys"] = json::to_value(TRY(get_attribute_keys(asked, keys)).data);
    json::Array filter_fields;
    for (const FilterFieldInfo& field : TRY(get_filter_fields(asked)).data)
        filter_fields.push_back(json::Value(field.name + " (" + field.type + ")"));
    made["filter_fields"] = std::move(filter_fields);
    made["filter_example"] = "status = error and latency > 2s and output ~ \"refund\"";
    json::Value reply(std::move(made));
    fit(reply, usual_bytes);
    return reply;
}

struct SearchSpans {
    std::optional<std::string> project;
    std::optional<std::string> filter;
    std::optional<Time> after;
    std::optional<Time> before;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr std::tuple fields{
        Field{"project", &SearchSpans::project, "Id or name; the run's own if not given."},
        Field{"filter", &SearchSpans::filter, "status = error and latency > 2s and output ~ \"text\""},
        Field{"after", &SearchSpans::after, "Started at or after this time (RFC 3339)."},
        Field{"before", &SearchSpans::before, "Started before this time."},
        Field{"limit", &SearchSpans::limit, "At most 200; 20 if not given."},
        Field{"cursor", &SearchSpans::cursor, "next_cursor of the answer before."},
    };
};

Result<json::Value> search_spans_tool(const Call& call, const SearchSpans& arguments) {
    ListSpanRows query;
    query.filter = arguments.filter;
    query.after = arguments.after;
    query.before = arguments.before;
    query.limit = std::clamp<int64_t>(arguments.limit.value_or(20), 1, 200);
    query.cursor = arguments.cursor;
    return reply_of(TRY(list_span_rows(TRY(call_for(call, arguments.project)), query)), most_bytes);
}

struct GetTrace {
    std::optional<std::string> project;
    std::string trace_id;
    std::optional<int64_t> max_bytes;
    static constexpr std::tuple fields{
        Field{"project", &GetTrace::project, "Id or name; the run's own if not given."},
        Field{"trace_id", &GetTrace::trace_id, "32 hexadecimal digits."},
        Field{"max_bytes", &GetTrace::max_bytes, "Size of the reply, up to 262144; 32768 if not given."},
    };
};

Result<json::Value> get_trace_tool(const Call& call, const GetTrace& arguments) {
    const auto skeleton =
        TRY(get_trace_skeleton(TRY(call_for(call, arguments.project, {{"trace", arguments.trace_id}})), {})).data;
    json::Object made;
    made["span_count"] = static_cast<int64_t>(skeleton.spans.size());
    made["spans"] = json::to_value(skeleton.spans);
    made["is_cut"] = skeleton.is_cut;
    json::Value reply(std::move(made));
    fit(reply, budget_of(arguments.max_bytes));
    return reply;
}

struct GetSpan {
    std::optional<std::string> project;
    std::string trace_id;
    std::string span_id;
    std::optional<int64_t> max_bytes;
    static constexpr std::tuple fields{
        Field{"project", &GetSpan::project, "Id or name; the run's own if not given."},
        Field{"trace_id", &GetSpan::trace_id, "32 hexadecimal digits."},
        Field{"span_id", &GetSpan::span_id, "16 hexadecimal digits."},
        Field{"max_bytes", &GetSpan::max_bytes,
              "Size of the reply, up to 262144; 32768 if not given. Long texts are cut first."},
    };
};

Result<json::Value> get_span_tool(const Call& call, const GetSpan& arguments) {
    const Call asked =
        TRY(call_for(call, arguments.project, {{"trace", arguments.trace_id}, {"span", arguments.span_id}}));
    return reply_of(TRY(get_span_payload(asked, {})), budget_of(arguments.max_bytes));
}

struct QuerySql {
    std::optional<std::string> project;
    std::string sql;
    std::optional<int64_t> limit;
    std::optional<int64_t> max_bytes;
    static constexpr std::tuple fields{
        Field{"project", &QuerySql::project, "Id or name; the run's own if not given."},
        Field{"sql", &QuerySql::sql,
              "One SELECT (ClickHouse's dialect) over the tables spans, evals, traces and chat_sessions."},
        Field{"limit", &QuerySql::limit, "Rows, at most 10000; 200 if not given."},
        Field{"max_bytes", &QuerySql::max_bytes, "Size of the reply, up to 262144; 32768 if not given."},
    };
};

Result<json::Value> query_sql_tool(const Call& call, const QuerySql& arguments) {
    RunSql body;
    body.project = TRY(project_of(call, arguments.project));
    body.sql = arguments.sql;
    body.limit = std::clamp<int64_t>(arguments.limit.value_or(200), 1, 10'000);
    const net::Response response = TRY(run_sql(call, {}, body));
    json::Value reply = TRY(json::parse(response.body));
    if (reply.is_object()) reply.get_object().erase("statistics");
    fit(reply, budget_of(arguments.max_bytes));
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
    static constexpr std::tuple fields{
        Field{"project", &GetSeries::project, "Id or name; the run's own if not given."},
        Field{"metrics", &GetSeries::metrics,
              "count, errors, error_rate, latency_p50, latency_p95, latency_p99, tokens, cost, traces; with commas."},
        Field{"bucket", &GetSeries::bucket, "5m, 1h, 1d; 0s: one for all."},
        Field{"group_by", &GetSeries::group_by, "A filter field such as model or name."},
        Field{"filter", &GetSeries::filter, "Only spans that match."},
        Field{"after", &GetSeries::after, "Started at or after this time (RFC 3339)."},
        Field{"before", &GetSeries::before, "Started before this time."},
    };
};

Result<json::Value> get_series_tool(const Call& call, const GetSeries& arguments) {
    AskSeries query;
    query.metrics = arguments.metrics;
    query.bucket = arguments.bucket ? arguments.bucket : std::optional<std::string>("1h");
    query.group_by = arguments.group_by;
    query.filter = arguments.filter;
    query.after = arguments.after;
    query.before = arguments.before;
    json::Value reply = json::to_value(TRY(get_series(TRY(call_for(call, arguments.project)), query)).data);
    fit(reply, most_bytes);
    return reply;
}

struct ListEvals {
    std::optional<std::string> project;
    std::optional<std::string> target_id;
    std::optional<std::string> name;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr std::tuple fields{
        Field{"project", &ListEvals::project, "Id or name; the run's own if not given."},
        Field{"target_id", &ListEvals::target_id, "Only of this span."},
        Field{"name", &ListEvals::name, "Only with this name."},
        Field{"limit", &ListEvals::limit, "At most 200; 50 if not given."},
        Field{"cursor", &ListEvals::cursor, "next_cursor of the answer before."},
    };
};

Result<json::Value> list_evals_tool(const Call& call, const ListEvals& arguments) {
    const auto project =
        TRY(find_project(call, {}, TRY(project_of(call, arguments.project)), access::Permission::project_read));
    TRY(store_of(call));
    telemetry::ListEvals request;
    request.project = project.id.text();
    if (arguments.target_id) request.target_ids = {*arguments.target_id};
    if (arguments.name) request.names = {*arguments.name};
    request.limit = static_cast<size_t>(std::clamp<int64_t>(arguments.limit.value_or(50), 1, 200));
    request.cursor = arguments.cursor.value_or("");
    const telemetry::EvalPage page = TRY(TRY(spans_of(call))->evals.list(request));
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
    json::Value reply(std::move(made));
    fit(reply, most_bytes);
    return reply;
}

// --- results -------------------------------------------------------------------------------------------------------

// The run that leaves something, and what its preset says about such things.
Result<json::Value> leave(const Call& call, review::ArtifactKind kind, const std::string& name,
                          const std::string& summary, const std::string& content) {
    RunServices& services = *TRY(runs_of(call));
    const run::RunId id(call.caller.run);
    const run::Run run = TRY(services.runs.find(access::Caller::system(), id));
    const run::Manifest manifest = TRY(services.runs.manifest(access::Caller::system(), id));
    TRY(run::refuse_secrets(name, content));
    const run::OutputPolicies& policies = *manifest.settings.outputs;
    const run::OutputPolicy policy = kind == review::ArtifactKind::investigation ? *policies.investigation
                                     : kind == review::ArtifactKind::labels      ? *policies.labels
                                                                                 : *policies.file;
    const bool approved = policy == run::OutputPolicy::automatic;
    const review::Artifact made =
        TRY(services.artifacts.save({run.space_id, run.project_id, id.text(), kind, name, summary, content, approved}));
    if (approved && kind == review::ArtifactKind::labels && call.services.reviews != nullptr)
        call.services.reviews->publish_labels(made.id);
    run::RunEvent event;
    event.kind = harness::EventKind::artifact;
    event.turn = run.turns;
    event.text = std::string(name_of(kind)) + ": " + made.name;
    event.artifact = made.id.text();
    TRY(services.transcript.append(id, {event}));
    return json::Value(json::Object{{"artifact", made.id.text()}, {"review", name_of(made.review)}});
}

struct SaveInvestigation {
    std::string title;
    std::string markdown;
    std::optional<std::string> summary;
    static constexpr std::tuple fields{
        Field{"title", &SaveInvestigation::title, "Short; saving the same title again replaces it."},
        Field{"markdown", &SaveInvestigation::markdown,
              "Overview, evidence (trace ids, filters, charts), root cause, proposed fix. A file that was saved is "
              "shown with ![](file:NAME)."},
        Field{"summary", &SaveInvestigation::summary, "A sentence or two for lists."},
    };
};

Result<json::Value> save_investigation_tool(const Call& call, const SaveInvestigation& arguments) {
    return leave(call, review::ArtifactKind::investigation, arguments.title, arguments.summary.value_or(""),
                 arguments.markdown);
}

struct SaveFile {
    std::string name;
    std::optional<std::string> text;
    std::optional<std::string> base64;
    std::optional<std::string> summary;
    static constexpr std::tuple fields{
        Field{"name", &SaveFile::name, "A file's name without folders; saving it again replaces it."},
        Field{"text", &SaveFile::text, "The content, when it is text."},
        Field{"base64", &SaveFile::base64, "The content in base64, when it is not."},
        Field{"summary", &SaveFile::summary, "A sentence or two for lists."},
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
    return leave(call, review::ArtifactKind::file, arguments.name, arguments.summary.value_or(""), content);
}

struct LabelSpans {
    std::vector<ProposedLabel> labels;
    std::optional<std::string> name;
    std::optional<std::string> summary;
    static constexpr std::tuple fields{
        Field{"labels", &LabelSpans::labels, "At most 10000. They become evals when they are approved."},
        Field{"name", &LabelSpans::name, "Name of this set; saving it again replaces it. `labels` if not given."},
        Field{"summary", &LabelSpans::summary, "A sentence or two for lists."},
    };
};

Result<json::Value> label_spans_tool(const Call& call, const LabelSpans& arguments) {
    TRY(check_labels(arguments.labels));
    return leave(call, review::ArtifactKind::labels, arguments.name.value_or("labels"),
                 arguments.summary.value_or(std::to_string(arguments.labels.size()) + " labels"),
                 json::write(arguments.labels));
}

// --- the table -----------------------------------------------------------------------------------------------------

template <class Signature>
struct ToolArguments;
template <class Arguments>
struct ToolArguments<Result<json::Value> (*)(const Call&, const Arguments&)> {
    using type = Arguments;
};

template <auto work>
McpTool tool(std::string_view name, std::string_view description, bool for_runs_only = false) {
    using Arguments = typename ToolArguments<decltype(work)>::type;
    return {name, description, for_runs_only, [] { return json::schema<Arguments>(); },
            [](const Call& call, const json::Value& arguments) -> Result<json::Value> {
                return work(call, TRY(json::from_value<Arguments>(arguments)));
            }};
}

} // namespace

std::span<const McpTool> mcp_tools() {
    static const McpTool tools[] = {
        tool<list_projects_tool>("list_projects", "The projects that can be read."),
        tool<describe_project_tool>("describe_project", "What is in a project: volume, errors, latency, tokens, cost, "
                                                        "kinds, names, models, attribute keys, filter fields."),
        tool<search_spans_tool>("search_spans", "Spans that match a filter, newest first, without their texts."),
        tool<get_trace_tool>("get_trace", "All spans of a trace as a tree, without their texts."),
        tool<get_span_tool>("get_span", "Everything about one span: input, output, messages, attributes."),
        tool<query_sql_tool>("query_sql", "Read-only SQL over the spans and evals of a project."),
        tool<get_series_tool>("get_series", "Numbers over time: volume, errors, latency, tokens, cost; grouped."),
        tool<list_evals_tool>("list_evals", "Labels and scores that people, models and code gave."),
        tool<list_issues_tool>("list_issues", "Recurring problems of a project, highest ranked first."),
        tool<get_issue_tool>("get_issue", "Everything about one issue: numbers, filter, example traces."),
        tool<report_issue_tool>("report_issue", "Tell of a recurring problem; the same one again is the same issue."),
        tool<save_investigation_tool>("save_investigation", "Leave an investigation for review.", true),
        tool<label_spans_tool>("label_spans", "Propose labels for spans, traces or chat sessions.", true),
        tool<save_file_tool>("save_file", "Leave a file for review: a chart, a table, a script.", true),
    };
    return tools;
}

} // namespace hone::api
