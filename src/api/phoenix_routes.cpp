// Routes as Arize Phoenix has them (ADR 0010).
#include "api/routes.h"

#include "api/phoenix_handlers.h"

namespace hone::api {

namespace {

using enum access::Permission;

const Route phoenix_table[] = {
    route<list_spans>("GET", "/v1/projects/{project}/spans", need(project_read), "Whole spans, newest first.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<create_spans>("POST", "/v1/projects/{project}/spans", need(trace_write),
                        "Send spans as JSON; all are taken, or none.")
        .raw("application/json")
        .answers(202)
        .with_body_limit(telemetry::Ingest::body_limit)
        .on(net::Lane::query)
        .like_phoenix(),
    route<list_otlp_spans>("GET", "/v1/projects/{project}/spans/otlpv1", need(project_read),
                           "Whole spans in the words of OTLP, newest first.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<list_traces>("GET", "/v1/projects/{project}/traces", need(project_read), "Traces with their tokens.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<list_sessions>("GET", "/v1/projects/{project}/sessions", need(project_read),
                         "Chat sessions with their traces.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<get_session>("GET", "/v1/sessions/{session}", need(project_read), "A chat session by id or name.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<delete_session>("DELETE", "/v1/sessions/{session}", need(trace_delete),
                          "Delete a chat session with its traces and evals.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<delete_sessions>("POST", "/v1/sessions/delete", need(trace_delete), "Delete several chat sessions.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<delete_trace_anywhere>("DELETE", "/v1/traces/{trace}", need(trace_delete), "Delete a trace by its id alone.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<delete_span_anywhere>("DELETE", "/v1/spans/{span}", need(trace_delete), "Delete a span by its id alone.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<annotate_spans>("POST", "/v1/span_annotations", need(eval_write), "Annotate spans.")
        .with_body_limit(telemetry::Ingest::body_limit)
        .on(net::Lane::query)
        .like_phoenix(),
    route<annotate_traces>("POST", "/v1/trace_annotations", need(eval_write), "Annotate traces.")
        .with_body_limit(telemetry::Ingest::body_limit)
        .on(net::Lane::query)
        .like_phoenix(),
    route<annotate_sessions>("POST", "/v1/session_annotations", need(eval_write), "Annotate chat sessions.")
        .with_body_limit(telemetry::Ingest::body_limit)
        .on(net::Lane::query)
        .like_phoenix(),
    route<annotate_documents>("POST", "/v1/document_annotations", need(eval_write),
                              "Annotate documents that spans retrieved.")
        .with_body_limit(telemetry::Ingest::body_limit)
        .on(net::Lane::query)
        .like_phoenix(),
    route<create_span_note>("POST", "/v1/span_notes", need(eval_write), "Add a note to a span.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<create_trace_note>("POST", "/v1/trace_notes", need(eval_write), "Add a note to a trace.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<create_session_note>("POST", "/v1/session_notes", need(eval_write), "Add a note to a chat session.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<list_span_annotations>("GET", "/v1/projects/{project}/span_annotations", need(project_read),
                                 "Annotations of spans.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<list_trace_annotations>("GET", "/v1/projects/{project}/trace_annotations", need(project_read),
                                  "Annotations of traces.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<list_session_annotations>("GET", "/v1/projects/{project}/session_annotations", need(project_read),
                                    "Annotations of chat sessions.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<delete_span_annotations>("DELETE", "/v1/projects/{project}/span_annotations", need(eval_write),
                                   "Delete annotations of spans; others' with trace_delete.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<delete_trace_annotations>("DELETE", "/v1/projects/{project}/trace_annotations", need(eval_write),
                                    "Delete annotations of traces; others' with trace_delete.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<delete_session_annotations>("DELETE", "/v1/projects/{project}/session_annotations", need(eval_write),
                                      "Delete annotations of chat sessions; others' with trace_delete.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<get_phoenix_version>("GET", "/arize_phoenix_version", guest,
                               "The version of Phoenix whose API this one keeps to.")
        .raw("text/plain"),
};

} // namespace

std::span<const Route> phoenix_routes() {
    return phoenix_table;
}

} // namespace hone::api
