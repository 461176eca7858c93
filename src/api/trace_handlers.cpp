#include "api/span_handlers.h"

namespace hone::api {

namespace {

constexpr size_t most_page_bytes = 16 << 20;

} // namespace

Result<Spans*> spans_of(const Call& call) {
    if (call.services.spans == nullptr) return unavailable("this server keeps no spans");
    return call.services.spans;
}

Result<telemetry::SpanStore*> store_of(const Call& call) {
    return TRY(spans_of(call))->telemetry.store();
}

Result<telemetry::PayloadPage> payload_page(const Call& call, telemetry::ListSpans request) {
    telemetry::SpanStore& store = *TRY(store_of(call));
    for (;;) {
        const bool last_try = request.limit <= 1;
        auto page = store.list_payloads(request, last_try ? 8 * most_page_bytes : most_page_bytes);
        if (page.ok() || page.error().code != Code::too_large || last_try) return page;
        request.limit = std::max<size_t>(1, request.limit / 4);
    }
}

namespace {

template <class View, class Row>
List<View> page_of_views(const std::vector<Row>& rows, const std::string& next_cursor) {
    List<View> list;
    for (const Row& row : rows) list.data.push_back(view_of(row));
    if (!next_cursor.empty()) list.next_cursor = next_cursor;
    return list;
}

} // namespace

Result<net::Response> take_traces(const Call& call, const InSpace& query, const RawBody& body) {
    const auto space = TRY(call.access().spaces.choose(call.caller, query.space));
    TRY(call.caller.require(access::Permission::trace_write, space));
    Spans& spans = *TRY(spans_of(call));
    CallersProjects projects(spans.projects, call.caller, space);
    telemetry::IngestRequest request;
    request.body = body.bytes;
    request.content_type = call.head.header("Content-Type");
    request.content_encoding = call.head.header("Content-Encoding");
    request.project = call.head.header("X-Project-Name");
    request.space = space.text();
    request.projects = &projects;
    telemetry::IngestResponse answer = spans.telemetry.ingest(request);
    net::Response response;
    response.status = answer.status;
    response.content_type = std::move(answer.content_type);
    response.body = std::move(answer.body);
    if (answer.retry_after_seconds > 0) response.set_header("Retry-After", std::to_string(answer.retry_after_seconds));
    return response;
}

Result<List<SpanRow>> list_span_rows(const Call& call, const ListSpanRows& query) {
    telemetry::ListSpans request;
    request.scope = TRY(scope_of(call, query));
    request.trace_id = query.trace_id;
    const auto page = TRY(page_of(query.limit, query.cursor));
    request.limit = static_cast<size_t>(page.limit);
    request.cursor = page.cursor.value_or("");
    const auto rows = TRY(TRY(store_of(call))->list_spans(request));
    return page_of_views<SpanRow>(rows.spans, rows.next_cursor);
}

Result<List<TraceRow>> list_trace_rows(const Call& call, const ListTraceRows& query) {
    telemetry::ListTraces request;
    request.scope = TRY(scope_of(call, query));
    request.chat_session = query.session;
    const auto page = TRY(page_of(query.limit, query.cursor));
    request.limit = static_cast<size_t>(page.limit);
    request.cursor = page.cursor.value_or("");
    const auto rows = TRY(TRY(store_of(call))->list_traces(request));
    return page_of_views<TraceRow>(rows.traces, rows.next_cursor);
}

Result<List<SessionRow>> list_session_rows(const Call& call, const ListSessionRows& query) {
    const auto scope = TRY(scope_of(call, query));
    const auto page = TRY(page_of(query.limit, query.cursor));
    const auto rows =
        TRY(TRY(store_of(call))->list_sessions(scope, static_cast<size_t>(page.limit), page.cursor.value_or("")));
    return page_of_views<SessionRow>(rows.sessions, rows.next_cursor);
}

Result<One<TraceSkeleton>> get_trace_skeleton(const Call& call, const InSpace& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    const auto found = TRY(TRY(store_of(call))->trace_skeleton(project.id.text(), call.at("trace")));
    TraceSkeleton skeleton;
    skeleton.is_cut = found.is_cut;
    skeleton.spans.reserve(found.spans.size());
    for (const auto& row : found.spans) skeleton.spans.push_back(view_of(row));
    return One<TraceSkeleton>{std::move(skeleton)};
}

Result<One<SpanPayload>> get_span_payload(const Call& call, const InSpace& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    auto found = TRY(TRY(store_of(call))->span_payload(project.id.text(), call.at("trace"), call.at("span")));
    return One<SpanPayload>{view_of(std::move(found))};
}

} // namespace hone::api
