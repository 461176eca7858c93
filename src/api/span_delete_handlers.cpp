#include "api/phoenix_handlers.h"
#include "api/places.h"

namespace hone::api {

namespace {

using access::Permission;
using telemetry::EvalTarget;

Result<> note(const Call& call, const std::string& action, const access::Project& project, json::Object facts) {
    return call.access().audit.record(call.caller, {action, project.space_id, project.id.text(), std::move(facts)});
}

Result<int64_t> delete_whole_trace(const Call& call, const access::Project& project, const std::string& trace) {
    const int64_t spans = TRY(TRY(spans_of(call))->retention.delete_traces(project.id.text(), {trace}));
    if (spans > 0) TRY(note(call, "trace_delete", project, {{"trace", trace}, {"spans", spans}}));
    return spans;
}

Result<> delete_whole_session(const Call& call, const access::Project& project, const std::string& name) {
    Spans& spans = *TRY(spans_of(call));
    const auto traces = TRY(spans.lookup.traces_of_sessions(project.id.text(), {name}));
    const int64_t deleted = TRY(spans.retention.delete_session(project.id.text(), name, traces));
    return note(
        call, "session_delete", project,
        {{"session", truncate_utf8(name, 200)}, {"traces", static_cast<int64_t>(traces.size())}, {"spans", deleted}});
}

} // namespace

Result<NoContent> delete_trace(const Call& call, const InSpace& query) {
    const auto project = TRY(project_in_path(call, query.space, Permission::trace_delete));
    TRY(wait_until_loaded(call));
    if (TRY(delete_whole_trace(call, project, call.at("trace"))) == 0)
        return not_found("trace " + std::string(truncate_utf8(call.at("trace"), 100)));
    return NoContent{};
}

Result<NoContent> delete_trace_anywhere(const Call& call, const InSpace& query) {
    const auto place =
        TRY(find_place(call, query.space, EvalTarget::trace, call.at("trace"), Permission::trace_delete));
    TRY(delete_whole_trace(call, place.project, place.id));
    return NoContent{};
}

Result<NoContent> delete_span_anywhere(const Call& call, const InSpace& query) {
    const auto place = TRY(find_place(call, query.space, EvalTarget::span, call.at("span"), Permission::trace_delete));
    TRY(TRY(spans_of(call))->retention.delete_spans(place.project.id.text(), {place.id}));
    TRY(note(call, "span_delete", place.project, {{"span", place.id}, {"trace", place.trace_id}}));
    return NoContent{};
}

Result<NoContent> delete_session(const Call& call, const InSpace& query) {
    const auto place =
        TRY(find_place(call, query.space, EvalTarget::chat_session, call.at("session"), Permission::trace_delete));
    TRY(delete_whole_session(call, place.project, place.id));
    return NoContent{};
}

Result<NoContent> delete_sessions(const Call& call, const InSpace& query, const DeleteSessions& body) {
    const auto places = TRY(
        find_places(call, query.space, EvalTarget::chat_session, body.session_identifiers, Permission::trace_delete));
    for (const auto& [text, place] : places) TRY(delete_whole_session(call, place.project, place.id));
    return NoContent{};
}

Result<One<DeletedSpans>> delete_spans(const Call& call, const InSpace& query, const DeleteSpans& body) {
    const auto project = TRY(project_in_path(call, query.space, Permission::trace_delete));
    const bool is_narrow = (body.filter && !trim(*body.filter).empty()) || body.after || body.before;
    if (!is_narrow && !*body.all) return invalid("say what to delete by filter, after or before, or say all");
    TRY(wait_until_loaded(call));
    const std::string filter = body.filter.value_or("");
    const int64_t deleted =
        TRY(TRY(spans_of(call))
                ->retention.delete_matching(project.id.text(), filter, body.after ? to_ns(*body.after) : 0,
                                            body.before ? to_ns(*body.before) : INT64_MAX));
    TRY(note(call, "span_delete", project, {{"filter", truncate_utf8(filter, 500)}, {"spans", deleted}}));
    return One<DeletedSpans>{{deleted}};
}

} // namespace hone::api
