// Spans in the shapes of Arize Phoenix (ADR 0010).
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/phoenix/phoenix.h"
#include "telemetry/transfer/import_lines.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

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
    static constexpr Pack fields{
        Field{"space", &ListSpans::space, "Id or name of the space; the caller's first one if not given."},
        Field{"cursor", &ListSpans::cursor, "next_cursor of the previous response."},
        Field{"limit", &ListSpans::limit,
              "Rows in one response, 1 to 1000; 100 if not given. Large spans can make a page shorter."},
        Field{"start_time", &ListSpans::start_time, "Started at or after this time."},
        Field{"end_time", &ListSpans::end_time, "Started before this time."},
        Field{"trace_id", &ListSpans::trace_id, "Only spans of this trace; may be repeated."},
        Field{"span_id", &ListSpans::span_id, "Only this span; may be repeated."},
        Field{"parent_id", &ListSpans::parent_id, "Only children of this span; \"null\": only roots."},
        Field{"name", &ListSpans::name, "Only spans with this name; may be repeated."},
        Field{"span_kind", &ListSpans::span_kind, "LLM, CHAIN, TOOL, …; may be repeated."},
        Field{"status_code", &ListSpans::status_code, "OK, ERROR or UNSET; may be repeated."},
        Field{"attribute", &ListSpans::attribute,
              "key:value, may be repeated; a span must match all. The value is parsed as JSON: user.id:12 is a number, "
              "user.id:\"12\" is text. Other values are text."},
    };
};

struct CreateSpans {
    static constexpr bool ignores_unknown = true;
    std::vector<json::Value> data;
    static constexpr Pack fields{
        Field{"data", &CreateSpans::data,
              "Spans as GET returns them: name, context, span_kind, parent_id, start_time, end_time, status_code, "
              "status_message, attributes, events."},
    };
};

struct NewSpanContext {
    static constexpr bool ignores_unknown = true;
    std::string trace_id;
    std::string span_id;
    static constexpr Pack fields{
        Field{"trace_id", &NewSpanContext::trace_id, "32 hexadecimal digits, or any text."},
        Field{"span_id", &NewSpanContext::span_id, "16 hexadecimal digits, or any text."},
    };
};

struct NewSpanEvent {
    static constexpr bool ignores_unknown = true;
    std::string name;
    Time timestamp{};
    std::optional<json::Value> attributes;
    static constexpr Pack fields{
        Field{"name", &NewSpanEvent::name, ""},
        Field{"timestamp", &NewSpanEvent::timestamp, ""},
        Field{"attributes", &NewSpanEvent::attributes, ""},
    };
};

// One of CreateSpans::data; read one by one, so that each error can be reported.
struct NewSpan {
    static constexpr bool ignores_unknown = true;
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
    static constexpr Pack fields{
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

struct SpanContext {
    std::string trace_id;
    std::string span_id;
    static constexpr Pack fields{
        Field{"trace_id", &SpanContext::trace_id, "As it was sent."},
        Field{"span_id", &SpanContext::span_id, "As it was sent."},
    };
};

struct SpanEvent {
    std::string name;
    std::string timestamp;
    json::Value attributes;
    static constexpr Pack fields{
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
    std::string start_time;
    std::string end_time;
    std::string status_code;
    std::string status_message;
    json::Value attributes;
    std::vector<SpanEvent> events;
    static constexpr Pack fields{
        Field{"id", &Span::id, "Id that includes the project."},
        Field{"name", &Span::name, ""},
        Field{"context", &Span::context, ""},
        Field{"span_kind", &Span::span_kind, "LLM, CHAIN, TOOL, …, UNKNOWN."},
        Field{"parent_id", &Span::parent_id, ""},
        Field{"start_time", &Span::start_time, ""},
        Field{"end_time", &Span::end_time, ""},
        Field{"status_code", &Span::status_code, "OK, ERROR or UNSET."},
        Field{"status_message", &Span::status_message, ""},
        Field{"attributes", &Span::attributes, "Attributes as sent."},
        Field{"events", &Span::events, ""},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

json::Value plain_attributes(const otlp::Attributes& attributes);

// As JSON has it: bytes are base64, a number that is none is null.
json::Value plain_value(const otlp::Value& value) {
    struct Make {
        json::Value operator()(std::monostate) const { return nullptr; }
        json::Value operator()(bool flag) const { return flag; }
        json::Value operator()(int64_t number) const { return number; }
        json::Value operator()(double number) const {
            return std::isfinite(number) ? json::Value(number) : json::Value(nullptr);
        }
        json::Value operator()(std::string_view text) const { return json::Value(text); }
        json::Value operator()(const otlp::Bytes& bytes) const { return json::Value(to_base64(bytes.data)); }
        json::Value operator()(const std::vector<otlp::Value>& list) const {
            json::Array values;
            for (const otlp::Value& each : list) values.push_back(plain_value(each));
            return values;
        }
        json::Value operator()(const otlp::Attributes& map) const { return plain_attributes(map); }
    };
    return std::visit(Make{}, value.data);
}

json::Value plain_attributes(const otlp::Attributes& attributes) {
    json::Object object;
    for (const auto& [key, value] : attributes) object[key] = plain_value(value); // of a repeated key the last
    return object;
}

json::Value otlp_attributes(const otlp::Attributes& attributes);

json::Value otlp_value(const otlp::Value& value) {
    struct Make {
        json::Object operator()(std::monostate) const { return {}; }
        json::Object operator()(bool flag) const { return {{"bool_value", flag}}; }
        json::Object operator()(int64_t number) const { return {{"int_value", number}}; }
        json::Object operator()(double number) const {
            if (std::isfinite(number)) return {{"double_value", number}};
            return {{"double_value", std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity"}};
        }
        json::Object operator()(std::string_view text) const { return {{"string_value", text}}; }
        json::Object operator()(const otlp::Bytes& bytes) const { return {{"bytes_value", to_base64(bytes.data)}}; }
        json::Object operator()(const std::vector<otlp::Value>& list) const {
            json::Array values;
            for (const otlp::Value& each : list) values.push_back(otlp_value(each));
            return {{"array_value", json::Object{{"values", std::move(values)}}}};
        }
        json::Object operator()(const otlp::Attributes& map) const {
            return {{"kvlist_value", json::Object{{"values", otlp_attributes(map)}}}};
        }
    };
    return std::visit(Make{}, value.data);
}

json::Value otlp_attributes(const otlp::Attributes& attributes) {
    json::Array list;
    for (const auto& [key, value] : attributes)
        list.push_back(json::Object{{"key", key}, {"value", otlp_value(value)}});
    return list;
}

std::string_view otlp_kind(uint32_t kind) {
    constexpr std::string_view names[] = {"SPAN_KIND_UNSPECIFIED", "SPAN_KIND_INTERNAL", "SPAN_KIND_SERVER",
                                          "SPAN_KIND_CLIENT",      "SPAN_KIND_PRODUCER", "SPAN_KIND_CONSUMER"};
    return kind < std::size(names) ? names[kind] : names[0];
}

json::Value otlp_events(const std::vector<otlp::Event>& events) {
    json::Array list;
    for (const otlp::Event& event : events)
        list.push_back(json::Object{{"name", event.name},
                                    {"time_unix_nano", event.time_ns},
                                    {"attributes", otlp_attributes(event.attributes)},
                                    {"dropped_attributes_count", event.dropped_attributes}});
    return list;
}

json::Value hex_or_null(std::string_view bytes) {
    return bytes.empty() ? json::Value(nullptr) : json::Value(to_hex(bytes));
}

} // namespace

namespace {

// The ids that were sent, where they could not be stored as they were.
void give_sent_ids(Span& span) {
    json::Object& attributes = span.attributes.get_object();
    const auto take = [&](std::string_view attribute) -> std::optional<std::string> {
        const json::Value* found = attributes.if_contains(attribute);
        if (found == nullptr || !found->is_string()) return std::nullopt;
        std::string text(found->get_string());
        attributes.erase(attribute);
        return text;
    };
    if (auto sent = take(sent_trace_id)) span.context.trace_id = std::move(*sent);
    if (auto sent = take(sent_span_id)) span.context.span_id = std::move(*sent);
    if (auto sent = take(sent_parent_id)) span.parent_id = std::move(*sent);
}

} // namespace

Result<std::vector<Span>> spans_of_payloads(const std::string& project,
                                            const std::vector<telemetry::SpanPayload>& payloads) {
    const otlp::Batch batch = TRY(telemetry::to_otlp(payloads));
    std::vector<Span> spans;
    spans.reserve(payloads.size());
    for (size_t i = 0; i < payloads.size(); ++i) {
        const telemetry::SpanRow& row = payloads[i].row;
        Span span;
        span.id = make_global_id(EvalTarget::span, project, row.span_id);
        span.name = row.name;
        span.context = {row.trace_id, row.span_id};
        span.span_kind = uppercase(name_of(row.kind));
        span.parent_id = or_null(row.parent_id);
        span.start_time = phoenix_time(from_ns(row.start_ns));
        span.end_time = phoenix_time(from_ns(row.start_ns + row.duration_ns));
        span.status_code = uppercase(name_of(row.status));
        span.status_message = row.status_message;
        span.attributes = plain_attributes(batch.spans[i].attributes);
        give_sent_ids(span);
        for (const otlp::Event& event : batch.spans[i].events)
            span.events.push_back({std::string(event.name), phoenix_time(from_ns(static_cast<int64_t>(event.time_ns))),
                                   plain_attributes(event.attributes)});
        spans.push_back(std::move(span));
    }
    return spans;
}

Result<std::vector<json::Value>> phoenix_spans_of(const std::string& project,
                                                  const std::vector<telemetry::SpanPayload>& payloads) {
    std::vector<json::Value> spans;
    for (const Span& span : TRY(spans_of_payloads(project, payloads))) spans.push_back(json::to_value(span));
    return spans;
}

Result<std::vector<json::Value>> otlp_of_payloads(const std::vector<telemetry::SpanPayload>& payloads) {
    const otlp::Batch batch = TRY(telemetry::to_otlp(payloads));
    std::vector<json::Value> spans;
    spans.reserve(batch.spans.size());
    for (const otlp::Span& span : batch.spans)
        spans.push_back(json::Object{
            {"trace_id", hex_or_null(span.trace_id)},
            {"span_id", hex_or_null(span.span_id)},
            {"parent_span_id", hex_or_null(span.parent_span_id)},
            {"trace_state", span.trace_state},
            {"flags", span.flags},
            {"name", span.name},
            {"kind", otlp_kind(span.kind)},
            {"start_time_unix_nano", span.start_ns},
            {"end_time_unix_nano", span.end_ns},
            {"attributes", otlp_attributes(span.attributes)},
            {"dropped_attributes_count", span.dropped_attributes},
            {"events", otlp_events(span.events)},
            {"dropped_events_count", span.dropped_events},
            {"dropped_links_count", span.dropped_links},
            {"status", json::Object{{"code", static_cast<int>(span.status)}, {"message", span.status_message}}},
        });
    return spans;
}

namespace {

constexpr size_t most_new_spans = 100'000;

// New spans: all of them are taken, or none, and the response lists what is wrong with each.
class NewSpans {
public:
    explicit NewSpans(const std::vector<json::Value>& spans) {
        for (size_t i = 0; i < spans.size(); ++i) take(spans[i], "data[" + std::to_string(i) + "]");
    }

    bool has_faults() const { return !m_invalid.empty() || !m_repeated.empty(); }
    const std::string& otlp() const { return m_otlp; }
    std::vector<std::string> span_ids() const {
        std::vector<std::string> ids;
        for (const auto& [trace, span] : m_ids) ids.push_back(span);
        return ids;
    }
    void stored_already(const std::string& trace_id, const std::string& span_id) {
        if (m_ids.contains({trace_id, span_id})) m_repeated.push_back(names(trace_id, span_id));
    }

    net::Response refusal() const {
        return refusal(std::to_string(m_invalid.size()) + " invalid, " + std::to_string(m_repeated.size()) +
                       " known already");
    }
    net::Response refusal(const std::string& why) const {
        json::Object body;
        body["error"] = json::Object{{"code", "invalid"}, {"message", "no span was taken: " + why}};
        body["total_received"] = m_received;
        body["total_queued"] = 0;
        body["total_invalid"] = m_invalid.size();
        body["total_duplicates"] = m_repeated.size();
        body["invalid_spans"] = m_invalid;
        body["duplicate_spans"] = m_repeated;
        return net::json_response(400, json::print(body));
    }

private:
    // As they were sent.
    json::Object names(const std::string& trace_id, const std::string& span_id) const {
        const auto sent = m_sent.find({trace_id, span_id});
        if (sent == m_sent.end()) return {{"span_id", span_id}, {"trace_id", trace_id}};
        return {{"span_id", sent->second.second}, {"trace_id", sent->second.first}};
    }

    // The span with ids that can be stored, and the ones that were sent in its attributes.
    static json::Value with_stored_ids(const NewSpan& span, const json::Value& value) {
        json::Value changed = value;
        json::Object& object = changed.get_object();
        json::Object attributes;
        const auto keep = [&](std::string_view attribute, const std::string& sent, size_t digits) {
            const std::string stored = stored_id(sent, digits);
            if (stored != lowercase_ascii(sent)) attributes[attribute] = sent;
            return stored;
        };
        object["context"] = json::Object{{"trace_id", keep(sent_trace_id, span.context.trace_id, 32)},
                                         {"span_id", keep(sent_span_id, span.context.span_id, 16)}};
        if (span.parent_id && !span.parent_id->empty()) object["parent_id"] = keep(sent_parent_id, *span.parent_id, 16);
        if (attributes.empty()) return changed;
        if (span.attributes && span.attributes->is_object())
            for (const auto& entry : span.attributes->get_object()) attributes[entry.key()] = entry.value();
        object["attributes"] = std::move(attributes);
        return changed;
    }

    void take(const json::Value& value, const std::string& path) {
        ++m_received;
        auto span = read_lenient<NewSpan>(value, path);
        if (!span.ok()) {
            json::Object fault = names("unknown", "unknown");
            fault["error"] = span.error().message;
            m_invalid.push_back(std::move(fault));
            return;
        }
        const std::string trace_id = stored_id(span.value().context.trace_id, 32);
        const std::string span_id = stored_id(span.value().context.span_id, 16);
        m_sent.emplace(std::pair(trace_id, span_id),
                       std::pair(span.value().context.trace_id, span.value().context.span_id));
        if (auto fault = check(span.value(), value); !fault.ok()) {
            json::Object entry = names(trace_id, span_id);
            entry["error"] = path + ": " + fault.error().message;
            m_invalid.push_back(std::move(entry));
            return;
        }
        if (!m_ids.emplace(trace_id, span_id).second) m_repeated.push_back(names(trace_id, span_id));
    }

    Result<> check(const NewSpan& span, const json::Value& value) {
        for (const auto& [name, text] :
             {std::pair("trace_id", &span.context.trace_id), {"span_id", &span.context.span_id}})
            if (text->empty() || text->size() > 500)
                return invalid(std::string("context.") + name + " must have 1 to 500 bytes");
        if (span.end_time < span.start_time) return invalid("end_time must not be before start_time");
        if (!parse_enum<otlp::StatusCode>(lowercase_ascii(span.status_code)))
            return invalid("status_code must be OK, ERROR or UNSET");
        if (span.attributes && !span.attributes->is_object()) return invalid("attributes must be an object");
        auto element = TRY(telemetry::read_phoenix_span(json::print(with_stored_ids(span, value))));
        if (!element.rejected.empty()) return invalid(element.rejected.front());
        m_otlp += element.otlp;
        return {};
    }

    int64_t m_received = 0;
    std::string m_otlp; // an ExportTraceServiceRequest
    std::set<std::pair<std::string, std::string>> m_ids;
    std::map<std::pair<std::string, std::string>, std::pair<std::string, std::string>> m_sent; // by the stored ids
    json::Array m_invalid;
    json::Array m_repeated;
};

} // namespace

Result<net::Response> create_spans(const Call& call, const InSpace& query, const CreateSpans& body) {
    const auto [space, name] = TRY(call.services.spans.projects.target(call.caller, query.space, call.at("project")));
    telemetry::Spans& spans = call.services.spans;
    if (body.data.size() > most_new_spans)
        return too_large("at most " + std::to_string(most_new_spans) + " spans in one request");
    NewSpans wanted(body.data);
    if (wanted.has_faults()) return wanted.refusal();
    const auto project = TRY(spans.projects.resolve(call.caller, space, name));
    TRY(call.services.spans.wait_until_loaded());
    for (const auto& found : TRY(spans.lookup.spans({project.id}, wanted.span_ids())))
        wanted.stored_already(found.trace_id, found.id);
    if (wanted.has_faults()) return wanted.refusal();
    telemetry::CallersProjects projects(spans.projects, call.caller, space);
    telemetry::IngestRequest request;
    request.body = wanted.otlp();
    request.project = name;
    request.space = space.text();
    request.projects = &projects;
    const auto taken = TRY(spans.telemetry.ingester().take(request));
    if (taken.accepted == 0 && taken.rejected > 0) return wanted.refusal(taken.message);
    json::Object counts{{"total_received", static_cast<int64_t>(body.data.size())}, {"total_queued", taken.accepted}};
    return net::json_response(202, json::print(counts));
}

namespace {

std::vector<std::string> stored_ids(const std::vector<std::string>& texts, size_t digits) {
    std::vector<std::string> ids;
    for (const std::string& text : texts) ids.push_back(stored_id(text, digits));
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
    request.span_ids = stored_ids(query.span_id, 16);
    request.conditions.trace_ids = stored_ids(query.trace_id, 32);
    if (query.parent_id)
        request.conditions.parent_id = *query.parent_id == "null" ? "" : stored_id(*query.parent_id, 16);
    request.conditions.names = query.name;
    request.conditions.kinds = TRY(words<telemetry::SpanKind>("span_kind", query.span_kind));
    request.conditions.statuses = TRY(words<otlp::StatusCode>("status_code", query.status_code));
    for (const std::string& text : query.attribute) request.conditions.attributes.push_back(TRY(attribute_of(text)));
    return request;
}

} // namespace

Result<List<Span>> list_spans(const Call& call, const ListSpans& query) {
    const auto request = TRY(request_of(call, query));
    const auto page = TRY(call.services.spans.payloads(request));
    return List<Span>{TRY(spans_of_payloads(request.scope.project, page.spans)), or_null(page.next_cursor)};
}

Result<List<json::Value>> list_otlp_spans(const Call& call, const ListSpans& query) {
    const auto request = TRY(request_of(call, query));
    const auto page = TRY(call.services.spans.payloads(request));
    return List<json::Value>{TRY(otlp_of_payloads(page.spans)), or_null(page.next_cursor)};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route phoenix_spans_table[] = {
    route<list_spans>("GET", "/v1/projects/{project}/spans", need(project_read), "Spans with all fields, newest first.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<create_spans>("POST", "/v1/projects/{project}/spans", need(trace_write),
                        "Send spans as JSON; all are accepted, or none.")
        .raw("application/json")
        .responds(202)
        .with_body_limit(telemetry::Ingest::body_limit)
        .on(net::Lane::query)
        .like_phoenix(),
    route<list_otlp_spans>("GET", "/v1/projects/{project}/spans/otlpv1", need(project_read),
                           "Spans with all fields in OTLP/JSON, newest first.")
        .on(net::Lane::query)
        .like_phoenix(),
};

} // namespace

std::span<const Route> phoenix_spans_routes() {
    return phoenix_spans_table;
}

} // namespace hone::api
