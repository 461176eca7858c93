#include "otlp/bounds.h"
#include "otlp/decode.h"

#include <protozero/pbf_reader.hpp>

namespace hone::otlp {

namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

std::string_view view(protozero::data_view data) {
    return {data.data(), data.size()};
}

constexpr uint32_t key(uint32_t field) {
    return protozero::tag_and_type(field, pbf_wire_type::length_delimited);
}
constexpr uint32_t varint(uint32_t field) {
    return protozero::tag_and_type(field, pbf_wire_type::varint);
}
constexpr uint32_t fixed64(uint32_t field) {
    return protozero::tag_and_type(field, pbf_wire_type::fixed64);
}
constexpr uint32_t fixed32(uint32_t field) {
    return protozero::tag_and_type(field, pbf_wire_type::fixed32);
}
bool is(const pbf_reader& message, uint32_t field) {
    return message.tag_and_type() == key(field);
}
bool is_varint(const pbf_reader& message, uint32_t field) {
    return message.tag_and_type() == varint(field);
}

// A span that cannot be kept; caught where spans are read, so that the rest of the batch stays.
struct SpanRefused {
    std::string_view reason;
};

// Field numbers of opentelemetry/proto/{trace,common,resource}/v1. A field whose wire type is not the expected one is
// skipped like an unknown field.
class Decoder {
public:
    explicit Decoder(const Limits& limits) : m_limits(limits) {}

    Result<Batch> decode(std::string_view body) {
        try {
            pbf_reader request(body.data(), body.size());
            while (request.next(1, pbf_wire_type::length_delimited)) {
                if (m_batch.resources.size() >= m_limits.resources)
                    return too_large("too many resources in one request");
                resource_spans(request.get_message());
                if (m_too_many) return too_large("too many spans in one request");
            }
        } catch (const protozero::exception&) {
            return invalid("the body is not an OTLP trace request in protobuf");
        }
        return std::move(m_batch);
    }

private:
    void resource_spans(pbf_reader message) {
        const auto resource = static_cast<uint32_t>(m_batch.resources.size());
        m_batch.resources.emplace_back();
        Marks marks;
        // The resource usually comes first, but protobuf does not promise it; spans only hold its index.
        while (message.next()) {
            if (message.wire_type() != pbf_wire_type::length_delimited) {
                message.skip();
                continue;
            }
            switch (message.tag()) {
            case 1:
                resource_attributes(message.get_message(), m_batch.resources[resource], marks);
                break;
            case 2:
            case 1000:
                scope_spans(message.get_message(), resource);
                break; // 1000: instrumentation library, until 2022
            case 3:
                m_batch.resources[resource].schema_url = name(message, "schema_url", marks);
                break;
            default:
                message.skip();
            }
        }
    }

    void resource_attributes(pbf_reader message, Resource& resource, Marks& marks) {
        try {
            while (message.next()) {
                if (is(message, 1))
                    attribute(message, resource.attributes, resource.dropped_attributes, marks, 0);
                else if (is_varint(message, 2))
                    resource.dropped_attributes += message.get_uint32();
                else
                    message.skip();
            }
        } catch (const SpanRefused&) { // a resource nested too deep: its spans are worth more than it
            resource.dropped_attributes++;
        }
    }

    void scope_spans(pbf_reader message, uint32_t resource) {
        const auto scope = static_cast<uint32_t>(m_batch.scopes.size());
        m_batch.scopes.emplace_back();
        Marks marks;
        while (message.next()) {
            if (is(message, 1))
                scope_fields(message.get_message(), m_batch.scopes[scope], marks);
            else if (is(message, 2))
                span(message.get_view(), resource, scope);
            else if (is(message, 3))
                m_batch.scopes[scope].schema_url = name(message, "schema_url", marks);
            else
                message.skip();
        }
    }

    void scope_fields(pbf_reader message, Scope& scope, Marks& marks) {
        try {
            while (message.next()) {
                if (is(message, 1))
                    scope.name = name(message, "scope.name", marks);
                else if (is(message, 2))
                    scope.version = name(message, "scope.version", marks);
                else if (is(message, 3))
                    attribute(message, scope.attributes, scope.dropped_attributes, marks, 0);
                else if (is_varint(message, 4))
                    scope.dropped_attributes += message.get_uint32();
                else
                    message.skip();
            }
        } catch (const SpanRefused&) {
            scope.dropped_attributes++;
        }
    }

    void span(protozero::data_view bytes, uint32_t resource, uint32_t scope) {
        if (m_batch.spans.size() + m_batch.rejected.size() >= m_limits.spans) {
            m_too_many = true;
            return;
        }
        std::string_view reason;
        Span span;
        Marks marks;
        span.resource = resource;
        span.scope = scope;
        try {
            if (bytes.size() > m_limits.span_bytes) throw SpanRefused{"span is too large"};
            pbf_reader message(bytes);
            while (message.next()) span_field(message, span, marks);
            reason = check_span(span);
        } catch (const SpanRefused& refused) {
            reason = refused.reason;
        } catch (const protozero::exception&) {
            reason = "span is malformed";
        }
        if (!reason.empty()) {
            m_batch.rejected.push_back({std::string(reason), resource});
            return;
        }
        span.truncated = std::move(marks.truncated);
        span.dropped_keys = std::move(marks.dropped_keys);
        m_batch.spans.push_back(std::move(span));
    }

    void span_field(pbf_reader& message, Span& span, Marks& marks) {
        switch (message.tag_and_type()) {
        case key(1):
            span.trace_id = view(message.get_view());
            break;
        case key(2):
            span.span_id = view(message.get_view());
            break;
        case key(3):
            span.trace_state = text(message, "trace_state", marks);
            break;
        case key(4):
            span.parent_span_id = view(message.get_view());
            break;
        case key(5):
            span.name = name(message, "name", marks);
            break;
        case varint(6):
            span.kind = message.get_uint32();
            break;
        case fixed64(7):
            span.start_ns = message.get_fixed64();
            break;
        case fixed64(8):
            span.end_ns = message.get_fixed64();
            break;
        case key(9):
            attribute(message, span.attributes, span.dropped_attributes, marks, 0);
            break;
        case varint(10):
            span.dropped_attributes += message.get_uint32();
            break;
        case key(11):
            event(message, span, marks);
            break;
        case varint(12):
            span.dropped_events += message.get_uint32();
            break;
        case key(13):
            link(message, span, marks);
            break;
        case varint(14):
            span.dropped_links += message.get_uint32();
            break;
        case key(15):
            status(message.get_message(), span, marks);
            break;
        case fixed32(16):
            span.flags = message.get_fixed32();
            break;
        default:
            message.skip();
        }
    }

    void status(pbf_reader message, Span& span, Marks& marks) {
        while (message.next()) {
            if (is(message, 2))
                span.status_message = text(message, "status_message", marks);
            else if (is_varint(message, 3)) {
                const uint32_t code = message.get_uint32();
                span.status = code <= 2 ? static_cast<StatusCode>(code) : StatusCode::unset;
            } else
                message.skip();
        }
    }

    void event(pbf_reader& parent, Span& span, Marks& marks) {
        pbf_reader message = parent.get_message();
        if (span.events.size() >= m_limits.events) {
            span.dropped_events++;
            return;
        }
        Event& event = span.events.emplace_back();
        while (message.next()) {
            switch (message.tag_and_type()) {
            case fixed64(1):
                event.time_ns = message.get_fixed64();
                break;
            case key(2):
                event.name = name(message, "event.name", marks);
                break;
            case key(3):
                attribute(message, event.attributes, event.dropped_attributes, marks, 0);
                break;
            case varint(4):
                event.dropped_attributes += message.get_uint32();
                break;
            default:
                message.skip();
            }
        }
    }

    void link(pbf_reader& parent, Span& span, Marks& marks) {
        pbf_reader message = parent.get_message();
        if (span.links.size() >= m_limits.links) {
            span.dropped_links++;
            return;
        }
        Link link;
        while (message.next()) {
            switch (message.tag_and_type()) {
            case key(1):
                link.trace_id = view(message.get_view());
                break;
            case key(2):
                link.span_id = view(message.get_view());
                break;
            case key(3):
                link.trace_state = text(message, "link.trace_state", marks);
                break;
            case key(4):
                attribute(message, link.attributes, link.dropped_attributes, marks, 0);
                break;
            case varint(5):
                link.dropped_attributes += message.get_uint32();
                break;
            case fixed32(6):
                link.flags = message.get_fixed32();
                break;
            default:
                message.skip();
            }
        }
        if (link.trace_id.size() == 16 && link.span_id.size() == 8)
            span.links.push_back(std::move(link));
        else
            span.dropped_links++;
    }

    void attribute(pbf_reader& parent, Attributes& attributes, uint32_t& dropped, Marks& marks, int depth) {
        pbf_reader message = parent.get_message();
        KeyValue attribute;
        protozero::data_view value{"", 0};
        while (message.next()) {
            if (is(message, 1))
                attribute.key = bounded_text(m_batch, view(message.get_view()), SIZE_MAX, {}, marks);
            else if (is(message, 2))
                value = message.get_view(); // the key may follow it
            else
                message.skip();
        }
        any_value(pbf_reader(value), attribute.value, attribute.key, marks, depth);
        add_attribute(attributes, dropped, std::move(attribute), m_limits, marks);
    }

    void any_value(pbf_reader message, Value& value, std::string_view name, Marks& marks, int depth) {
        if (depth > m_limits.value_depth) throw SpanRefused{"attribute is nested too deep"};
        while (message.next()) {
            switch (message.tag_and_type()) {
            case key(1):
                value.data = text(message, name, marks);
                break;
            case varint(2):
                value.data = message.get_bool();
                break;
            case varint(3):
                value.data = message.get_int64();
                break;
            case fixed64(4):
                value.data = message.get_double();
                break;
            case key(5):
                list(message.get_message(), value.data.emplace<std::vector<Value>>(), name, marks, depth);
                break;
            case key(6):
                map(message.get_message(), value.data.emplace<Attributes>(), marks, depth);
                break;
            case key(7):
                value.data = Bytes{bytes(message, name, marks)};
                break;
            default:
                message.skip();
            }
        }
    }

    void list(pbf_reader message, std::vector<Value>& values, std::string_view name, Marks& marks, int depth) {
        while (message.next()) {
            if (is(message, 1) && values.size() < m_limits.attributes)
                any_value(message.get_message(), values.emplace_back(), name, marks, depth + 1);
            else {
                if (is(message, 1)) marks.truncated.push_back(name);
                message.skip();
            }
        }
    }

    void map(pbf_reader message, Attributes& values, Marks& marks, int depth) {
        uint32_t dropped = 0;
        while (message.next()) {
            if (is(message, 1))
                attribute(message, values, dropped, marks, depth + 1);
            else
                message.skip();
        }
    }

    std::string_view text(pbf_reader& message, std::string_view key, Marks& marks) {
        return bounded_text(m_batch, view(message.get_view()), m_limits.text_bytes, key, marks);
    }
    std::string_view name(pbf_reader& message, std::string_view key, Marks& marks) {
        return bounded_text(m_batch, view(message.get_view()), m_limits.name_bytes, key, marks);
    }
    std::string_view bytes(pbf_reader& message, std::string_view key, Marks& marks) {
        const std::string_view raw = view(message.get_view());
        if (raw.size() > m_limits.text_bytes) marks.truncated.push_back(key);
        return raw.substr(0, m_limits.text_bytes);
    }

    const Limits& m_limits;
    Batch m_batch;
    bool m_too_many = false;
};

} // namespace

Result<Batch> decode_protobuf(std::string_view body, const Limits& limits) {
    return Decoder(limits).decode(body);
}

} // namespace hone::otlp
