// Traces: sending, listing, reading, deleting.
#include "api/core/drop_in.h"
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/traces/outline.h"
#include "telemetry/query/sorted_rows.h"
#include "telemetry/targets/payload_conversation.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

// A page of them.
struct SpanRangePage : SpanRange {
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
};

constexpr auto span_range_page_fields(std::string_view filter) {
    return joined(span_range_fields(filter),
                  Pack{
                      Field{"limit", &SpanRangePage::limit, "Rows in one response, 1 to 1000; 100 if not given."},
                      Field{"cursor", &SpanRangePage::cursor, "next_cursor of the previous response."},
                  });
}

// In another order than newest first.
struct SortedRangePage : SpanRangePage {
    std::optional<telemetry::RowOrder> order;
    std::optional<bool> ascending;
};

constexpr auto sorted_range_page_fields(std::string_view filter) {
    return joined(
        span_range_page_fields(filter),
        Pack{
            Field{"order", &SortedRangePage::order, "What rows are sorted by; the start if not given."},
            Field{"ascending", &SortedRangePage::ascending, "The smallest first; else the newest, slowest, most."},
        });
}

struct ListSpanRows : SortedRangePage {
    std::optional<std::string> trace_id;
    static constexpr auto fields =
        joined(sorted_range_page_fields("status = error and latency > 2s; GET /v1/filter_fields lists fields."),
               Pack{
                   Field{"trace_id", &ListSpanRows::trace_id, "Only spans of this trace."},
               });
};

struct ListTraceRows : SortedRangePage {
    std::optional<std::string> session;
    static constexpr auto fields =
        joined(sorted_range_page_fields("A span of the trace must match; GET /v1/filter_fields lists fields."),
               Pack{
                   Field{"session", &ListTraceRows::session, "Only traces of this chat session."},
               });
};

struct ListSessionRows : SpanRangePage {
    static constexpr auto fields =
        span_range_page_fields("A span of the chat session must match; GET /v1/filter_fields lists fields.");
};

struct TraceRow {
    std::string trace_id;
    std::string root_name;
    std::string session_id;
    std::string user_id;
    Time start_time{};
    Time end_time{};
    int64_t duration_ns = 0;
    int64_t spans = 0;
    int64_t errors = 0;
    int64_t tokens = 0;
    int64_t cost_micro_usd = 0;
    int64_t cost_nano_usd = 0;
    static constexpr Pack fields{
        Field{"trace_id", &TraceRow::trace_id, "32 hexadecimal digits."},
        Field{"root_name", &TraceRow::root_name, "Name of the root, or of the earliest span."},
        Field{"session_id", &TraceRow::session_id, "The chat session."},
        Field{"user_id", &TraceRow::user_id, ""},
        Field{"start_time", &TraceRow::start_time, ""},
        Field{"end_time", &TraceRow::end_time, ""},
        Field{"duration_ns", &TraceRow::duration_ns, ""},
        Field{"spans", &TraceRow::spans, ""},
        Field{"errors", &TraceRow::errors, "Spans that failed."},
        Field{"tokens", &TraceRow::tokens, ""},
        Field{"cost_micro_usd", &TraceRow::cost_micro_usd, ""},
        Field{"cost_nano_usd", &TraceRow::cost_nano_usd, "The same, exactly."},
    };
};

struct SessionRow {
    std::string session_id;
    std::string user_id;
    Time start_time{};
    Time end_time{};
    int64_t duration_ns = 0;
    int64_t traces = 0;
    int64_t spans = 0;
    int64_t errors = 0;
    int64_t tokens = 0;
    int64_t cost_micro_usd = 0;
    static constexpr Pack fields{
        Field{"session_id", &SessionRow::session_id, ""},
        Field{"user_id", &SessionRow::user_id, ""},
        Field{"start_time", &SessionRow::start_time, ""},
        Field{"end_time", &SessionRow::end_time, ""},
        Field{"duration_ns", &SessionRow::duration_ns, ""},
        Field{"traces", &SessionRow::traces, ""},
        Field{"spans", &SessionRow::spans, ""},
        Field{"errors", &SessionRow::errors, "Spans that failed."},
        Field{"tokens", &SessionRow::tokens, ""},
        Field{"cost_micro_usd", &SessionRow::cost_micro_usd, ""},
    };
};

struct TraceSkeleton {
    std::vector<SpanRow> spans;
    bool is_cut = false;
    static constexpr Pack fields{
        Field{"spans", &TraceSkeleton::spans, "Sorted by start; parents may be missing."},
        Field{"is_cut", &TraceSkeleton::is_cut, "The trace has more spans than are shown."},
    };
};

struct SpanPayload {
    SpanRow span;
    std::string version;
    std::string finish_reason;
    std::string exception_message;
    int64_t first_token_ns = 0;
    std::string input;
    std::string input_mime;
    std::string output;
    std::string output_mime;
    json::Value attributes;
    json::Value resource;
    json::Value scope;
    json::Value events;
    json::Value links;
    telemetry::Conversation conversation;
    std::vector<std::string> truncated;
    static constexpr Pack fields{
        Field{"span", &SpanPayload::span, ""},
        Field{"version", &SpanPayload::version, "Version of the service."},
        Field{"finish_reason", &SpanPayload::finish_reason, ""},
        Field{"exception_message", &SpanPayload::exception_message, ""},
        Field{"first_token_ns", &SpanPayload::first_token_ns, "From the start to the first token; 0: not known."},
        Field{"input", &SpanPayload::input, ""},
        Field{"input_mime", &SpanPayload::input_mime, ""},
        Field{"output", &SpanPayload::output, ""},
        Field{"output_mime", &SpanPayload::output_mime, ""},
        Field{"attributes", &SpanPayload::attributes, "Attributes as sent; JSON text where a key is repeated."},
        Field{"resource", &SpanPayload::resource, "Attributes of the resource."},
        Field{"scope", &SpanPayload::scope, "Name, version and attributes of the instrumentation."},
        Field{"events", &SpanPayload::events, ""},
        Field{"links", &SpanPayload::links, ""},
        Field{"conversation", &SpanPayload::conversation, "Messages, tools and documents found in the attributes."},
        Field{"truncated", &SpanPayload::truncated, "Attributes that were cut to the limit."},
    };
};

// Ours: delete what a filter finds.
struct DeleteSpans {
    std::optional<std::string> filter;
    std::optional<Time> after;
    std::optional<Time> before;
    json::Defaulted<bool> all = false;
    static constexpr Pack fields{
        Field{"filter", &DeleteSpans::filter, "Only spans that match; GET /v1/filter_fields lists fields."},
        Field{"after", &DeleteSpans::after, "Started at or after this time."},
        Field{"before", &DeleteSpans::before, "Started before this time."},
        Field{"all", &DeleteSpans::all, "Needed when neither filter nor time is given."},
    };
};

struct DeletedSpans {
    int64_t spans = 0;
    static constexpr Pack fields{Field{"spans", &DeletedSpans::spans, "Number of deleted spans."}};
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

// The store keeps an attribute that `input` or `output` repeats only once.
const std::string* column_of(std::string_view key, const telemetry::SpanPayload& payload) {
    return key == "input" ? &payload.input : key == "output" ? &payload.output : nullptr;
}

json::Value attributes_of(const telemetry::SpanPayload& payload) {
    json::Value tree = tree_of(payload.attributes);
    if (!tree.is_object()) return tree;
    for (auto& attribute : tree.get_object()) {
        const json::Object* marked = attribute.value().if_object();
        const json::Value* column = marked && marked->size() == 1 ? marked->if_contains("$column") : nullptr;
        if (column && column->is_string())
            if (const std::string* text = column_of(column->get_string(), payload)) attribute.value() = *text;
    }
    return tree;
}

} // namespace

TraceRow view_of(const telemetry::TraceRow& row) {
    return {row.trace_id,
            row.root_name,
            row.chat_session,
            row.user_id,
            from_ns(row.start_ns),
            from_ns(row.end_ns),
            row.end_ns - row.start_ns,
            row.spans,
            row.errors,
            row.tokens,
            to_micro(row.cost_nano_usd),
            row.cost_nano_usd};
}

SessionRow view_of(const telemetry::SessionRow& row) {
    return {row.chat_session,
            row.user_id,
            from_ns(row.start_ns),
            from_ns(row.end_ns),
            row.end_ns - row.start_ns,
            row.traces,
            row.spans,
            row.errors,
            row.tokens,
            to_micro(row.cost_nano_usd)};
}

SpanPayload view_of(telemetry::SpanPayload payload) {
    SpanPayload view;
    view.span = view_of(payload.row);
    view.attributes = attributes_of(payload);
    view.resource = tree_of(payload.resource);
    view.scope = tree_of(payload.scope);
    view.events = tree_of(payload.events);
    view.links = tree_of(payload.links);
    view.conversation = telemetry::conversation_of(payload);
    view.version = std::move(payload.version);
    view.finish_reason = std::move(payload.finish_reason);
    view.exception_message = std::move(payload.exception_message);
    view.first_token_ns = payload.first_token_ns;
    view.input = std::move(payload.input);
    view.input_mime = std::move(payload.input_mime);
    view.output = std::move(payload.output);
    view.output_mime = std::move(payload.output_mime);
    view.truncated = std::move(payload.truncated);
    return view;
}

namespace {

template <class View, class Row>
List<View> page_of_views(const std::vector<Row>& rows, const std::string& next_cursor) {
    List<View> list;
    for (const Row& row : rows) list.data.push_back(view_of(row));
    if (!next_cursor.empty()) list.next_cursor = next_cursor;
    return list;
}

// Nothing for the newest first, which is faster.
std::optional<telemetry::RowSort> sort_of(const SortedRangePage& query) {
    const telemetry::RowSort sort{query.order.value_or(telemetry::RowOrder::start), query.ascending.value_or(false)};
    if (sort.by == telemetry::RowOrder::start && !sort.ascending) return std::nullopt;
    return sort;
}

} // namespace

Result<net::Response> take_traces(const Call& call, const InSpace& query, const RawBody& body) {
    telemetry::IngestRequest request;
    request.body = body.bytes;
    request.content_type = call.head.header("Content-Type");
    request.content_encoding = call.head.header("Content-Encoding");
    request.project = project_header(call.head);
    const auto space = TRY(space_of(call, query.space));
    telemetry::IngestResponse taken = TRY(call.services.spans.ingest(call.caller, space, request));
    net::Response response;
    response.status = taken.status;
    response.content_type = std::move(taken.content_type);
    response.body = std::move(taken.body);
    if (taken.retry_after_seconds > 0) response.set_header("Retry-After", std::to_string(taken.retry_after_seconds));
    return response;
}

Result<List<SpanRow>> list_span_rows(const Call& call, const ListSpanRows& query) {
    telemetry::ListSpans request;
    request.scope = TRY(scope_of(call, query));
    request.trace_id = query.trace_id;
    const auto page = TRY(page_of(query.limit, query.cursor));
    request.limit = static_cast<size_t>(page.limit);
    request.cursor = page.cursor.value_or("");
    telemetry::SpanStore* const store = TRY(call.services.spans.store());
    const auto sort = sort_of(query);
    const auto rows = TRY(sort ? telemetry::sorted_spans(call.services.spans.telemetry.engine(), request, *sort)
                               : store->list_spans(request));
    return page_of_views<SpanRow>(rows.spans, rows.next_cursor);
}

Result<List<TraceRow>> list_trace_rows(const Call& call, const ListTraceRows& query) {
    telemetry::ListTraces request;
    request.scope = TRY(scope_of(call, query));
    request.chat_session = query.session;
    const auto page = TRY(page_of(query.limit, query.cursor));
    request.limit = static_cast<size_t>(page.limit);
    request.cursor = page.cursor.value_or("");
    telemetry::SpanStore* const store = TRY(call.services.spans.store());
    const auto sort = sort_of(query);
    const auto rows = TRY(sort ? telemetry::sorted_traces(call.services.spans.telemetry.engine(), request, *sort)
                               : store->list_traces(request));
    return page_of_views<TraceRow>(rows.traces, rows.next_cursor);
}

Result<List<SessionRow>> list_session_rows(const Call& call, const ListSessionRows& query) {
    const auto scope = TRY(scope_of(call, query));
    const auto page = TRY(page_of(query.limit, query.cursor));
    telemetry::SpanStore* const store = TRY(call.services.spans.store());
    const auto rows = TRY(store->list_sessions(scope, static_cast<size_t>(page.limit), page.cursor.value_or("")));
    return page_of_views<SessionRow>(rows.sessions, rows.next_cursor);
}

Result<One<TraceSkeleton>> get_trace_skeleton(const Call& call, const InSpace& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    telemetry::SpanStore* const store = TRY(call.services.spans.store());
    const auto found = TRY(store->trace_skeleton(project.id.text(), call.at("trace")));
    TraceSkeleton skeleton;
    skeleton.is_cut = found.is_cut;
    skeleton.spans.reserve(found.spans.size());
    for (const auto& row : found.spans) skeleton.spans.push_back(view_of(row));
    return One<TraceSkeleton>{std::move(skeleton)};
}

Result<One<TraceOutline>> get_trace_outline(const Call& call, const InSpace& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    telemetry::SpanStore* const store = TRY(call.services.spans.store());
    return One<TraceOutline>{outline_of(TRY(store->trace_skeleton(project.id.text(), call.at("trace"))))};
}

Result<One<SpanPayload>> get_span_payload(const Call& call, const InSpace& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    auto found = TRY(call.services.spans.payload(project.id.text(), call.at("trace"), call.at("span")));
    return One<SpanPayload>{view_of(std::move(found))};
}

Result<NoContent> delete_trace(const Call& call, const InSpace& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::trace_delete));
    TRY(call.services.spans.wait_until_loaded());
    const int64_t deleted = TRY(call.services.spans.delete_trace(call.caller, project, call.at("trace")));
    if (deleted == 0) return not_found("trace " + std::string(truncate_utf8(call.at("trace"), 100)));
    return NoContent{};
}

Result<One<DeletedSpans>> delete_spans(const Call& call, const InSpace& query, const DeleteSpans& body) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::trace_delete));
    const telemetry::DeleteMatching which{body.filter.value_or(""), body.after, body.before, *body.all};
    return One<DeletedSpans>{{TRY(call.services.spans.delete_matching(call.caller, project, which))}};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route traces_table[] = {
    route<take_traces>("POST", "/v1/traces", need(trace_write),
                       "Send traces: OTLP over HTTP, protobuf or JSON, plain, gzip or zstd.")
        .takes("application/x-protobuf, application/json")
        .raw("application/x-protobuf, application/json")
        .with_body_limit(telemetry::Ingest::body_limit)
        .on(net::Lane::ingest)
        .from_sdks()
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
    route<get_trace_outline>("GET", "/v1/projects/{project}/traces/{trace}/outline", need(project_read),
                             "All spans of a trace as columns, for a page that draws many of them.")
        .on(net::Lane::query),
    route<get_span_payload>("GET", "/v1/projects/{project}/traces/{trace}/spans/{span}", need(project_read),
                            "One span with its payload.")
        .on(net::Lane::query),
    route<delete_trace>("DELETE", "/v1/projects/{project}/traces/{trace}", need(trace_delete), "Delete a trace.")
        .on(net::Lane::query),
};

const Route deletion_table[] = {
    route<delete_spans>("POST", "/v1/projects/{project}/delete_spans", need(trace_delete),
                        "Delete the spans that match a filter, with their evals.")
        .on(net::Lane::query),
};

} // namespace

std::span<const Route> traces_routes() {
    return traces_table;
}

std::span<const Route> deletion_routes() {
    return deletion_table;
}

} // namespace hone::api
