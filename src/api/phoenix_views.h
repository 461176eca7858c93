// Spans, traces, sessions and annotations in the shapes of Arize Phoenix' REST API. What Phoenix calls a GlobalID is
// here one text that names the thing together with its project (global_id.h).
#pragma once

#include "api/phoenix_requests.h"
#include "api/spans.h"

namespace hone::api {

struct SpanContext {
    std::string trace_id;
    std::string span_id;
    static constexpr std::tuple fields{
        Field{"trace_id", &SpanContext::trace_id, "32 hexadecimal digits."},
        Field{"span_id", &SpanContext::span_id, "16 hexadecimal digits."},
    };
};

struct SpanEvent {
    std::string name;
    Time timestamp{};
    json::Value attributes;
    static constexpr std::tuple fields{
        Field{"name", &SpanEvent::name, ""},
        Field{"timestamp", &SpanEvent::timestamp, ""},
        Field{"attributes", &SpanEvent::attributes, ""},
    };
};

struct Span {
    std::string id;
    std::string name;
    SpanContext context;
    std::string span_kind;
    std::optional<std::string> parent_id;
    Time start_time{};
    Time end_time{};
    std::string status_code;
    std::string status_message;
    json::Value attributes;
    std::vector<SpanEvent> events;
    static constexpr std::tuple fields{
        Field{"id", &Span::id, "Names the span with its project."},
        Field{"name", &Span::name, ""},
        Field{"context", &Span::context, ""},
        Field{"span_kind", &Span::span_kind, "LLM, CHAIN, TOOL, …, UNKNOWN."},
        Field{"parent_id", &Span::parent_id, ""},
        Field{"start_time", &Span::start_time, ""},
        Field{"end_time", &Span::end_time, ""},
        Field{"status_code", &Span::status_code, "OK, ERROR or UNSET."},
        Field{"status_message", &Span::status_message, ""},
        Field{"attributes", &Span::attributes, "As they were sent."},
        Field{"events", &Span::events, ""},
    };
};

struct TraceSpan {
    std::string id;
    std::string span_id;
    std::optional<std::string> parent_id;
    std::string name;
    std::string span_kind;
    std::string status_code;
    Time start_time{};
    Time end_time{};
    static constexpr std::tuple fields{
        Field{"id", &TraceSpan::id, ""},
        Field{"span_id", &TraceSpan::span_id, ""},
        Field{"parent_id", &TraceSpan::parent_id, ""},
        Field{"name", &TraceSpan::name, ""},
        Field{"span_kind", &TraceSpan::span_kind, ""},
        Field{"status_code", &TraceSpan::status_code, ""},
        Field{"start_time", &TraceSpan::start_time, ""},
        Field{"end_time", &TraceSpan::end_time, ""},
    };
};

struct Trace {
    std::string id;
    std::string trace_id;
    std::string project_id;
    Time start_time{};
    Time end_time{};
    int64_t token_count_prompt = 0;
    int64_t token_count_completion = 0;
    int64_t token_count_total = 0;
    std::optional<std::vector<TraceSpan>> spans;
    static constexpr std::tuple fields{
        Field{"id", &Trace::id, "Names the trace with its project."},
        Field{"trace_id", &Trace::trace_id, "32 hexadecimal digits."},
        Field{"project_id", &Trace::project_id, ""},
        Field{"start_time", &Trace::start_time, ""},
        Field{"end_time", &Trace::end_time, ""},
        Field{"token_count_prompt", &Trace::token_count_prompt, "Input, from caches too."},
        Field{"token_count_completion", &Trace::token_count_completion, "Output and reasoning."},
        Field{"token_count_total", &Trace::token_count_total, ""},
        Field{"spans", &Trace::spans, "With include_spans."},
    };
};

struct SessionTrace {
    std::string id;
    std::string trace_id;
    Time start_time{};
    Time end_time{};
    static constexpr std::tuple fields{
        Field{"id", &SessionTrace::id, ""},
        Field{"trace_id", &SessionTrace::trace_id, ""},
        Field{"start_time", &SessionTrace::start_time, ""},
        Field{"end_time", &SessionTrace::end_time, ""},
    };
};

struct ChatSession {
    std::string id;
    std::string session_id;
    std::string project_id;
    Time start_time{};
    Time end_time{};
    std::vector<SessionTrace> traces;
    int64_t token_count_prompt = 0;
    int64_t token_count_completion = 0;
    int64_t token_count_total = 0;
    static constexpr std::tuple fields{
        Field{"id", &ChatSession::id, "Names the session with its project."},
        Field{"session_id", &ChatSession::session_id, "The application's session.id."},
        Field{"project_id", &ChatSession::project_id, ""},
        Field{"start_time", &ChatSession::start_time, ""},
        Field{"end_time", &ChatSession::end_time, ""},
        Field{"traces", &ChatSession::traces, "By start."},
        Field{"token_count_prompt", &ChatSession::token_count_prompt, "Input, from caches too."},
        Field{"token_count_completion", &ChatSession::token_count_completion, "Output and reasoning."},
        Field{"token_count_total", &ChatSession::token_count_total, ""},
    };
};

struct Annotation {
    std::string id;
    Time created_at{};
    Time updated_at{};
    std::string source;
    std::optional<std::string> user_id;
    std::string name;
    AnnotatorKind annotator_kind = AnnotatorKind::human;
    AnnotationResult result;
    json::Value metadata;
    std::string identifier;
    static constexpr std::tuple fields{
        Field{"id", &Annotation::id, ""},
        Field{"created_at", &Annotation::created_at, ""},
        Field{"updated_at", &Annotation::updated_at, ""},
        Field{"source", &Annotation::source, "APP: by a person; API: by a key."},
        Field{"user_id", &Annotation::user_id, "Who, if a person."},
        Field{"name", &Annotation::name, ""},
        Field{"annotator_kind", &Annotation::annotator_kind, "What an agent made is LLM here."},
        Field{"result", &Annotation::result, ""},
        Field{"metadata", &Annotation::metadata, ""},
        Field{"identifier", &Annotation::identifier, ""},
    };
};

struct SpanAnnotation : Annotation {
    std::string span_id;
    static constexpr std::tuple fields =
        std::tuple_cat(Annotation::fields, std::tuple{Field{"span_id", &SpanAnnotation::span_id, ""}});
};
struct TraceAnnotation : Annotation {
    std::string trace_id;
    static constexpr std::tuple fields =
        std::tuple_cat(Annotation::fields, std::tuple{Field{"trace_id", &TraceAnnotation::trace_id, ""}});
};
struct SessionAnnotation : Annotation {
    std::string session_id;
    static constexpr std::tuple fields =
        std::tuple_cat(Annotation::fields, std::tuple{Field{"session_id", &SessionAnnotation::session_id, ""}});
};

struct WrittenAnnotation {
    std::string id;
    static constexpr std::tuple fields{Field{"id", &WrittenAnnotation::id, ""}};
};

// Whole spans in Phoenix' own shape, and as OTLP with Phoenix' names of its fields.
Result<std::vector<Span>> spans_of_payloads(const std::string& project,
                                            const std::vector<telemetry::SpanPayload>& payloads);
Result<std::vector<json::Value>> otlp_of_payloads(const std::vector<telemetry::SpanPayload>& payloads);

TraceSpan trace_span_of(const std::string& project, const telemetry::SpanRow& row);
Trace trace_of(const std::string& project, const telemetry::TraceTotals& totals);
ChatSession session_of(const std::string& project, const telemetry::SessionTotals& totals);
Annotation annotation_of(const telemetry::Eval& eval);

} // namespace hone::api
