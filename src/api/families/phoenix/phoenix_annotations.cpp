// Annotations and notes in the shapes of Arize Phoenix (ADR 0010), which are evals here.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/phoenix/annotation_shapes.h"
#include "api/families/phoenix/phoenix.h"

#include <set>

namespace hone::api {

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

using telemetry::Eval;
using telemetry::EvalKind;

} // namespace

Annotation annotation_of(const telemetry::Eval& eval) {
    const bool by_person = eval.annotator.starts_with("user_");
    Annotation annotation;
    annotation.id = eval.id;
    annotation.created_at = phoenix_time(from_ns(eval.created_ns));
    annotation.updated_at = phoenix_time(from_ns(eval.updated_ns));
    annotation.source = by_person ? "APP" : "API";
    if (by_person) annotation.user_id = eval.annotator;
    annotation.name = eval.name;
    annotation.annotator_kind = eval.kind == telemetry::EvalKind::human  ? AnnotatorKind::human
                                : eval.kind == telemetry::EvalKind::code ? AnnotatorKind::code
                                                                         : AnnotatorKind::llm;
    annotation.result = {or_null(eval.label), eval.score, or_null(eval.explanation)};
    auto metadata = eval.metadata.empty() ? Result<json::Value>(json::Value(nullptr)) : json::parse(eval.metadata);
    if (metadata.ok()) annotation.metadata = std::move(metadata).value();
    annotation.identifier = eval.identifier;
    return annotation;
}

namespace {

// The version of Phoenix whose REST API this one follows; its clients read it before they use newer parts.
constexpr std::string_view phoenix_version = "20.8.0";

} // namespace

Result<net::Response> get_phoenix_version(const Call&) {
    return net::text_response(200, std::string(phoenix_version));
}

namespace {

constexpr size_t most_annotations = 100'000;
constexpr int64_t largest_page = 10'000;
constexpr int64_t usual_page = 10;
constexpr std::string_view note_name = "note";

EvalKind kind_of(AnnotatorKind kind) {
    switch (kind) {
    case AnnotatorKind::llm:
        return EvalKind::llm;
    case AnnotatorKind::code:
        return EvalKind::code;
    case AnnotatorKind::human:
        break;
    }
    return EvalKind::human;
}

const std::string& target_of(const NewSpanAnnotation& wanted) {
    return wanted.span_id;
}

const std::string& target_of(const NewTraceAnnotation& wanted) {
    return wanted.trace_id;
}

const std::string& target_of(const NewSessionAnnotation& wanted) {
    return wanted.session_id;
}

std::string identifier_of(const NewAnnotation& wanted) {
    return *wanted.identifier;
}

// A document is a part of its span: its annotation is one of the span, distinguished by its position.
std::string identifier_of(const NewDocumentAnnotation& wanted) {
    const std::string place = "document[" + std::to_string(wanted.document_position) + "]";
    return (*wanted.identifier).empty() ? place : place + ":" + *wanted.identifier;
}

Eval annotation_eval_of(const NewAnnotation& wanted, const access::Caller& caller) {
    Eval eval;
    eval.name = wanted.name;
    eval.annotator = caller.principal();
    eval.kind = kind_of(wanted.annotator_kind);
    if (wanted.result) {
        eval.label = wanted.result->label.value_or("");
        eval.score = wanted.result->score;
        eval.explanation = wanted.result->explanation.value_or("");
    }
    if (wanted.metadata) eval.metadata = json::print(*wanted.metadata);
    return eval;
}

// Annotations that know what they are about, but not yet where it lies.
struct Unplaced {
    EvalTarget target;
    std::vector<std::string> texts; // of the targets, as sent
    std::vector<Eval> evals;
};

// All of them are written, or none.
Result<std::vector<Eval>> write(const Call& call, const std::optional<std::string>& space, Unplaced wanted) {
    const auto places = TRY(find_places(call, space, wanted.target, wanted.texts, access::Permission::eval_write));
    std::set<std::string_view> missing;
    for (size_t i = 0; i < wanted.evals.size(); ++i) {
        const auto place = places.find(wanted.texts[i]);
        if (place == places.end()) {
            missing.insert(wanted.texts[i]);
            continue;
        }
        Eval& eval = wanted.evals[i];
        eval.project = place->second.project.id.text();
        eval.target = wanted.target;
        eval.target_id = place->second.id;
    }
    if (missing.empty()) return call.services.spans.evals.upsert(std::move(wanted.evals));
    std::string names;
    for (const std::string_view each : missing) {
        if (names.size() > 300) {
            names += ", …";
            break;
        }
        names += (names.empty() ? "" : ", ") + std::string(truncate_utf8(each, 64));
    }
    return not_found(std::string(plain_name(wanted.target)) + " " + names);
}

template <class Wanted>
Result<List<WrittenAnnotation>> annotate(const Call& call, const Annotate& query, EvalTarget target,
                                         const std::vector<Wanted>& data) {
    if (data.size() > most_annotations)
        return too_large("at most " + std::to_string(most_annotations) + " in one request");
    Unplaced wanted{target, {}, {}};
    for (const Wanted& each : data) {
        if (each.name == note_name) return invalid("annotations named \"note\" are notes, which have their own route");
        wanted.texts.push_back(target_of(each));
        wanted.evals.push_back(annotation_eval_of(each, call.caller));
        wanted.evals.back().identifier = identifier_of(each);
    }
    List<WrittenAnnotation> list;
    for (Eval& eval : TRY(write(call, query.space, std::move(wanted))))
        if (query.sync.value_or(false)) list.data.push_back({std::move(eval.id)});
    return list;
}

Result<One<WrittenAnnotation>> add_note(const Call& call, const InSpace& query, EvalTarget target,
                                        const std::string& text, const std::string& note,
                                        const std::string& identifier) {
    if (note.empty()) return invalid("data.note must not be empty");
    NewAnnotation wanted;
    wanted.name = note_name;
    wanted.result = AnnotationResult{{}, {}, note};
    Eval eval = annotation_eval_of(wanted, call.caller);
    eval.identifier = identifier.empty() ? "note:" + make_ulid(call.services.clock.now()) : identifier;
    auto written = TRY(write(call, query.space, Unplaced{target, {text}, {std::move(eval)}}));
    return One<WrittenAnnotation>{{std::move(written.front().id)}};
}

template <class View>
Result<List<View>> list(const Call& call, const ListAnnotations& query, EvalTarget target,
                        const std::vector<std::string>& targets, std::string_view parameter,
                        std::string View::*target_id) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    if (query.limit && (*query.limit < 1 || *query.limit > largest_page))
        return invalid("query parameter limit must be between 1 and " + std::to_string(largest_page));
    if (query.cursor && query.cursor->empty()) return invalid("query parameter cursor must not be empty");
    if (targets.empty() && query.identifier.empty())
        return invalid("give query parameter " + std::string(parameter) + " or identifier");
    for (const std::string& identifier : query.identifier)
        if (identifier.empty()) return invalid("query parameter identifier must not be empty");
    telemetry::ListEvals request;
    request.project = project.id.text();
    request.target = target;
    std::map<std::string, std::string> sent; // by the stored id
    for (const std::string& text : targets) {
        request.target_ids.push_back(
            target == EvalTarget::chat_session ? text : stored_id(text, target == EvalTarget::span ? 16 : 32));
        sent.emplace(request.target_ids.back(), text);
    }
    request.names = query.include_annotation_names;
    request.excluded_names = query.exclude_annotation_names;
    request.identifiers = query.identifier;
    request.limit = static_cast<size_t>(query.limit.value_or(usual_page));
    request.cursor = query.cursor.value_or("");
    TRY(call.services.spans.store());
    const auto found = TRY(call.services.spans.evals.list(request));
    // Found by their identifier alone, the text that was sent as their target's id is not known from the request.
    if (target != EvalTarget::chat_session) {
        std::vector<std::string> unknown;
        for (const Eval& eval : found.evals)
            if (!sent.contains(eval.target_id)) unknown.push_back(eval.target_id);
        const SentIds looked_up = TRY(sent_ids(call, request.project, target, unknown));
        const auto& texts = target == EvalTarget::span ? looked_up.spans : looked_up.traces;
        sent.insert(texts.begin(), texts.end());
    }
    List<View> list;
    for (const Eval& eval : found.evals) {
        View view;
        static_cast<Annotation&>(view) = annotation_of(eval);
        const auto known = sent.find(eval.target_id);
        view.*target_id = known == sent.end() ? eval.target_id : known->second;
        list.data.push_back(std::move(view));
    }
    if (!found.next_cursor.empty()) list.next_cursor = found.next_cursor;
    return list;
}

Result<NoContent> remove(const Call& call, const DeleteAnnotations& query, EvalTarget target) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::eval_write));
    if (!query.delete_all.value_or(false) && !(query.start_time && query.end_time))
        return invalid("give query parameters start_time and end_time, or delete_all=true");
    if (query.start_time && query.end_time && *query.start_time >= *query.end_time)
        return invalid("query parameter start_time must be before end_time");
    for (const auto* text : {&query.name, &query.identifier})
        if (*text && (*text)->empty()) return invalid("query parameters name and identifier must not be empty");
    telemetry::DeleteEvals request;
    request.target = target;
    request.name = query.name;
    request.identifier = query.identifier;
    if (query.annotator_kind) request.kind = kind_of(*query.annotator_kind);
    if (query.start_time) request.from_ns = to_ns(*query.start_time);
    if (query.end_time) request.to_ns = to_ns(*query.end_time);
    request.all = true;
    TRY(call.services.spans.delete_evals(call.caller, project, request));
    return NoContent{};
}

} // namespace

Result<List<WrittenAnnotation>> annotate_spans(const Call& call, const Annotate& query, const AnnotateSpans& body) {
    return annotate(call, query, EvalTarget::span, body.data);
}

Result<List<WrittenAnnotation>> annotate_traces(const Call& call, const Annotate& query, const AnnotateTraces& body) {
    return annotate(call, query, EvalTarget::trace, body.data);
}

Result<List<WrittenAnnotation>> annotate_sessions(const Call& call, const Annotate& query,
                                                  const AnnotateSessions& body) {
    return annotate(call, query, EvalTarget::chat_session, body.data);
}

Result<List<WrittenAnnotation>> annotate_documents(const Call& call, const Annotate& query,
                                                   const AnnotateDocuments& body) {
    return annotate(call, query, EvalTarget::span, body.data);
}

Result<One<WrittenAnnotation>> create_span_note(const Call& call, const InSpace& query, const CreateSpanNote& body) {
    return add_note(call, query, EvalTarget::span, body.data.span_id, body.data.note, body.data.identifier);
}

Result<One<WrittenAnnotation>> create_trace_note(const Call& call, const InSpace& query, const CreateTraceNote& body) {
    return add_note(call, query, EvalTarget::trace, body.data.trace_id, body.data.note, body.data.identifier);
}

Result<One<WrittenAnnotation>> create_session_note(const Call& call, const InSpace& query,
                                                   const CreateSessionNote& body) {
    return add_note(call, query, EvalTarget::chat_session, body.data.session_id, body.data.note, body.data.identifier);
}

Result<List<SpanAnnotation>> list_span_annotations(const Call& call, const ListSpanAnnotations& query) {
    return list<SpanAnnotation>(call, query, EvalTarget::span, query.span_ids, "span_ids", &SpanAnnotation::span_id);
}

Result<List<TraceAnnotation>> list_trace_annotations(const Call& call, const ListTraceAnnotations& query) {
    return list<TraceAnnotation>(call, query, EvalTarget::trace, query.trace_ids, "trace_ids",
                                 &TraceAnnotation::trace_id);
}

Result<List<SessionAnnotation>> list_session_annotations(const Call& call, const ListSessionAnnotations& query) {
    return list<SessionAnnotation>(call, query, EvalTarget::chat_session, query.session_ids, "session_ids",
                                   &SessionAnnotation::session_id);
}

Result<NoContent> delete_span_annotations(const Call& call, const DeleteAnnotations& query) {
    return remove(call, query, EvalTarget::span);
}

Result<NoContent> delete_trace_annotations(const Call& call, const DeleteAnnotations& query) {
    return remove(call, query, EvalTarget::trace);
}

Result<NoContent> delete_session_annotations(const Call& call, const DeleteAnnotations& query) {
    return remove(call, query, EvalTarget::chat_session);
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route phoenix_annotations_table[] = {
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
                                   "Delete annotations of spans; trace_delete is needed for annotations of others.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<delete_trace_annotations>("DELETE", "/v1/projects/{project}/trace_annotations", need(eval_write),
                                    "Delete annotations of traces; trace_delete is needed for annotations of others.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<delete_session_annotations>(
        "DELETE", "/v1/projects/{project}/session_annotations", need(eval_write),
        "Delete annotations of chat sessions; trace_delete is needed for annotations of others.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<get_phoenix_version>("GET", "/arize_phoenix_version", guest,
                               "Version of the Phoenix API that this one is compatible with.")
        .raw("text/plain"),
};

} // namespace

std::span<const Route> phoenix_annotations_routes() {
    return phoenix_annotations_table;
}

} // namespace hone::api
