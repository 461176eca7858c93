#include "api/phoenix_handlers.h"
#include "api/places.h"

#include <set>

namespace hone::api {

namespace {

using telemetry::Eval;
using telemetry::EvalKind;
using telemetry::EvalTarget;

constexpr size_t most_at_once = 100'000;
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
// A document is a part of its span: its annotation is one of the span, told apart by the position.
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
    if (missing.empty()) return TRY(spans_of(call))->evals.upsert(std::move(wanted.evals));
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
    if (data.size() > most_at_once) return too_large("at most " + std::to_string(most_at_once) + " at once");
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
    request.target_ids = targets;
    request.names = query.include_annotation_names;
    request.excluded_names = query.exclude_annotation_names;
    request.identifiers = query.identifier;
    request.limit = static_cast<size_t>(query.limit.value_or(usual_page));
    request.cursor = query.cursor.value_or("");
    TRY(store_of(call));
    const auto found = TRY(TRY(spans_of(call))->evals.list(request));
    List<View> list;
    for (const Eval& eval : found.evals) {
        View view;
        static_cast<Annotation&>(view) = annotation_of(eval);
        view.*target_id = eval.target_id;
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
    request.project = project.id.text();
    request.target = target;
    request.name = query.name;
    request.identifier = query.identifier;
    if (query.annotator_kind) request.kind = kind_of(*query.annotator_kind);
    if (query.start_time) request.from_ns = to_ns(*query.start_time);
    if (query.end_time) request.to_ns = to_ns(*query.end_time);
    request.all = true;
    // Who may not delete traces deletes what is his own.
    const auto allowed = TRY(call.access().projects.permissions_in(call.caller, project));
    if (!allowed.has(access::Permission::trace_delete)) request.annotator = call.caller.principal();
    TRY(store_of(call));
    const int64_t removed = TRY(TRY(spans_of(call))->evals.remove(request));
    if (removed > 0)
        TRY(call.access().audit.record(
            call.caller,
            {"eval_delete", project.space_id, project.id.text(), {{"target", name_of(target)}, {"evals", removed}}}));
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

} // namespace hone::api
