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

struct ListExports {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &ListExports::space, "Id or name of the space; the caller's first one if not given."},
        Field{"limit", &ListExports::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListExports::cursor, "next_cursor of the previous response."},
    };
};

struct ReadExport {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<bool> direct;
    static constexpr Pack fields{
        Field{"space", &ReadExport::space, "Id or name of the space; the caller's first one if not given."},
        Field{"direct", &ReadExport::direct,
              "true: 303 with an address in the bucket that is valid for five minutes, where the object store has such "
              "addresses; otherwise the server sends the bytes."},
    };
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

Result<One<StoredExport>> store_export(const Call& call, const ExportSpans& query) {
    const access::Project project = TRY(project_in_path(call, query.space, access::Permission::project_update));
    const auto scope = TRY(scope_of(call, query));
    const auto format = query.format.value_or(telemetry::ExportFormat::jsonl);
    const auto source = TRY(telemetry::open_export(call.services.spans.telemetry, format, scope));
    return One<StoredExport>{
        TRY(call.services.installation.store_export(call.caller, project, *source, file_ending_of(format)))};
}

Result<List<StoredExport>> list_exports(const Call& call, const ListExports& query) {
    const access::PageRequest page = TRY(page_of(query.limit, query.cursor));
    const std::string after = TRY(page.after());
    const access::Project project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    std::vector<StoredExport> all = TRY(call.services.installation.stored_exports(project));
    // Newest first, by name.
    std::erase_if(all, [&](const StoredExport& one) { return !after.empty() && one.name >= after; });
    if (all.size() > static_cast<size_t>(page.limit) + 1) all.resize(static_cast<size_t>(page.limit) + 1);
    return access::make_page(std::move(all), page, [](const StoredExport& one) { return one.name; });
}

Result<net::Response> get_export_content(const Call& call, const ReadExport& query) {
    const access::Project project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    const std::string name(call.at("export"));
    ExportContent content = TRY(call.services.installation.export_content(project, name, query.direct.value_or(false)));
    net::Response response;
    if (!content.address.empty()) {
        response.status = 303;
        response.set_header("Location", content.address);
        response.set_header("Cache-Control", "no-store");
        return response;
    }
    response.stream = std::move(content.stream);
    response.content_type = "application/octet-stream";
    response.set_header("Content-Disposition", "attachment; filename=\"" + name + "\"");
    return response;
}

Result<NoContent> remove_export(const Call& call, const InSpace& query) {
    const access::Project project = TRY(project_in_path(call, query.space, access::Permission::project_update));
    TRY(call.services.installation.remove_export(call.caller, project, std::string(call.at("export"))));
    return NoContent{};
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
    route<store_export>("POST", "/v1/projects/{project}/exports", need(project_update),
                        "Write an export to the object store; the response comes when it is complete.")
        .on(net::Lane::query),
    route<list_exports>("GET", "/v1/projects/{project}/exports", need(project_read),
                        "Exports of the project in the object store, newest first."),
    route<get_export_content>("GET", "/v1/projects/{project}/exports/{export}/content", need(project_read),
                              "The bytes of an export in the object store, or an address where they are.")
        .raw("application/octet-stream")
        .on(net::Lane::query),
    route<remove_export>("DELETE", "/v1/projects/{project}/exports/{export}", need(project_update),
                         "Delete an export from the object store."),
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
