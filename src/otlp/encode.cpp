#include "otlp/encode.h"

#include "base/text.h"
#include "otlp/attribute_text.h"

#include <charconv>
#include <cmath>
#include <map>
#include <protozero/pbf_writer.hpp>

namespace hone::otlp {

namespace {

using protozero::pbf_writer;

void append_whole(std::string& out, auto number) {
    char digits[24];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
    out.append(digits, end);
}

// Comma-separated members of one JSON object; fields with OTLP's default values are left out, as its encoders do.
class Members {
public:
    explicit Members(std::string& out) : m_out(out) { m_out += '{'; }
    std::string& begin(std::string_view name) {
        if (m_any) m_out += ',';
        m_any = true;
        m_out += '"';
        m_out += name;
        m_out += "\":";
        return m_out;
    }
    void text(std::string_view name, std::string_view value) {
        if (!value.empty()) append_json_string(begin(name), value);
    }
    void hex(std::string_view name, std::string_view bytes) {
        if (!bytes.empty()) append_json_string(begin(name), to_hex(bytes));
    }
    void number(std::string_view name, uint32_t value) {
        if (value) append_whole(begin(name), value);
    }
    void wide(std::string_view name, uint64_t value) {
        begin(name) += '"';
        append_whole(m_out, value);
        m_out += '"';
    }
    void attributes(const Attributes& attributes) {
        if (attributes.empty()) return;
        begin("attributes");
        list(attributes);
    }
    void list(const Attributes& attributes) {
        m_out += '[';
        for (size_t i = 0; i < attributes.size(); ++i) {
            m_out += i ? ",{\"key\":" : "{\"key\":";
            append_json_string(m_out, attributes[i].key);
            m_out += ",\"value\":";
            append_value_json(m_out, attributes[i].value);
            m_out += '}';
        }
        m_out += ']';
    }
    void end() { m_out += '}'; }

private:
    std::string& m_out;
    bool m_any = false;
};

void append_events_json(std::string& out, const std::vector<Event>& events) {
    out += '[';
    for (size_t i = 0; i < events.size(); ++i) {
        if (i) out += ',';
        Members members(out);
        members.wide("timeUnixNano", events[i].time_ns);
        members.text("name", events[i].name);
        members.attributes(events[i].attributes);
        members.number("droppedAttributesCount", events[i].dropped_attributes);
        members.end();
    }
    out += ']';
}

void append_links_json(std::string& out, const std::vector<Link>& links) {
    out += '[';
    for (size_t i = 0; i < links.size(); ++i) {
        if (i) out += ',';
        Members members(out);
        members.hex("traceId", links[i].trace_id);
        members.hex("spanId", links[i].span_id);
        members.text("traceState", links[i].trace_state);
        members.attributes(links[i].attributes);
        members.number("droppedAttributesCount", links[i].dropped_attributes);
        members.number("flags", links[i].flags);
        members.end();
    }
    out += ']';
}

void put_value(pbf_writer writer, const Value& value);

void put_attribute(pbf_writer& parent, uint32_t field, const KeyValue& attribute) {
    pbf_writer writer(parent, field);
    writer.add_string(1, attribute.key.data(), attribute.key.size());
    put_value(pbf_writer(writer, 2), attribute.value);
}

void put_value(pbf_writer writer, const Value& value) {
    struct Put {
        pbf_writer& writer;
        void operator()(std::monostate) {}
        void operator()(bool flag) { writer.add_bool(2, flag); }
        void operator()(int64_t number) { writer.add_int64(3, number); }
        void operator()(double number) { writer.add_double(4, number); }
        void operator()(std::string_view text) { writer.add_string(1, text.data(), text.size()); }
        void operator()(const Bytes& bytes) { writer.add_bytes(7, bytes.data.data(), bytes.data.size()); }
        void operator()(const std::vector<Value>& list) {
            pbf_writer values(writer, 5);
            for (const Value& entry : list) {
                if (entry.data.index() == 0)
                    values.add_message(1, std::string()); // the writer would leave it out
                else
                    put_value(pbf_writer(values, 1), entry);
            }
        }
        void operator()(const Attributes& map) {
            pbf_writer values(writer, 6);
            for (const KeyValue& entry : map) put_attribute(values, 1, entry);
        }
    };
    std::visit(Put{writer}, value.data);
}

void put_text(pbf_writer& writer, uint32_t field, std::string_view text) {
    if (!text.empty()) writer.add_string(field, text.data(), text.size());
}

void put_count(pbf_writer& writer, uint32_t field, uint32_t count) {
    if (count) writer.add_uint32(field, count);
}

void put_attributes(pbf_writer& writer, uint32_t field, const Attributes& attributes) {
    for (const KeyValue& attribute : attributes) put_attribute(writer, field, attribute);
}

void put_events(pbf_writer& writer, const Span& span) {
    for (const Event& event : span.events) {
        pbf_writer message(writer, 11);
        message.add_fixed64(1, event.time_ns);
        put_text(message, 2, event.name);
        put_attributes(message, 3, event.attributes);
        put_count(message, 4, event.dropped_attributes);
    }
    put_count(writer, 12, span.dropped_events);
}

void put_links(pbf_writer& writer, const Span& span) {
    for (const Link& link : span.links) {
        pbf_writer message(writer, 13);
        put_text(message, 1, link.trace_id);
        put_text(message, 2, link.span_id);
        put_text(message, 3, link.trace_state);
        put_attributes(message, 4, link.attributes);
        put_count(message, 5, link.dropped_attributes);
        if (link.flags) message.add_fixed32(6, link.flags);
    }
    put_count(writer, 14, span.dropped_links);
}

void put_span(pbf_writer writer, const Span& span) {
    put_text(writer, 1, span.trace_id);
    put_text(writer, 2, span.span_id);
    put_text(writer, 3, span.trace_state);
    put_text(writer, 4, span.parent_span_id);
    put_text(writer, 5, span.name);
    put_count(writer, 6, span.kind);
    writer.add_fixed64(7, span.start_ns);
    writer.add_fixed64(8, span.end_ns);
    put_attributes(writer, 9, span.attributes);
    put_count(writer, 10, span.dropped_attributes);
    put_events(writer, span);
    put_links(writer, span);
    if (span.status != StatusCode::unset || !span.status_message.empty()) {
        pbf_writer status(writer, 15);
        put_text(status, 2, span.status_message);
        put_count(status, 3, static_cast<uint32_t>(span.status));
    }
    if (span.flags) writer.add_fixed32(16, span.flags);
}

using Groups = std::map<uint32_t, std::map<uint32_t, std::vector<const Span*>>>; // resource -> scope -> spans

Groups group(const Batch& batch) {
    Groups groups;
    for (const Span& span : batch.spans) groups[span.resource][span.scope].push_back(&span);
    return groups;
}

std::string encode_batch_protobuf(const Batch& batch) {
    std::string out;
    pbf_writer request(out);
    for (const auto& [resource_index, scopes] : group(batch)) {
        const Resource& resource = batch.resources[resource_index];
        pbf_writer resource_spans(request, 1);
        {
            pbf_writer message(resource_spans, 1);
            put_attributes(message, 1, resource.attributes);
            put_count(message, 2, resource.dropped_attributes);
        }
        for (const auto& [scope_index, spans] : scopes) {
            const Scope& scope = batch.scopes[scope_index];
            pbf_writer scope_spans(resource_spans, 2);
            {
                pbf_writer message(scope_spans, 1);
                put_text(message, 1, scope.name);
                put_text(message, 2, scope.version);
                put_attributes(message, 3, scope.attributes);
                put_count(message, 4, scope.dropped_attributes);
            }
            for (const Span* span : spans) put_span(pbf_writer(scope_spans, 2), *span);
            put_text(scope_spans, 3, scope.schema_url);
        }
        put_text(resource_spans, 3, resource.schema_url);
    }
    return out;
}

void append_scope_spans_json(std::string& out, const Scope& scope, const std::vector<const Span*>& spans) {
    Members scope_spans(out);
    {
        Members message(scope_spans.begin("scope"));
        message.text("name", scope.name);
        message.text("version", scope.version);
        message.attributes(scope.attributes);
        message.number("droppedAttributesCount", scope.dropped_attributes);
        message.end();
    }
    scope_spans.begin("spans") += '[';
    for (size_t i = 0; i < spans.size(); ++i) {
        if (i) out += ',';
        append_span_json(out, *spans[i]);
    }
    out += ']';
    scope_spans.text("schemaUrl", scope.schema_url);
    scope_spans.end();
}

std::string encode_batch_json(const Batch& batch) {
    std::string out = "{\"resourceSpans\":[";
    bool first = true;
    for (const auto& [resource_index, scopes] : group(batch)) {
        const Resource& resource = batch.resources[resource_index];
        if (!std::exchange(first, false)) out += ',';
        Members resource_spans(out);
        {
            Members message(resource_spans.begin("resource"));
            message.attributes(resource.attributes);
            message.number("droppedAttributesCount", resource.dropped_attributes);
            message.end();
        }
        resource_spans.begin("scopeSpans") += '[';
        bool first_scope = true;
        for (const auto& [scope_index, spans] : scopes) {
            if (!std::exchange(first_scope, false)) out += ',';
            append_scope_spans_json(out, batch.scopes[scope_index], spans);
        }
        out += ']';
        resource_spans.text("schemaUrl", resource.schema_url);
        resource_spans.end();
    }
    return out + "]}";
}

} // namespace

void append_value_json(std::string& out, const Value& value) {
    struct Writer {
        std::string& out;
        void operator()(std::monostate) { out += "{}"; }
        void operator()(bool flag) { out += flag ? R"({"boolValue":true})" : R"({"boolValue":false})"; }
        void operator()(int64_t number) {
            out += R"({"intValue":")";
            append_whole(out, number);
            out += "\"}";
        }
        void operator()(double number) {
            out += R"({"doubleValue":)";
            if (std::isfinite(number))
                append_value_text(out, Value{number});
            else
                out += std::isnan(number) ? "\"NaN\"" : number > 0 ? "\"Infinity\"" : "\"-Infinity\"";
            out += '}';
        }
        void operator()(std::string_view text) {
            out += R"({"stringValue":)";
            append_json_string(out, text);
            out += '}';
        }
        void operator()(const Bytes& bytes) { out += R"({"bytesValue":")" + to_base64(bytes.data) + "\"}"; }
        void operator()(const std::vector<Value>& list) {
            out += R"({"arrayValue":{"values":[)";
            for (size_t i = 0; i < list.size(); ++i) {
                if (i) out += ',';
                append_value_json(out, list[i]);
            }
            out += "]}}";
        }
        void operator()(const Attributes& map) {
            Members outer(out);
            Members inner(outer.begin("kvlistValue"));
            inner.begin("values");
            inner.list(map);
            inner.end();
            outer.end();
        }
    };
    std::visit(Writer{out}, value.data);
}

void append_span_json(std::string& out, const Span& span) {
    Members members(out);
    members.hex("traceId", span.trace_id);
    members.hex("spanId", span.span_id);
    members.text("traceState", span.trace_state);
    members.hex("parentSpanId", span.parent_span_id);
    members.number("flags", span.flags);
    members.text("name", span.name);
    members.number("kind", span.kind);
    members.wide("startTimeUnixNano", span.start_ns);
    members.wide("endTimeUnixNano", span.end_ns);
    members.attributes(span.attributes);
    members.number("droppedAttributesCount", span.dropped_attributes);
    if (!span.events.empty()) append_events_json(members.begin("events"), span.events);
    members.number("droppedEventsCount", span.dropped_events);
    if (!span.links.empty()) append_links_json(members.begin("links"), span.links);
    members.number("droppedLinksCount", span.dropped_links);
    Members status(members.begin("status"));
    status.text("message", span.status_message);
    status.number("code", static_cast<uint32_t>(span.status));
    status.end();
    members.end();
}

std::string encode_batch(Encoding encoding, const Batch& batch) {
    return encoding == Encoding::json ? encode_batch_json(batch) : encode_batch_protobuf(batch);
}

std::string encode_response(Encoding encoding, int64_t rejected, std::string_view message) {
    std::string out;
    const bool partial = rejected != 0 || !message.empty();
    if (encoding == Encoding::protobuf) {
        pbf_writer response(out);
        if (!partial) return out;
        pbf_writer success(response, 1);
        if (rejected) success.add_int64(1, rejected);
        put_text(success, 2, message);
        success.commit();
        return out;
    }
    if (!partial) return "{}";
    out = R"({"partialSuccess":{"rejectedSpans":")";
    append_whole(out, rejected);
    out += R"(","errorMessage":)" + quote_json(message) + "}}";
    return out;
}

std::string encode_status(Encoding encoding, int code, std::string_view message) {
    std::string out;
    if (encoding == Encoding::protobuf) {
        pbf_writer status(out);
        status.add_int32(1, code);
        put_text(status, 2, message);
        return out;
    }
    out = R"({"code":)";
    append_whole(out, code);
    out += R"(,"message":)" + quote_json(message) + "}";
    return out;
}

} // namespace hone::otlp
