// Handlers of the routes that have the shapes of Arize Phoenix' REST API. One .cpp per family.
#pragma once

#include "api/phoenix_views.h"
#include "api/span_handlers.h"

namespace hone::api {

// phoenix_span_handlers.cpp
Result<List<Span>> list_spans(const Call&, const ListSpans&);
Result<List<json::Value>> list_otlp_spans(const Call&, const ListSpans&);
Result<net::Response> create_spans(const Call&, const InSpace&, const CreateSpans&);
Result<List<Trace>> list_traces(const Call&, const ListTraces&);
Result<List<ChatSession>> list_sessions(const Call&, const ListSessions&);
Result<One<ChatSession>> get_session(const Call&, const InSpace&);
Result<net::Response> get_phoenix_version(const Call&);

// span_delete_handlers.cpp
Result<NoContent> delete_span_anywhere(const Call&, const InSpace&);
Result<NoContent> delete_trace_anywhere(const Call&, const InSpace&);
Result<NoContent> delete_session(const Call&, const InSpace&);
Result<NoContent> delete_sessions(const Call&, const InSpace&, const DeleteSessions&);
Result<NoContent> delete_trace(const Call&, const InSpace&);
Result<One<DeletedSpans>> delete_spans(const Call&, const InSpace&, const DeleteSpans&);

// annotation_handlers.cpp
Result<List<WrittenAnnotation>> annotate_spans(const Call&, const Annotate&, const AnnotateSpans&);
Result<List<WrittenAnnotation>> annotate_traces(const Call&, const Annotate&, const AnnotateTraces&);
Result<List<WrittenAnnotation>> annotate_sessions(const Call&, const Annotate&, const AnnotateSessions&);
Result<List<WrittenAnnotation>> annotate_documents(const Call&, const Annotate&, const AnnotateDocuments&);
Result<One<WrittenAnnotation>> create_span_note(const Call&, const InSpace&, const CreateSpanNote&);
Result<One<WrittenAnnotation>> create_trace_note(const Call&, const InSpace&, const CreateTraceNote&);
Result<One<WrittenAnnotation>> create_session_note(const Call&, const InSpace&, const CreateSessionNote&);
Result<List<SpanAnnotation>> list_span_annotations(const Call&, const ListSpanAnnotations&);
Result<List<TraceAnnotation>> list_trace_annotations(const Call&, const ListTraceAnnotations&);
Result<List<SessionAnnotation>> list_session_annotations(const Call&, const ListSessionAnnotations&);
Result<NoContent> delete_span_annotations(const Call&, const DeleteAnnotations&);
Result<NoContent> delete_trace_annotations(const Call&, const DeleteAnnotations&);
Result<NoContent> delete_session_annotations(const Call&, const DeleteAnnotations&);

} // namespace hone::api
