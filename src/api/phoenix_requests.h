// Query strings and bodies in the shapes of Arize Phoenix' REST API, for its clients. `space` is ours: theirs never
// send it, and get their first space.
#pragma once

#include "api/requests.h"
#include "api/span_requests.h"

namespace hone::api {

enum class SortOrder { ascending, descending };
constexpr auto enum_names(SortOrder) {
    return std::array{EnumName{SortOrder::ascending, "asc"}, EnumName{SortOrder::descending, "desc"}};
}

enum class TraceSort { start_time, latency };
constexpr auto enum_names(TraceSort) {
    return std::array{EnumName{TraceSort::start_time, "start_time"}, EnumName{TraceSort::latency, "latency_ms"}};
}

enum class AnnotatorKind { human, llm, code };
constexpr auto enum_names(AnnotatorKind) {
    return std::array{EnumName{AnnotatorKind::human, "HUMAN"}, EnumName{AnnotatorKind::llm, "LLM"},
                      EnumName{AnnotatorKind::code, "CODE"}};
}

struct ListSpans {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> cursor;
    std::optional<int64_t> limit;
    std::optional<Time> start_time;
    std::optional<Time> end_time;
    std::vector<std::string> trace_id;
    std::vector<std::string> span_id;
    std::optional<std::string> parent_id;
    std::vector<std::string> name;
    std::vector<std::string> span_kind;
    std::vector<std::string> status_code;
    std::vector<std::string> attribute;
    static constexpr std::tuple fields{
        Field{"space", &ListSpans::space, "Id or name of the space; the caller's first one if not given."},
        Field{"cursor", &ListSpans::cursor, "next_cursor of the answer before."},
        Field{"limit", &ListSpans::limit, "1 to 1000; 100 if not given. Large spans may make a page shorter."},
        Field{"start_time", &ListSpans::start_time, "Started at or after this time."},
        Field{"end_time", &ListSpans::end_time, "Started before this time."},
        Field{"trace_id", &ListSpans::trace_id, "Only of these traces; may be repeated."},
        Field{"span_id", &ListSpans::span_id, "Only these; may be repeated."},
        Field{"parent_id", &ListSpans::parent_id, "Only children of this span; \"null\": only roots."},
        Field{"name", &ListSpans::name, "Only with these names; may be repeated."},
        Field{"span_kind", &ListSpans::span_kind, "LLM, CHAIN, TOOL, …; may be repeated."},
        Field{"status_code", &ListSpans::status_code, "OK, ERROR or UNSET; may be repeated."},
        Field{"attribute", &ListSpans::attribute,
              "key:value, all must hold. The value is read as JSON, so user.id:12 is a number and user.id:\"12\" a "
              "text; what is no JSON is a text."},
    };
};

struct ListTraces {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<Time> start_time;
    std::optional<Time> end_time;
    std::optional<TraceSort> sort;
    std::optional<SortOrder> order;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    std::optional<bool> include_spans;
    std::vector<std::string> session_identifier;
    static constexpr std::tuple fields{
        Field{"space", &ListTraces::space, "Id or name of the space; the caller's first one if not given."},
        Field{"start_time", &ListTraces::start_time, "Traces that started at or after this time."},
        Field{"end_time", &ListTraces::end_time, "Traces that started before this time."},
        Field{"sort", &ListTraces::sort, "start_time (if not given) or latency_ms."},
        Field{"order", &ListTraces::order, "desc (if not given) or asc."},
        Field{"limit", &ListTraces::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListTraces::cursor, "next_cursor of the answer before, with the same sort and order."},
        Field{"include_spans", &ListTraces::include_spans, "With the spans of each trace, without their payloads."},
        Field{"session_identifier", &ListTraces::session_identifier, "Only of these chat sessions; may be repeated."},
    };
};

struct ListSessions {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> cursor;
    std::optional<int64_t> limit;
    std::optional<SortOrder> order;
    static constexpr std::tuple fields{
        Field{"space", &ListSessions::space, "Id or name of the space; the caller's first one if not given."},
        Field{"cursor", &ListSessions::cursor, "next_cursor of the answer before, with the same order."},
        Field{"limit", &ListSessions::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
        Field{"order", &ListSessions::order, "By start: asc (if not given) or desc."},
    };
};

struct ListAnnotations {
    std::optional<std::string> space;
    std::vector<std::string> identifier;
    std::vector<std::string> include_annotation_names;
    std::vector<std::string> exclude_annotation_names;
    std::optional<std::string> cursor;
    std::optional<int64_t> limit;
    static constexpr std::tuple fields{
        Field{"space", &ListAnnotations::space, "Id or name of the space; the caller's first one if not given."},
        Field{"identifier", &ListAnnotations::identifier, "Only with these identifiers; may be repeated."},
        Field{"include_annotation_names", &ListAnnotations::include_annotation_names,
              "Only with these names; may be repeated."},
        Field{"exclude_annotation_names", &ListAnnotations::exclude_annotation_names,
              "Not with these names; may be repeated."},
        Field{"cursor", &ListAnnotations::cursor, "next_cursor of the answer before."},
        Field{"limit", &ListAnnotations::limit, "Rows in one answer, 1 to 10000; 10 if not given."},
    };
};

struct ListSpanAnnotations : ListAnnotations {
    static constexpr bool is_query = true;
    std::vector<std::string> span_ids;
    static constexpr std::tuple fields = std::tuple_cat(
        ListAnnotations::fields,
        std::tuple{Field{"span_ids", &ListSpanAnnotations::span_ids, "Of these; or give an identifier."}});
};

struct ListTraceAnnotations : ListAnnotations {
    static constexpr bool is_query = true;
    std::vector<std::string> trace_ids;
    static constexpr std::tuple fields = std::tuple_cat(
        ListAnnotations::fields,
        std::tuple{Field{"trace_ids", &ListTraceAnnotations::trace_ids, "Of these; or give an identifier."}});
};

struct ListSessionAnnotations : ListAnnotations {
    static constexpr bool is_query = true;
    std::vector<std::string> session_ids;
    static constexpr std::tuple fields = std::tuple_cat(
        ListAnnotations::fields,
        std::tuple{Field{"session_ids", &ListSessionAnnotations::session_ids, "Of these; or give an identifier."}});
};

struct DeleteAnnotations {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> name;
    std::optional<std::string> identifier;
    std::optional<AnnotatorKind> annotator_kind;
    std::optional<Time> start_time;
    std::optional<Time> end_time;
    std::optional<bool> delete_all;
    static constexpr std::tuple fields{
        Field{"space", &DeleteAnnotations::space, "Id or name of the space; the caller's first one if not given."},
        Field{"name", &DeleteAnnotations::name, "Only with this name."},
        Field{"identifier", &DeleteAnnotations::identifier, "Only with this identifier."},
        Field{"annotator_kind", &DeleteAnnotations::annotator_kind, "Only of this kind."},
        Field{"start_time", &DeleteAnnotations::start_time, "Made at or after this time."},
        Field{"end_time", &DeleteAnnotations::end_time, "Made before this time."},
        Field{"delete_all", &DeleteAnnotations::delete_all, "Needed where not both times are given."},
    };
};

// --- bodies --------------------------------------------------------------------------------------------------------

struct CreateSpans {
    std::vector<json::Value> data;
    static constexpr std::tuple fields{
        Field{"data", &CreateSpans::data,
              "Spans as GET gives them: name, context, span_kind, parent_id, start_time, end_time, status_code, "
              "status_message, attributes, events."},
    };
};

struct NewSpanContext {
    std::string trace_id;
    std::string span_id;
    static constexpr std::tuple fields{
        Field{"trace_id", &NewSpanContext::trace_id, "32 hexadecimal digits."},
        Field{"span_id", &NewSpanContext::span_id, "16 hexadecimal digits."},
    };
};

struct NewSpanEvent {
    std::string name;
    Time timestamp{};
    std::optional<json::Value> attributes;
    static constexpr std::tuple fields{
        Field{"name", &NewSpanEvent::name, ""},
        Field{"timestamp", &NewSpanEvent::timestamp, ""},
        Field{"attributes", &NewSpanEvent::attributes, ""},
    };
};

// One of CreateSpans::data; read one by one, so that each fault can be told.
struct NewSpan {
    std::optional<std::string> id;
    std::string name;
    NewSpanContext context;
    std::string span_kind;
    std::optional<std::string> parent_id;
    Time start_time{};
    Time end_time{};
    std::string status_code;
    std::optional<std::string> status_message;
    std::optional<json::Value> attributes;
    std::optional<std::vector<NewSpanEvent>> events;
    static constexpr std::tuple fields{
        Field{"id", &NewSpan::id, "Ignored."},
        Field{"name", &NewSpan::name, ""},
        Field{"context", &NewSpan::context, ""},
        Field{"span_kind", &NewSpan::span_kind, "LLM, CHAIN, TOOL, …"},
        Field{"parent_id", &NewSpan::parent_id, ""},
        Field{"start_time", &NewSpan::start_time, ""},
        Field{"end_time", &NewSpan::end_time, ""},
        Field{"status_code", &NewSpan::status_code, "OK, ERROR or UNSET."},
        Field{"status_message", &NewSpan::status_message, ""},
        Field{"attributes", &NewSpan::attributes, "Flat or nested."},
        Field{"events", &NewSpan::events, ""},
    };
};

struct AnnotationResult {
    std::optional<std::string> label;
    std::optional<double> score;
    std::optional<std::string> explanation;
    static constexpr std::tuple fields{
        Field{"label", &AnnotationResult::label, ""},
        Field{"score", &AnnotationResult::score, ""},
        Field{"explanation", &AnnotationResult::explanation, ""},
    };
};

struct NewAnnotation {
    std::string name;
    AnnotatorKind annotator_kind = AnnotatorKind::human;
    std::optional<AnnotationResult> result;
    std::optional<json::Value> metadata;
    json::Defaulted<std::string> identifier;
    static constexpr std::tuple fields{
        Field{"name", &NewAnnotation::name, ""},
        Field{"annotator_kind", &NewAnnotation::annotator_kind, ""},
        Field{"result", &NewAnnotation::result, "A label, a score or an explanation is needed."},
        Field{"metadata", &NewAnnotation::metadata, "Anything."},
        Field{"identifier", &NewAnnotation::identifier, "The same name and identifier on the same target replaces."},
    };
};

struct NewSpanAnnotation : NewAnnotation {
    std::string span_id;
    static constexpr std::tuple fields =
        std::tuple_cat(NewAnnotation::fields, std::tuple{Field{"span_id", &NewSpanAnnotation::span_id, ""}});
};

struct NewTraceAnnotation : NewAnnotation {
    std::string trace_id;
    static constexpr std::tuple fields =
        std::tuple_cat(NewAnnotation::fields, std::tuple{Field{"trace_id", &NewTraceAnnotation::trace_id, ""}});
};

struct NewSessionAnnotation : NewAnnotation {
    std::string session_id;
    static constexpr std::tuple fields =
        std::tuple_cat(NewAnnotation::fields, std::tuple{Field{"session_id", &NewSessionAnnotation::session_id, ""}});
};

struct NewDocumentAnnotation : NewSpanAnnotation {
    int64_t document_position = 0;
    static constexpr std::tuple fields =
        std::tuple_cat(NewSpanAnnotation::fields,
                       std::tuple{Field{"document_position", &NewDocumentAnnotation::document_position, "From 0."}});
};

struct AnnotateSpans {
    std::vector<NewSpanAnnotation> data;
    static constexpr std::tuple fields{Field{"data", &AnnotateSpans::data, "At most 100000."}};
};
struct AnnotateTraces {
    std::vector<NewTraceAnnotation> data;
    static constexpr std::tuple fields{Field{"data", &AnnotateTraces::data, "At most 100000."}};
};
struct AnnotateSessions {
    std::vector<NewSessionAnnotation> data;
    static constexpr std::tuple fields{Field{"data", &AnnotateSessions::data, "At most 100000."}};
};
struct AnnotateDocuments {
    std::vector<NewDocumentAnnotation> data;
    static constexpr std::tuple fields{Field{"data", &AnnotateDocuments::data, "At most 100000."}};
};

struct Annotate {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<bool> sync;
    static constexpr std::tuple fields{
        Field{"space", &Annotate::space, "Id or name of the space; the caller's first one if not given."},
        Field{"sync", &Annotate::sync,
              "Whether to answer with the ids. Annotations are on disk and visible at the answer in any case."},
    };
};

struct NewSpanNote {
    std::string span_id;
    std::string note;
    json::Defaulted<std::string> identifier;
    static constexpr std::tuple fields{
        Field{"span_id", &NewSpanNote::span_id, ""},
        Field{"note", &NewSpanNote::note, ""},
        Field{"identifier", &NewSpanNote::identifier, "The same one replaces; without one each note is a new one."},
    };
};
struct NewTraceNote {
    std::string trace_id;
    std::string note;
    json::Defaulted<std::string> identifier;
    static constexpr std::tuple fields{
        Field{"trace_id", &NewTraceNote::trace_id, ""},
        Field{"note", &NewTraceNote::note, ""},
        Field{"identifier", &NewTraceNote::identifier, "The same one replaces; without one each note is a new one."},
    };
};
struct NewSessionNote {
    std::string session_id;
    std::string note;
    json::Defaulted<std::string> identifier;
    static constexpr std::tuple fields{
        Field{"session_id", &NewSessionNote::session_id, ""},
        Field{"note", &NewSessionNote::note, ""},
        Field{"identifier", &NewSessionNote::identifier, "The same one replaces; without one each note is a new one."},
    };
};
struct CreateSpanNote {
    NewSpanNote data;
    static constexpr std::tuple fields{Field{"data", &CreateSpanNote::data, ""}};
};
struct CreateTraceNote {
    NewTraceNote data;
    static constexpr std::tuple fields{Field{"data", &CreateTraceNote::data, ""}};
};
struct CreateSessionNote {
    NewSessionNote data;
    static constexpr std::tuple fields{Field{"data", &CreateSessionNote::data, ""}};
};

// Ours: delete what a filter finds.
struct DeleteSpans {
    std::optional<std::string> filter;
    std::optional<Time> after;
    std::optional<Time> before;
    json::Defaulted<bool> all = false;
    static constexpr std::tuple fields{
        Field{"filter", &DeleteSpans::filter, "Only spans that match; GET /v1/filter_fields lists fields."},
        Field{"after", &DeleteSpans::after, "Started at or after this time."},
        Field{"before", &DeleteSpans::before, "Started before this time."},
        Field{"all", &DeleteSpans::all, "Needed where neither filter nor time is given."},
    };
};

struct DeletedSpans {
    int64_t spans = 0;
    static constexpr std::tuple fields{Field{"spans", &DeletedSpans::spans, "How many are gone."}};
};

struct DeleteSessions {
    std::vector<std::string> session_identifiers;
    static constexpr std::tuple fields{
        Field{"session_identifiers", &DeleteSessions::session_identifiers, "Ids or names; unknown ones are skipped."}};
};

} // namespace hone::api
