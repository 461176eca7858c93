// What requests and responses about annotations and notes look like: the shapes of Arize Phoenix (ADR 0010). Values
// only; any thread.
#pragma once

#include "json/json.h"

#include <optional>
#include <string>
#include <vector>

namespace hone::api {

enum class AnnotatorKind { human, llm, code };
constexpr auto enum_names(AnnotatorKind) {
    return std::array{EnumName{AnnotatorKind::human, "HUMAN"}, EnumName{AnnotatorKind::llm, "LLM"},
                      EnumName{AnnotatorKind::code, "CODE"}};
}

struct ListAnnotations {
    std::optional<std::string> space;
    std::vector<std::string> identifier;
    std::vector<std::string> include_annotation_names;
    std::vector<std::string> exclude_annotation_names;
    std::optional<std::string> cursor;
    std::optional<int64_t> limit;
    static constexpr Pack fields{
        Field{"space", &ListAnnotations::space, "Id or name of the space; the caller's first one if not given."},
        Field{"identifier", &ListAnnotations::identifier, "Only annotations with this identifier; may be repeated."},
        Field{"include_annotation_names", &ListAnnotations::include_annotation_names,
              "Only annotations with this name; may be repeated."},
        Field{"exclude_annotation_names", &ListAnnotations::exclude_annotation_names,
              "No annotations with this name; may be repeated."},
        Field{"cursor", &ListAnnotations::cursor, "next_cursor of the previous response."},
        Field{"limit", &ListAnnotations::limit, "Rows in one response, 1 to 10000; 10 if not given."},
    };
};

struct ListSpanAnnotations : ListAnnotations {
    static constexpr bool is_query = true;
    std::vector<std::string> span_ids;
    static constexpr auto fields =
        joined(ListAnnotations::fields,
               Pack{Field{"span_ids", &ListSpanAnnotations::span_ids, "Of these; or give an identifier."}});
};

struct ListTraceAnnotations : ListAnnotations {
    static constexpr bool is_query = true;
    std::vector<std::string> trace_ids;
    static constexpr auto fields =
        joined(ListAnnotations::fields,
               Pack{Field{"trace_ids", &ListTraceAnnotations::trace_ids, "Of these; or give an identifier."}});
};

struct ListSessionAnnotations : ListAnnotations {
    static constexpr bool is_query = true;
    std::vector<std::string> session_ids;
    static constexpr auto fields =
        joined(ListAnnotations::fields,
               Pack{Field{"session_ids", &ListSessionAnnotations::session_ids, "Of these; or give an identifier."}});
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
    static constexpr Pack fields{
        Field{"space", &DeleteAnnotations::space, "Id or name of the space; the caller's first one if not given."},
        Field{"name", &DeleteAnnotations::name, "Only annotations with this name."},
        Field{"identifier", &DeleteAnnotations::identifier, "Only annotations with this identifier."},
        Field{"annotator_kind", &DeleteAnnotations::annotator_kind, "Only annotations of this kind."},
        Field{"start_time", &DeleteAnnotations::start_time, "Created at or after this time."},
        Field{"end_time", &DeleteAnnotations::end_time, "Created before this time."},
        Field{"delete_all", &DeleteAnnotations::delete_all, "Needed unless both times are given."},
    };
};

struct AnnotationResult {
    static constexpr bool ignores_unknown = true;
    std::optional<std::string> label;
    std::optional<double> score;
    std::optional<std::string> explanation;
    static constexpr Pack fields{
        Field{"label", &AnnotationResult::label, ""},
        Field{"score", &AnnotationResult::score, ""},
        Field{"explanation", &AnnotationResult::explanation, ""},
    };
};

struct NewAnnotation {
    static constexpr bool ignores_unknown = true;
    std::string name;
    AnnotatorKind annotator_kind = AnnotatorKind::human;
    std::optional<AnnotationResult> result;
    std::optional<json::Value> metadata;
    json::Defaulted<std::string> identifier;
    static constexpr Pack fields{
        Field{"name", &NewAnnotation::name, ""},
        Field{"annotator_kind", &NewAnnotation::annotator_kind, ""},
        Field{"result", &NewAnnotation::result, "A label, a score or an explanation is needed."},
        Field{"metadata", &NewAnnotation::metadata, "Any JSON object."},
        Field{"identifier", &NewAnnotation::identifier,
              "An annotation with the same name and identifier on the same target is replaced."},
    };
};

struct NewSpanAnnotation : NewAnnotation {
    std::string span_id;
    static constexpr Pack fields =
        joined(NewAnnotation::fields, Pack{Field{"span_id", &NewSpanAnnotation::span_id, ""}});
};

struct NewTraceAnnotation : NewAnnotation {
    std::string trace_id;
    static constexpr Pack fields =
        joined(NewAnnotation::fields, Pack{Field{"trace_id", &NewTraceAnnotation::trace_id, ""}});
};

struct NewSessionAnnotation : NewAnnotation {
    std::string session_id;
    static constexpr Pack fields =
        joined(NewAnnotation::fields, Pack{Field{"session_id", &NewSessionAnnotation::session_id, ""}});
};

struct NewDocumentAnnotation : NewSpanAnnotation {
    int64_t document_position = 0;
    static constexpr auto fields =
        joined(NewSpanAnnotation::fields, Pack{Field{"document_position", &NewDocumentAnnotation::document_position,
                                                     "Position in the list of documents, from 0."}});
};

struct AnnotateSpans {
    static constexpr bool ignores_unknown = true;
    std::vector<NewSpanAnnotation> data;
    static constexpr Pack fields{Field{"data", &AnnotateSpans::data, "The annotations, at most 100000."}};
};

struct AnnotateTraces {
    static constexpr bool ignores_unknown = true;
    std::vector<NewTraceAnnotation> data;
    static constexpr Pack fields{Field{"data", &AnnotateTraces::data, "The annotations, at most 100000."}};
};

struct AnnotateSessions {
    static constexpr bool ignores_unknown = true;
    std::vector<NewSessionAnnotation> data;
    static constexpr Pack fields{Field{"data", &AnnotateSessions::data, "The annotations, at most 100000."}};
};

struct AnnotateDocuments {
    static constexpr bool ignores_unknown = true;
    std::vector<NewDocumentAnnotation> data;
    static constexpr Pack fields{Field{"data", &AnnotateDocuments::data, "The annotations, at most 100000."}};
};

struct Annotate {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<bool> sync;
    static constexpr Pack fields{
        Field{"space", &Annotate::space, "Id or name of the space; the caller's first one if not given."},
        Field{"sync", &Annotate::sync,
              "Whether to return the ids. Annotations are stored and visible when the response arrives in any case."},
    };
};

struct NewSpanNote {
    static constexpr bool ignores_unknown = true;
    std::string span_id;
    std::string note;
    json::Defaulted<std::string> identifier;
    static constexpr Pack fields{
        Field{"span_id", &NewSpanNote::span_id, ""},
        Field{"note", &NewSpanNote::note, ""},
        Field{"identifier", &NewSpanNote::identifier,
              "A note with the same identifier is replaced; without an identifier each note is new."},
    };
};

struct NewTraceNote {
    static constexpr bool ignores_unknown = true;
    std::string trace_id;
    std::string note;
    json::Defaulted<std::string> identifier;
    static constexpr Pack fields{
        Field{"trace_id", &NewTraceNote::trace_id, ""},
        Field{"note", &NewTraceNote::note, ""},
        Field{"identifier", &NewTraceNote::identifier,
              "A note with the same identifier is replaced; without an identifier each note is new."},
    };
};

struct NewSessionNote {
    static constexpr bool ignores_unknown = true;
    std::string session_id;
    std::string note;
    json::Defaulted<std::string> identifier;
    static constexpr Pack fields{
        Field{"session_id", &NewSessionNote::session_id, ""},
        Field{"note", &NewSessionNote::note, ""},
        Field{"identifier", &NewSessionNote::identifier,
              "A note with the same identifier is replaced; without an identifier each note is new."},
    };
};

struct CreateSpanNote {
    static constexpr bool ignores_unknown = true;
    NewSpanNote data;
    static constexpr Pack fields{Field{"data", &CreateSpanNote::data, ""}};
};

struct CreateTraceNote {
    static constexpr bool ignores_unknown = true;
    NewTraceNote data;
    static constexpr Pack fields{Field{"data", &CreateTraceNote::data, ""}};
};

struct CreateSessionNote {
    static constexpr bool ignores_unknown = true;
    NewSessionNote data;
    static constexpr Pack fields{Field{"data", &CreateSessionNote::data, ""}};
};

struct Annotation {
    std::string id;
    std::string created_at;
    std::string updated_at;
    std::string source;
    std::optional<std::string> user_id;
    std::string name;
    AnnotatorKind annotator_kind = AnnotatorKind::human;
    AnnotationResult result;
    json::Value metadata;
    std::string identifier;
    static constexpr Pack fields{
        Field{"id", &Annotation::id, ""},
        Field{"created_at", &Annotation::created_at, ""},
        Field{"updated_at", &Annotation::updated_at, ""},
        Field{"source", &Annotation::source, "APP: written by a person; API: written by a key."},
        Field{"user_id", &Annotation::user_id, "Id of the user; null for a key."},
        Field{"name", &Annotation::name, ""},
        Field{"annotator_kind", &Annotation::annotator_kind, "HUMAN, LLM or CODE; an agent is LLM."},
        Field{"result", &Annotation::result, ""},
        Field{"metadata", &Annotation::metadata, ""},
        Field{"identifier", &Annotation::identifier, ""},
    };
};

struct SpanAnnotation : Annotation {
    std::string span_id;
    static constexpr Pack fields = joined(Annotation::fields, Pack{Field{"span_id", &SpanAnnotation::span_id, ""}});
};

struct TraceAnnotation : Annotation {
    std::string trace_id;
    static constexpr Pack fields = joined(Annotation::fields, Pack{Field{"trace_id", &TraceAnnotation::trace_id, ""}});
};

struct SessionAnnotation : Annotation {
    std::string session_id;
    static constexpr Pack fields =
        joined(Annotation::fields, Pack{Field{"session_id", &SessionAnnotation::session_id, ""}});
};

struct WrittenAnnotation {
    std::string id;
    static constexpr Pack fields{Field{"id", &WrittenAnnotation::id, ""}};
};

} // namespace hone::api
