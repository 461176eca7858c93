#include "api/global_id.h"
#include "api/phoenix_handlers.h"
#include "api/places.h"

#include <algorithm>

namespace hone::api {

namespace {

using telemetry::EvalTarget;

constexpr size_t most_spans_of_traces = 100'000;
// The version of Phoenix whose REST API this one keeps to; its clients ask before they use newer parts.
constexpr std::string_view phoenix_version = "20.0.0";

bool is_hex_id(std::string_view text, size_t digits) {
    return text.size() == digits && std::all_of(text.begin(), text.end(), [](char letter) {
               return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
           });
}

Result<std::vector<std::string>> hex_ids(std::string_view parameter, const std::vector<std::string>& texts,
                                         size_t digits) {
    std::vector<std::string> ids;
    for (const std::string& text : texts) {
        ids.push_back(lowercase_ascii(text));
        if (!is_hex_id(ids.back(), digits))
            return invalid("query parameter " + std::string(parameter) + " must be " + std::to_string(digits) +
                           " hexadecimal digits");
    }
    return ids;
}

template <class Enum>
Result<std::vector<Enum>> words(std::string_view parameter, const std::vector<std::string>& texts) {
    std::vector<Enum> values;
    for (const std::string& text : texts) {
        const auto value = parse_enum<Enum>(lowercase_ascii(text));
        if (!value)
            return invalid("query parameter " + std::string(parameter) + " must be one of " +
                           json::detail::enum_choices<Enum>() + ", in capitals");
        values.push_back(*value);
    }
    return values;
}

// "user.id:12345" is a number, `user.id:"12345"` and "user.id:abc" are texts; only the first colon divides.
Result<telemetry::AttributeCondition> attribute_of(const std::string& text) {
    const size_t colon = text.find(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == text.size())
        return invalid("query parameter attribute must be key:value");
    telemetry::AttributeCondition condition{text.substr(0, colon), text.substr(colon + 1)};
    const auto value = json::parse(text.substr(colon + 1));
    if (!value.ok()) return condition;
    const json::Value& tree = value.value();
    if (tree.is_string())
        condition.value = std::string(tree.get_string());
    else if (tree.is_bool())
        condition.value = tree.get_bool();
    else if (tree.is_number())
        condition.value = tree.to_number<double>();
    else
        return invalid("query parameter attribute must have a text, a number, true or false as its value");
    return condition;
}

Result<telemetry::ListSpans> request_of(const Call& call, const ListSpans& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    const auto page = TRY(page_of(query.limit, query.cursor));
    telemetry::ListSpans request;
    request.scope.project = project.id.text();
    request.scope.cancel = call.head.gone;
    if (query.start_time) request.scope.from_ns = to_ns(*query.start_time);
    if (query.end_time) request.scope.to_ns = to_ns(*query.end_time);
    request.limit = static_cast<size_t>(page.limit);
    request.cursor = page.cursor.value_or("");
    request.span_ids = TRY(hex_ids("span_id", query.span_id, 16));
    request.conditions.trace_ids = TRY(hex_ids("trace_id", query.trace_id, 32));
    if (query.parent_id) request.conditions.parent_id = *query.parent_id == "null" ? "" : *query.parent_id;
    request.conditions.names = query.name;
    request.conditions.kinds = TRY(words<telemetry::SpanKind>("span_kind", query.span_kind));
    request.conditions.statuses = TRY(words<otlp::StatusCode>("status_code", query.status_code));
    for (const std::string& text : query.attribute) request.conditions.attributes.push_back(TRY(attribute_of(text)));
    return request;
}

std::optional<std::string> cursor_of(const std::string& cursor) {
    return cursor.empty() ? std::nullopt : std::optional(cursor);
}

// The spans of these traces, put under each of them.
Result<> add_spans(const Call& call, const std::string& project, std::vector<Trace>& traces) {
    if (traces.empty()) return {};
    std::map<std::string, Trace*, std::less<>> by_id;
    telemetry::ListSpans request;
    request.scope.project = project;
    request.scope.cancel = call.head.gone;
    request.scope.from_ns = to_ns(traces.front().start_time);
    request.scope.to_ns = to_ns(traces.front().end_time) + 1;
    request.limit = 1000;
    request.oldest_first = true;
    for (Trace& trace : traces) {
        trace.spans.emplace();
        by_id[trace.trace_id] = &trace;
        request.conditions.trace_ids.push_back(trace.trace_id);
        request.scope.from_ns = std::min(request.scope.from_ns, to_ns(trace.start_time));
        request.scope.to_ns = std::max(request.scope.to_ns, to_ns(trace.end_time) + 1);
    }
    telemetry::SpanStore& store = *TRY(store_of(call));
    for (size_t spans = 0;;) {
        const auto page = TRY(store.list_spans(request));
        for (const auto& row : page.spans)
            if (const auto trace = by_id.find(row.trace_id); trace != by_id.end())
                trace->second->spans->push_back(trace_span_of(project, row));
        spans += page.spans.size();
        if (page.next_cursor.empty()) return {};
        if (spans >= most_spans_of_traces) return too_large("these traces have too many spans; ask for fewer traces");
        request.cursor = page.next_cursor;
    }
}

} // namespace

Result<List<Span>> list_spans(const Call& call, const ListSpans& query) {
    const auto request = TRY(request_of(call, query));
    const auto page = TRY(payload_page(call, request));
    return List<Span>{TRY(spans_of_payloads(request.scope.project, page.spans)), cursor_of(page.next_cursor)};
}

Result<List<json::Value>> list_otlp_spans(const Call& call, const ListSpans& query) {
    const auto request = TRY(request_of(call, query));
    const auto page = TRY(payload_page(call, request));
    return List<json::Value>{TRY(otlp_of_payloads(page.spans)), cursor_of(page.next_cursor)};
}

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
    request.by_latency = query.sort == TraceSort::latency;
    request.ascending = query.order == SortOrder::ascending;
    request.limit = static_cast<size_t>(page.limit);
    request.cursor = page.cursor.value_or("");
    TRY(store_of(call));
    const auto found = TRY(TRY(spans_of(call))->lists.traces(request));
    List<Trace> list;
    for (const auto& totals : found.traces) list.data.push_back(trace_of(request.project, totals));
    if (query.include_spans.value_or(false)) TRY(add_spans(call, request.project, list.data));
    list.next_cursor = cursor_of(found.next_cursor);
    return list;
}

Result<List<ChatSession>> list_sessions(const Call& call, const ListSessions& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    const auto page = TRY(page_of(query.limit, query.cursor));
    TRY(store_of(call));
    const auto found = TRY(TRY(spans_of(call))
                               ->lists.sessions(project.id.text(), query.order != SortOrder::descending,
                                                static_cast<size_t>(page.limit), page.cursor.value_or("")));
    List<ChatSession> list;
    for (const auto& totals : found.sessions) list.data.push_back(session_of(project.id.text(), totals));
    list.next_cursor = cursor_of(found.next_cursor);
    return list;
}

Result<One<ChatSession>> get_session(const Call& call, const InSpace& query) {
    const auto place = TRY(
        find_place(call, query.space, EvalTarget::chat_session, call.at("session"), access::Permission::project_read));
    const auto totals = TRY(TRY(spans_of(call))->lists.session(place.project.id.text(), place.id));
    return One<ChatSession>{session_of(place.project.id.text(), totals)};
}

Result<net::Response> get_phoenix_version(const Call&) {
    return net::text_response(200, std::string(phoenix_version));
}

} // namespace hone::api
