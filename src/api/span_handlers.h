// Handlers of the routes about spans and evals. One .cpp per family.
#pragma once

#include "api/handlers.h"
#include "api/span_requests.h"
#include "api/span_views.h"

namespace hone::api {

// unavailable where the server was built without telemetry.
Result<Spans*> spans_of(const Call& call);
// Starts the engine if it sleeps; unavailable when it does not start.
Result<telemetry::SpanStore*> store_of(const Call& call);

// Whole spans; a page that would be too large is a shorter one.
Result<telemetry::PayloadPage> payload_page(const Call& call, telemetry::ListSpans request);

// Project, time and filter of a question; checks that the caller may read the project.
template <class Query>
Result<telemetry::Scope> scope_of(const Call& call, const Query& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    telemetry::Scope scope;
    scope.project = project.id.text();
    if (query.after) scope.from_ns = to_ns(*query.after);
    if (query.before) scope.to_ns = to_ns(*query.before);
    scope.filter = query.filter.value_or("");
    scope.cancel = call.head.gone;
    return scope;
}

// trace_handlers.cpp
Result<net::Response> take_traces(const Call&, const InSpace&, const RawBody&);
Result<List<SpanRow>> list_span_rows(const Call&, const ListSpanRows&);
Result<List<TraceRow>> list_trace_rows(const Call&, const ListTraceRows&);
Result<List<SessionRow>> list_session_rows(const Call&, const ListSessionRows&);
Result<One<TraceSkeleton>> get_trace_skeleton(const Call&, const InSpace&);
Result<One<SpanPayload>> get_span_payload(const Call&, const InSpace&);

// transfer_handlers.cpp
Result<net::Response> export_spans(const Call&, const ExportSpans&);
Result<One<ImportReportView>> import_spans(const Call&, const ImportSpans&, const StreamedBody&);

// trace_settings_handlers.cpp
Result<One<ProjectTraceSettingsView>> get_project_trace_settings(const Call&, const InSpace&);
Result<One<ProjectTraceSettingsView>> put_project_trace_settings(const Call&, const InSpace&,
                                                                 const telemetry::ProjectTraceSettings&);
Result<One<SpaceTraceSettingsView>> get_space_trace_settings(const Call&);
Result<One<SpaceTraceSettingsView>> put_space_trace_settings(const Call&, const telemetry::SpaceTraceSettings&);

// question_handlers.cpp
Result<One<SpanSeries>> get_series(const Call&, const AskSeries&);
Result<List<FacetValue>> get_facets(const Call&, const AskFacets&);
Result<List<AttributeKeyCount>> get_attribute_keys(const Call&, const AskAttributeKeys&);
Result<List<FilterFieldInfo>> get_filter_fields(const Call&);
Result<net::Response> run_sql(const Call&, const InSpace&, const RunSql&);
Result<One<LedgerView>> get_ledger(const Call&, const InSpace&);
Result<One<telemetry::BacklogView>> get_span_backlog(const Call&);
Result<One<DiskView>> get_disk(const Call&, const InSpace&);

// compare_handlers.cpp
Result<One<ComparisonView>> get_comparison(const Call&, const AskComparison&);
Result<List<SearchHit>> search_spans(const Call&, const AskSearch&);

// eval_handlers.cpp
Result<net::Response> write_evals(const Call&, const HowToWriteEvals&, const WriteEvals&);
Result<List<EvalView>> list_evals(const Call&, const ListEvalViews&);
Result<List<EvalNameView>> list_eval_names(const Call&, const InSpace&);
Result<List<EvalView>> get_eval_history(const Call&, const AskEvalHistory&);

} // namespace hone::api
