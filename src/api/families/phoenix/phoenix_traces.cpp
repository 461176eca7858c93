// Traces and chat sessions in the shapes of Arize Phoenix (ADR 0010).
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/phoenix/phoenix.h"

#include <algorithm>
#include <cmath>

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

enum class SortOrder { ascending, descending };
constexpr auto enum_names(SortOrder) {
    return std::array{EnumName{SortOrder::ascending, "asc"}, EnumName{SortOrder::descending, "desc"}};
}

enum class TraceSort { start_time, latency };
constexpr auto enum_names(TraceSort) {
    return std::array{EnumName{TraceSort::start_time, "start_time"}, EnumName{TraceSort::latency, "latency_ms"}};
}

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
    std::optional<bool> error;
    std::optional<double> min_latency_ms;
    std::optional<double> max_latency_ms;
    static constexpr Pack fields{
        Field{"space", &ListTraces::space, "Id or name of the space; the caller's first one if not given."},
        Field{"start_time", &ListTraces::start_time, "Traces that started at or after this time."},
        Field{"end_time", &ListTraces::end_time, "Traces that started before this time."},
        Field{"sort", &ListTraces::sort, "start_time (if not given) or latency_ms."},
        Field{"order", &ListTraces::order, "desc (if not given) or asc."},
        Field{"limit", &ListTraces::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListTraces::cursor, "next_cursor of the previous response, with the same sort and order."},
        Field{"include_spans", &ListTraces::include_spans, "Include the spans of each trace, without their payloads."},
        Field{"session_identifier", &ListTraces::session_identifier,
              "Only traces of this chat session; may be repeated."},
        Field{"error", &ListTraces::error, "true: only traces with a failed span; false: only those without."},
        Field{"min_latency_ms", &ListTraces::min_latency_ms, "Only traces that took at least this long."},
        Field{"max_latency_ms", &ListTraces::max_latency_ms, "Only traces that took at most this long."},
    };
};

struct ListSessions {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> cursor;
    std::optional<int64_t> limit;
    std::optional<SortOrder> order;
    static constexpr Pack fields{
        Field{"space", &ListSessions::space, "Id or name of the space; the caller's first one if not given."},
        Field{"cursor", &ListSessions::cursor, "next_cursor of the previous response, with the same order."},
        Field{"limit", &ListSessions::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"order", &ListSessions::order, "Order by start: asc (if not given) or desc."},
    };
};

struct DeleteSessions {
    std::vector<std::string> session_identifiers;
    static constexpr Pack fields{
        Field{"session_identifiers", &DeleteSessions::session_identifiers, "Ids or names; unknown ones are skipped."}};
};

struct TraceSpan {
    std::string id;
    std::string span_id;
    std::optional<std::string> parent_id;
    std::string name;
    std::string span_kind;
    std::string status_code;
    std::string start_time;
    std::string end_time;
    static constexpr Pack fields{
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
    std::string start_time;
    std::string end_time;
    int64_t token_count_prompt = 0;
    int64_t token_count_completion = 0;
    int64_t token_count_total = 0;
    std::optional<std::vector<TraceSpan>> spans;
    static constexpr Pack fields{
        Field{"id", &Trace::id, "Id that includes the project."},
        Field{"trace_id", &Trace::trace_id, "As it was sent."},
        Field{"project_id", &Trace::project_id, ""},
        Field{"start_time", &Trace::start_time, ""},
        Field{"end_time", &Trace::end_time, ""},
        Field{"token_count_prompt", &Trace::token_count_prompt, "Input tokens, including cached ones."},
        Field{"token_count_completion", &Trace::token_count_completion, "Output and reasoning tokens."},
        Field{"token_count_total", &Trace::token_count_total, ""},
        Field{"spans", &Trace::spans, "Spans of the trace; only with include_spans."},
    };
};

struct SessionTrace {
    std::string id;
    std::string trace_id;
    std::string start_time;
    std::string end_time;
    static constexpr Pack fields{
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
    std::string start_time;
    std::string end_time;
    std::vector<SessionTrace> traces;
    int64_t token_count_prompt = 0;
    int64_t token_count_completion = 0;
    int64_t token_count_total = 0;
    static constexpr Pack fields{
        Field{"id", &ChatSession::id, "Id of the chat session that includes the project."},
        Field{"session_id", &ChatSession::session_id, "session.id of the application."},
        Field{"project_id", &ChatSession::project_id, ""},
        Field{"start_time", &ChatSession::start_time, ""},
        Field{"end_time", &ChatSession::end_time, ""},
        Field{"traces", &ChatSession::traces, "Traces, sorted by start."},
        Field{"token_count_prompt", &ChatSession::token_count_prompt, "Input tokens, including cached ones."},
        Field{"token_count_completion", &ChatSession::token_count_completion, "Output and reasoning tokens."},
        Field{"token_count_total", &ChatSession::token_count_total, ""},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

TraceSpan trace_span_of(const std::string& project, const telemetry::SpanRow& row) {
    return {make_global_id(EvalTarget::span, project, row.span_id),
            row.span_id,
            or_null(row.parent_id),
            row.name,
            uppercase(name_of(row.kind)),
            uppercase(name_of(row.status)),
            phoenix_time(from_ns(row.start_ns)),
            phoenix_time(from_ns(row.start_ns + row.duration_ns))};
}

Trace trace_of(const std::string& project, const telemetry::TraceTotals& totals) {
    return {make_global_id(EvalTarget::trace, project, totals.trace_id),
            totals.trace_id,
            project,
            phoenix_time(from_ns(totals.start_ns)),
            phoenix_time(from_ns(totals.end_ns)),
            totals.prompt_tokens,
            totals.completion_tokens,
            totals.prompt_tokens + totals.completion_tokens,
            {}};
}

ChatSession session_of(const std::string& project, const telemetry::SessionTotals& totals) {
    ChatSession session;
    session.id = make_global_id(EvalTarget::chat_session, project, totals.chat_session);
    session.session_id = totals.chat_session;
    session.project_id = project;
    session.start_time = phoenix_time(from_ns(totals.start_ns));
    session.end_time = phoenix_time(from_ns(totals.end_ns));
    for (const telemetry::TraceTotals& trace : totals.traces)
        session.traces.push_back({make_global_id(EvalTarget::trace, project, trace.trace_id), trace.trace_id,
                                  phoenix_time(from_ns(trace.start_ns)), phoenix_time(from_ns(trace.end_ns))});
    session.token_count_prompt = totals.prompt_tokens;
    session.token_count_completion = totals.completion_tokens;
    session.token_count_total = totals.prompt_tokens + totals.completion_tokens;
    return session;
}

Result<NoContent> delete_trace_anywhere(const Call& call, const InSpace& query) {
    const auto place =
        TRY(find_place(call, query.space, EvalTarget::trace, call.at("trace"), access::Permission::trace_delete));
    TRY(call.services.spans.delete_trace(call.caller, place.project, place.id));
    return NoContent{};
}

Result<NoContent> delete_span_anywhere(const Call& call, const InSpace& query) {
    const auto place =
        TRY(find_place(call, query.space, EvalTarget::span, call.at("span"), access::Permission::trace_delete));
    TRY(call.services.spans.delete_span(call.caller, place));
    return NoContent{};
}

Result<NoContent> delete_session(const Call& call, const InSpace& query) {
    const auto place = TRY(
        find_place(call, query.space, EvalTarget::chat_session, call.at("session"), access::Permission::trace_delete));
    TRY(call.services.spans.delete_chat_session(call.caller, place.project, place.id));
    return NoContent{};
}

Result<NoContent> delete_sessions(const Call& call, const InSpace& query, const DeleteSessions& body) {
    const auto places = TRY(find_places(call, query.space, EvalTarget::chat_session, body.session_identifiers,
                                        access::Permission::trace_delete));
    for (const auto& [text, place] : places)
        TRY(call.services.spans.delete_chat_session(call.caller, place.project, place.id));
    return NoContent{};
}

namespace {

constexpr size_t most_spans_of_traces = 100'000;

// The spans of these traces, put under each of them.
Result<> add_spans(const Call& call, const std::string& project, const std::vector<telemetry::TraceTotals>& found,
                   std::vector<Trace>& traces) {
    if (traces.empty()) return {};
    std::map<std::string, Trace*, std::less<>> by_id;
    telemetry::ListSpans request;
    request.scope.project = project;
    request.scope.cancel = call.head.gone;
    request.scope.from_ns = found.front().start_ns;
    request.scope.to_ns = found.front().end_ns + 1;
    for (const telemetry::TraceTotals& totals : found) {
        request.scope.from_ns = std::min(request.scope.from_ns, totals.start_ns);
        request.scope.to_ns = std::max(request.scope.to_ns, totals.end_ns + 1);
    }
    request.limit = 1000;
    request.oldest_first = true;
    for (Trace& trace : traces) {
        trace.spans.emplace();
        by_id[trace.trace_id] = &trace;
        request.conditions.trace_ids.push_back(trace.trace_id);
    }
    telemetry::SpanStore& store = *TRY(call.services.spans.store());
    for (size_t spans = 0;;) {
        const auto page = TRY(store.list_spans(request));
        for (const auto& row : page.spans)
            if (const auto trace = by_id.find(row.trace_id); trace != by_id.end())
                trace->second->spans->push_back(trace_span_of(project, row));
        spans += page.spans.size();
        if (page.next_cursor.empty()) return {};
        if (spans >= most_spans_of_traces) return too_large("these traces have too many spans; request fewer traces");
        request.cursor = page.next_cursor;
    }
}

Result<> give_sent_ids(const Call& call, const std::string& project, std::vector<Trace>& traces) {
    std::vector<std::string> ids;
    for (const Trace& trace : traces) ids.push_back(trace.trace_id);
    const SentIds sent = TRY(sent_ids(call, project, EvalTarget::trace, ids));
    for (Trace& trace : traces) {
        trace.trace_id = sent.trace(trace.trace_id);
        if (!trace.spans) continue;
        for (TraceSpan& span : *trace.spans) {
            span.span_id = sent.span(span.span_id);
            if (span.parent_id) span.parent_id = sent.span(*span.parent_id);
        }
    }
    return {};
}

Result<> give_sent_ids(const Call& call, const std::string& project, std::vector<ChatSession>& sessions) {
    std::vector<std::string> ids;
    for (const ChatSession& session : sessions)
        for (const SessionTrace& trace : session.traces) ids.push_back(trace.trace_id);
    const SentIds sent = TRY(sent_ids(call, project, EvalTarget::trace, ids));
    for (ChatSession& session : sessions)
        for (SessionTrace& trace : session.traces) trace.trace_id = sent.trace(trace.trace_id);
    return {};
}

Result<int64_t> latency_of(std::string_view name, double milliseconds) {
    constexpr double longest = 1e12;
    if (!(milliseconds >= 0 && milliseconds <= longest))
        return invalid(std::string(name) + " must be a number of milliseconds");
    return std::llround(milliseconds * 1e6);
}

} // namespace

Result<List<Trace>> list_traces(const Call& call, const ListTraces& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    const auto page = TRY(page_of(query.limit, query.cursor));
    telemetry::ListTraceTotals request;
    request.project = project.id.text();
    if (query.start_time) request.from_ns = to_ns(*query.start_time);
    if (query.end_time) request.to_ns = to_ns(*query.end_time);
    for (const std::string& text : query.session_identifier) {
        const auto global = parse_global_id(EvalTarget::chat_session, text);
        request.chat_sessions.push_back(global ? global->id : text);
    }
    request.has_error = query.error;
    if (query.min_latency_ms) request.least_latency_ns = TRY(latency_of("min_latency_ms", *query.min_latency_ms));
    if (query.max_latency_ms) request.most_latency_ns = TRY(latency_of("max_latency_ms", *query.max_latency_ms));
    if (request.least_latency_ns > request.most_latency_ns)
        return invalid("min_latency_ms must not be larger than max_latency_ms");
    request.by_latency = query.sort == TraceSort::latency;
    request.ascending = query.order == SortOrder::ascending;
    request.limit = static_cast<size_t>(page.limit);
    request.cursor = page.cursor.value_or("");
    TRY(call.services.spans.store());
    const auto found = TRY(call.services.spans.lists.traces(request));
    List<Trace> list;
    for (const auto& totals : found.traces) list.data.push_back(trace_of(request.project, totals));
    if (query.include_spans.value_or(false)) TRY(add_spans(call, request.project, found.traces, list.data));
    TRY(give_sent_ids(call, request.project, list.data));
    list.next_cursor = or_null(found.next_cursor);
    return list;
}

Result<List<ChatSession>> list_sessions(const Call& call, const ListSessions& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    const auto page = TRY(page_of(query.limit, query.cursor));
    TRY(call.services.spans.store());
    const auto found =
        TRY(call.services.spans.lists.sessions(project.id.text(), query.order != SortOrder::descending,
                                               static_cast<size_t>(page.limit), page.cursor.value_or("")));
    List<ChatSession> list;
    for (const auto& totals : found.sessions) list.data.push_back(session_of(project.id.text(), totals));
    TRY(give_sent_ids(call, project.id.text(), list.data));
    list.next_cursor = or_null(found.next_cursor);
    return list;
}

Result<One<ChatSession>> get_session(const Call& call, const InSpace& query) {
    const auto place = TRY(
        find_place(call, query.space, EvalTarget::chat_session, call.at("session"), access::Permission::project_read));
    const auto totals = TRY(call.services.spans.lists.session(place.project.id.text(), place.id));
    std::vector<ChatSession> found{session_of(place.project.id.text(), totals)};
    TRY(give_sent_ids(call, place.project.id.text(), found));
    return One<ChatSession>{std::move(found.front())};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route phoenix_traces_table[] = {
    route<list_traces>("GET", "/v1/projects/{project}/traces", need(project_read), "Traces with their token counts.")
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
    route<delete_trace_anywhere>("DELETE", "/v1/traces/{trace}", need(trace_delete),
                                 "Delete a trace by its id, in any project.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<delete_span_anywhere>("DELETE", "/v1/spans/{span}", need(trace_delete),
                                "Delete a span by its id, in any project.")
        .on(net::Lane::query)
        .like_phoenix(),
};

} // namespace

std::span<const Route> phoenix_traces_routes() {
    return phoenix_traces_table;
}

} // namespace hone::api
