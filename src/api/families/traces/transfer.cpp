// Export and import of spans.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/traces/span_views.h"
#include "telemetry/transfer/span_export.h"
#include "telemetry/transfer/span_import.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ExportSpans : SpanRange {
    std::optional<telemetry::ExportFormat> format;
    static constexpr auto fields =
        joined(span_range_fields(),
               Pack{
                   Field{"format", &ExportSpans::format,
                         "jsonl (if not given), parquet, otlp (OTLP/JSON, a request on each line) or otlp_proto."},
               });
};

struct ImportSpans {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<telemetry::ImportFormat> format;
    std::optional<bool> dry_run;
    std::optional<Time> time;
    static constexpr Pack fields{
        Field{"space", &ImportSpans::space, "Id or name of the space; the caller's first one if not given."},
        Field{
            "format", &ImportSpans::format,
            "Format of the body: jsonl (if not given), parquet (of Hone, Phoenix or LangSmith), phoenix (its spans as "
            "JSON), otlp (OTLP/JSON, a request on each line), otlp_proto, langfuse (traces or observations as JSON), "
            "langsmith (runs as JSON), openai_batch or anthropic_batch (their result files)."},
        Field{"dry_run", &ImportSpans::dry_run, "true: read and count the spans, store nothing."},
        Field{"time", &ImportSpans::time,
              "Time of results of a batch that have none. Use the same time again, or they are stored twice."},
    };
};

struct ImportProblemView {
    int64_t line = 0;
    std::string reason;
    static constexpr Pack fields{
        Field{"line", &ImportProblemView::line, "Number of the line, or of the row of a Parquet file, from 1."},
        Field{"reason", &ImportProblemView::reason, ""},
    };
};

struct ImportReportView {
    int64_t accepted = 0;
    int64_t rejected = 0;
    std::vector<ImportProblemView> problems;
    bool has_more_problems = false;
    static constexpr Pack fields{
        Field{"accepted", &ImportReportView::accepted, "Accepted spans; duplicates are counted in the ledger only."},
        Field{"rejected", &ImportReportView::rejected, ""},
        Field{"problems", &ImportReportView::problems, "The first hundred problems."},
        Field{"has_more_problems", &ImportReportView::has_more_problems, ""},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

Result<net::Response> export_spans(const Call& call, const ExportSpans& query) {
    const auto scope = TRY(scope_of(call, query));
    const auto format = query.format.value_or(telemetry::ExportFormat::jsonl);
    net::Response response;
    response.stream = TRY(telemetry::open_export(call.services.spans.telemetry, format, scope));
    response.content_type = content_type_of(format);
    response.set_header("Content-Disposition",
                        "attachment; filename=\"spans." + std::string(file_ending_of(format)) + "\"");
    return response;
}

Result<One<ImportReportView>> import_spans(const Call& call, const ImportSpans& query, const StreamedBody& body) {
    const telemetry::TraceTarget target =
        TRY(call.services.spans.projects.target(call.caller, query.space, call.at("project")));
    telemetry::Spans& spans = call.services.spans;
    if (body.reader == nullptr) return invalid("there is no body");
    const bool is_dry_run = query.dry_run.value_or(false);
    // A dry run creates no project.
    std::optional<telemetry::ProjectRef> project;
    if (!is_dry_run) project = TRY(spans.projects.resolve(call.caller, target.space, target.project));
    telemetry::CallersProjects projects(spans.projects, call.caller, target.space);
    telemetry::ImportRequest request;
    request.format = query.format.value_or(telemetry::ImportFormat::jsonl);
    request.encoding = call.head.header("Content-Encoding");
    request.space = target.space.text();
    request.project = target.project;
    request.projects = &projects;
    request.is_dry_run = is_dry_run;
    request.time_ns = to_ns(query.time.value_or(call.services.clock.now()));
    const auto report = TRY(telemetry::import_spans(spans.telemetry, request, [&] { return body.reader->read(); }));
    if (project)
        TRY(call.access().audit.record(call.caller,
                                       {"trace_import", target.space, project->id, {{"spans", report.accepted}}}));
    ImportReportView view{report.accepted, report.rejected, {}, report.has_more_problems};
    for (const auto& problem : report.problems) view.problems.push_back({problem.line, problem.reason});
    return One<ImportReportView>{std::move(view)};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route transfer_table[] = {
    route<export_spans>("GET", "/v1/projects/{project}/export", need(project_read),
                        "Export spans as JSON lines, Parquet or OTLP, oldest first.")
        .raw("application/x-ndjson, application/vnd.apache.parquet, application/x-protobuf")
        .on(net::Lane::query),
    route<import_spans>("POST", "/v1/projects/{project}/import", need(trace_write),
                        "Import spans of Hone, OTLP, Phoenix, Langfuse, LangSmith or a batch of OpenAI or Anthropic; "
                        "plain, gzip or zstd.")
        .takes("application/octet-stream")
        .with_body_limit(size_t{64} << 30)
        .on(net::Lane::query),
};

} // namespace

std::span<const Route> transfer_routes() {
    return transfer_table;
}

} // namespace hone::api
