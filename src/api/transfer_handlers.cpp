#include "api/span_handlers.h"
#include "api/trace_target.h"

namespace hone::api {

Result<net::Response> export_spans(const Call& call, const ExportSpans& query) {
    const auto scope = TRY(scope_of(call, query));
    const auto format = query.format.value_or(telemetry::ExportFormat::jsonl);
    net::Response response;
    response.stream = TRY(telemetry::open_export(TRY(spans_of(call))->telemetry, format, scope));
    response.content_type = content_type_of(format);
    response.set_header("Content-Disposition",
                        "attachment; filename=\"spans." + std::string(file_ending_of(format)) + "\"");
    return response;
}

Result<One<ImportReportView>> import_spans(const Call& call, const ImportSpans& query, const StreamedBody& body) {
    const TraceTarget target = TRY(trace_target(call, query.space));
    Spans& spans = *TRY(spans_of(call));
    if (body.reader == nullptr) return invalid("there is no body");
    const auto project = TRY(spans.projects.resolve(call.caller, target.space, target.project));
    CallersProjects projects(spans.projects, call.caller, target.space);
    telemetry::ImportRequest request;
    request.format = query.format.value_or(telemetry::ImportFormat::jsonl);
    request.encoding = call.head.header("Content-Encoding");
    request.space = target.space.text();
    request.project = target.project;
    request.projects = &projects;
    const auto report = TRY(telemetry::import_spans(spans.telemetry, request, [&] { return body.reader->read(); }));
    TRY(call.access().audit.record(call.caller,
                                   {"trace_import", target.space, project.id, {{"spans", report.accepted}}}));
    ImportReportView view{report.accepted, report.rejected, {}, report.has_more_problems};
    for (const auto& problem : report.problems) view.problems.push_back({problem.line, problem.reason});
    return One<ImportReportView>{std::move(view)};
}

} // namespace hone::api
