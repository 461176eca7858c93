// Spans, traces, chat sessions, evals: sending and asking.
#include "api/routes.h"

#include "api/phoenix_handlers.h"
#include "api/span_handlers.h"
#include "api/tail_handlers.h"

namespace hone::api {

namespace {

using enum access::Permission;

const Route trace_table[] = {
    route<take_traces>("POST", "/v1/traces", need(trace_write),
                       "Send traces: OTLP over HTTP, protobuf or JSON, plain, gzip or zstd.")
        .takes("application/x-protobuf, application/json")
        .raw("application/x-protobuf, application/json")
        .with_body_limit(telemetry::Ingest::body_limit)
        .on(net::Lane::ingest)
        .fails_as(ErrorForm::rpc_status),
    route<list_trace_rows>("GET", "/v1/projects/{project}/trace_rows", need(project_read), "Traces, newest first.")
        .on(net::Lane::query),
    route<list_span_rows>("GET", "/v1/projects/{project}/span_rows", need(project_read), "Spans, newest first.")
        .on(net::Lane::query),
    route<list_session_rows>("GET", "/v1/projects/{project}/session_rows", need(project_read),
                             "Chat sessions, newest first.")
        .on(net::Lane::query),
    route<get_trace_skeleton>("GET", "/v1/projects/{project}/traces/{trace}/skeleton", need(project_read),
                              "All spans of a trace, without their payloads.")
        .on(net::Lane::query),
    route<get_span_payload>("GET", "/v1/projects/{project}/traces/{trace}/spans/{span}", need(project_read),
                            "Everything about one span.")
        .on(net::Lane::query),
    route<delete_trace>("DELETE", "/v1/projects/{project}/traces/{trace}", need(trace_delete), "Delete a trace.")
        .on(net::Lane::query),
    route<export_spans>("GET", "/v1/projects/{project}/export", need(project_read),
                        "Spans as a file: JSON lines, Parquet or OTLP, oldest first.")
        .raw("application/x-ndjson, application/vnd.apache.parquet, application/x-protobuf")
        .on(net::Lane::query),
    route<import_spans>("POST", "/v1/projects/{project}/import", need(trace_write),
                        "Spans from a file: of Hone, of Phoenix, or OTLP; plain, gzip or zstd.")
        .takes("application/octet-stream")
        .with_body_limit(size_t{64} << 30)
        .on(net::Lane::query),
    route<follow_spans>("GET", "/v1/projects/{project}/tail", need(project_read),
                        "Spans as they arrive, as Server-Sent Events.")
        .raw("text/event-stream")
        .on(net::Lane::query),
    route<list_views>("GET", "/v1/projects/{project}/views", need(project_read), "Saved views of the project's lists."),
    route<save_view>("PUT", "/v1/projects/{project}/views/{view}", need(project_update), "Save a view under a name."),
    route<delete_view>("DELETE", "/v1/projects/{project}/views/{view}", need(project_update), "Delete a saved view."),
    route<get_series>("GET", "/v1/projects/{project}/series", need(project_read), "Numbers of spans over time.")
        .on(net::Lane::query),
    route<get_comparison>("GET", "/v1/projects/{project}/compare", need(project_read),
                          "Two windows of time side by side.")
        .on(net::Lane::query),
    route<search_spans>("GET", "/v1/projects/{project}/search", need(project_read),
                        "Spans whose input or output holds these words, newest first.")
        .on(net::Lane::query),
    route<get_facets>("GET", "/v1/projects/{project}/facets", need(project_read),
                      "The most frequent values of a field.")
        .on(net::Lane::query),
    route<get_attribute_keys>("GET", "/v1/projects/{project}/attribute_keys", need(project_read),
                              "The attributes that spans have.")
        .on(net::Lane::query),
    route<get_filter_fields>("GET", "/v1/filter_fields", login, "What filters can ask for."),
    route<run_sql>("POST", "/v1/sql", need(project_read), "Ask in SQL, inside one project.")
        .raw("application/json, application/x-ndjson, text/csv, application/vnd.apache.arrow.file, "
             "application/vnd.apache.parquet")
        .on(net::Lane::query),
    route<get_ledger>("GET", "/v1/projects/{project}/ledger", need(project_read),
                      "What happened to every span that was received."),
    route<get_span_backlog>("GET", "/v1/span_backlog", login,
                            "Spans that were accepted and are not stored yet, and why."),
    route<get_project_trace_settings>("GET", "/v1/projects/{project}/trace_settings", need(project_read),
                                      "Quotas, retention by bytes, sampling and redaction of a project."),
    route<put_project_trace_settings>("PUT", "/v1/projects/{project}/trace_settings", need(project_update),
                                      "Replace them; what is left out is not set."),
    route<get_space_trace_settings>("GET", "/v1/spaces/{space}/trace_settings", need(space_read),
                                    "Quotas of a space, for all its projects together."),
    route<put_space_trace_settings>("PUT", "/v1/spaces/{space}/trace_settings", need(space_update),
                                    "Replace them; what is left out is not set."),
    route<get_disk>("GET", "/v1/projects/{project}/disk", need(project_read), "What the project's spans cost on disk.")
        .on(net::Lane::query),
    route<write_evals>("POST", "/v1/projects/{project}/evals", need(eval_write),
                       "Label and score spans, traces and sessions, up to 100,000 at once.")
        .raw("application/json")
        .with_body_limit(telemetry::Ingest::body_limit)
        .on(net::Lane::query),
    route<list_evals>("GET", "/v1/projects/{project}/evals", need(project_read), "Evals.").on(net::Lane::query),
    route<list_eval_names>("GET", "/v1/projects/{project}/eval_names", need(project_read),
                           "Names of evals in use, with their labels.")
        .on(net::Lane::query),
    route<get_eval_history>("GET", "/v1/projects/{project}/eval_history", need(project_read),
                            "Every version of the evals of one target.")
        .on(net::Lane::query),

    route<delete_spans>("POST", "/v1/projects/{project}/delete_spans", need(trace_delete),
                        "Delete the spans that a filter finds, with their evals.")
        .on(net::Lane::query),
};

} // namespace

std::span<const Route> trace_routes() {
    return trace_table;
}

} // namespace hone::api
