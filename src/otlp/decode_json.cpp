#include "base/text.h"
#include "otlp/bounds.h"
#include "otlp/decode.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <simdjson.h>

namespace hone::otlp {

namespace {

namespace dom = simdjson::dom;

struct JsonSpanRefused {
    std::string_view reason;
};

constexpr size_t json_depth = 256; // an attribute level costs three: 32 levels and the envelope fit

int base64_digit(char letter) {
    if (letter >= 'A' && letter <= 'Z') return letter - 'A';
    if (letter >= 'a' && letter <= 'z') return letter - 'a' + 26;
    if (letter >= '0' && letter <= '9') return letter - '0' + 52;
    if (letter == '+' || letter == '-') return 62;
    if (letter == '/' || letter == '_') return 63;
    return -1;
}

// Both alphabets, padding optional, as protobuf's JSON mapping requires.
std::string decode_base64(std::string_view text) {
    std::string bytes;
    bytes.reserve(text.size() * 3 / 4);
    uint32_t bits = 0;
    int count = 0;
    for (const char letter : text) {
        if (letter == '=') break;
        const int digit = base64_digit(letter);
        if (digit < 0) throw JsonSpanRefused{"bytes value is not base64"};
        bits = bits << 6 | static_cast<uint32_t>(digit);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes.push_back(static_cast<char>(bits >> count & 0xff));
    }
    return bytes;
}

// Absent and null are the same in OTLP/JSON. Of a repeated field the first counts.
dom::element field(const dom::object& object, std::string_view name, bool& found) {
    dom::element value;
    found = object.at_key(name).get(value) == simdjson::SUCCESS && !value.is_null();
    return value;
}

// Calls `visit` with each entry of the list until it returns false; an absent list is empty.
template <class Visit>
void each(const dom::object& object, std::string_view name, Visit visit) {
    bool found = false;
    const dom::element value = field(object, name, found);
    if (!found) return;
    dom::array list;
    if (value.get(list) != simdjson::SUCCESS) throw JsonSpanRefused{"a list is expected"};
    for (const dom::element& entry : list)
        if (!visit(entry)) return;
}

std::string_view text_of(const dom::object& object, std::string_view name) {
    bool found = false;
    const dom::element value = field(object, name, found);
    std::string_view text;
    if (found && value.get(text) != simdjson::SUCCESS) throw JsonSpanRefused{"a text is expected"};
    return text;
}

template <class Integer>
Integer parse_whole(std::string_view text) {
    Integer number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) throw JsonSpanRefused{"a whole number is expected"};
    return number;
}

template <class Integer>
Integer to_whole(const dom::element& value) {
    if (std::string_view text; value.get(text) == simdjson::SUCCESS) return parse_whole<Integer>(text);
    if (int64_t number = 0; value.get(number) == simdjson::SUCCESS && std::in_range<Integer>(number))
        return static_cast<Integer>(number);
    if (uint64_t number = 0; value.get(number) == simdjson::SUCCESS && std::in_range<Integer>(number))
        return static_cast<Integer>(number);
    if (double number = 0; value.get(number) == simdjson::SUCCESS && number == std::floor(number) &&
                           std::abs(number) < 9e15 && (std::is_signed_v<Integer> || number >= 0))
        return static_cast<Integer>(number);
    throw JsonSpanRefused{"a whole number is expected"};
}

uint64_t whole_of(const dom::object& object, std::string_view name) {
    bool found = false;
    const dom::element value = field(object, name, found);
    return found ? to_whole<uint64_t>(value) : 0;
}

uint32_t count_of(const dom::object& object, std::string_view name) {
    return static_cast<uint32_t>(std::min<uint64_t>(whole_of(object, name), UINT32_MAX));
}

double to_real(const dom::element& value) {
    if (double number = 0; value.get(number) == simdjson::SUCCESS) return number;
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) throw JsonSpanRefused{"a number is expected"};
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (text == "Infinity") return std::numeric_limits<double>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) throw JsonSpanRefused{"a number is expected"};
    return number;
}

// Enums are numbers in OTLP/JSON; names as protobuf prints them are common enough to accept.
uint32_t enum_of(const dom::object& object, std::string_view name, std::string_view prefix,
                 std::initializer_list<std::string_view> names) {
    bool found = false;
    const dom::element value = field(object, name, found);
    if (!found) return 0;
    if (std::string_view text; value.get(text) == simdjson::SUCCESS && text.starts_with(prefix)) {
        uint32_t number = 0;
        for (const std::string_view known : names) {
            if (text.substr(prefix.size()) == known) return number;
            ++number;
        }
        return 0;
    }
    return static_cast<uint32_t>(std::min<uint64_t>(to_whole<uint64_t>(value), 1000));
}

class JsonDecoder {
public:
    explicit JsonDecoder(const Limits& limits) : m_limits(limits) {}

    Result<Batch> decode(std::string_view body) {
        auto parser = std::make_shared<dom::parser>();
        m_batch.document = parser;
        if (parser->allocate(std::max<size_t>(body.size(), 64), json_depth) != simdjson::SUCCESS)
            return too_large("the body is too large");
        dom::element root;
        if (const auto error = parser->parse(body.data(), body.size()).get(root); error != simdjson::SUCCESS)
            return invalid(std::string("the body is not JSON: ") + simdjson::error_message(error));
        dom::object request;
        if (root.get(request) != simdjson::SUCCESS) return invalid("the body is not a JSON object");
        try {
            each(request, "resourceSpans", [this](const dom::element& entry) {
                m_too_many = m_too_many || m_batch.resources.size() >= m_limits.resources;
                if (!m_too_many) resource_spans(entry);
                return !m_too_many;
            });
            if (m_too_many) return too_large("too many spans or resources in one request");
        } catch (const JsonSpanRefused& refused) {
            return invalid("the body is not an OTLP trace request: " + std::string(refused.reason));
        }
        return std::move(m_batch);
    }

private:
    static dom::object object_of(const dom::element& value) {
        dom::object object;
        if (value.get(object) != simdjson::SUCCESS) throw JsonSpanRefused{"an object is expected"};
        return object;
    }

    void resource_spans(const dom::element& entry) {
        const dom::object message = object_of(entry);
        const auto resource = static_cast<uint32_t>(m_batch.resources.size());
        m_batch.resources.emplace_back();
        Marks marks;
        bool found = false;
        if (const dom::element value = field(message, "resource", found); found) {
            const dom::object fields = object_of(value);
            Resource& target = m_batch.resources[resource];
            shared_attributes(fields, target.attributes, target.dropped_attributes, marks);
        }
        m_batch.resources[resource].schema_url = name(message, "schemaUrl", marks);
        each(message, "scopeSpans", [&](const dom::element& scope) { return scope_spans(scope, resource), true; });
        each(message, "instrumentationLibrarySpans",
             [&](const dom::element& scope) { return scope_spans(scope, resource), true; });
    }

    void scope_spans(const dom::element& entry, uint32_t resource) {
        const dom::object message = object_of(entry);
        const auto scope = static_cast<uint32_t>(m_batch.scopes.size());
        m_batch.scopes.emplace_back();
        Marks marks;
        bool found = false;
        if (const dom::element value = field(message, "scope", found); found) {
            const dom::object fields = object_of(value);
            Scope& target = m_batch.scopes[scope];
            target.name = name(fields, "name", marks);
            target.version = name(fields, "version", marks);
            shared_attributes(fields, target.attributes, target.dropped_attributes, marks);
        }
        m_batch.scopes[scope].schema_url = name(message, "schemaUrl", marks);
        each(message, "spans", [&](const dom::element& value) { return span(value, resource, scope), !m_too_many; });
    }

    void span(const dom::element& entry, uint32_t resource, uint32_t scope) {
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
            fill(object_of(entry), span, marks);
            reason = check_span(span);
        } catch (const JsonSpanRefused& refused) {
            reason = refused.reason;
        }
        if (!reason.empty()) {
            m_batch.rejected.push_back({std::string(reason), resource});
            return;
        }
        span.truncated = std::move(marks.truncated);
        span.dropped_keys = std::move(marks.dropped_keys);
        m_batch.spans.push_back(std::move(span));
    }

    void fill(const dom::object& message, Span& span, Marks& marks) {
        span.trace_id = id(message, "traceId", "trace id is not hexadecimal");
        span.span_id = id(message, "spanId", "span id is not hexadecimal");
        span.parent_span_id = id(message, "parentSpanId", "parent span id is not hexadecimal");
        span.trace_state = text(message, "traceState", marks);
        span.flags = count_of(message, "flags");
        span.name = name(message, "name", marks);
        span.kind = enum_of(message, "kind", "SPAN_KIND_",
                            {"UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"});
        span.start_ns = whole_of(message, "startTimeUnixNano");
        span.end_ns = whole_of(message, "endTimeUnixNano");
        span.dropped_attributes = count_of(message, "droppedAttributesCount");
        attributes(message, span.attributes, span.dropped_attributes, marks, 0);
        span.dropped_events = count_of(message, "droppedEventsCount");
        span.dropped_links = count_of(message, "droppedLinksCount");
        bool found = false;
        each(message, "events", [&](const dom::element& value) { return event(object_of(value), span, marks), true; });
        each(message, "links", [&](const dom::element& value) { return link(object_of(value), span, marks), true; });
        if (const dom::element value = field(message, "status", found); found) {
            const dom::object status = object_of(value);
            span.status_message = text(status, "message", marks);
            const uint32_t code = enum_of(status, "code", "STATUS_CODE_", {"UNSET", "OK", "ERROR"});
            span.status = code <= 2 ? static_cast<StatusCode>(code) : StatusCode::unset;
        }
    }

    void event(const dom::object& message, Span& span, Marks& marks) {
        if (span.events.size() >= m_limits.events) {
            span.dropped_events++;
            return;
        }
        Event& event = span.events.emplace_back();
        event.time_ns = whole_of(message, "timeUnixNano");
        event.name = name(message, "name", marks);
        event.dropped_attributes = count_of(message, "droppedAttributesCount");
        attributes(message, event.attributes, event.dropped_attributes, marks, 0);
    }

    void link(const dom::object& message, Span& span, Marks& marks) {
        Link link;
        link.trace_id = id(message, "traceId", "link's trace id is not hexadecimal");
        link.span_id = id(message, "spanId", "link's span id is not hexadecimal");
        link.trace_state = text(message, "traceState", marks);
        link.flags = count_of(message, "flags");
        link.dropped_attributes = count_of(message, "droppedAttributesCount");
        attributes(message, link.attributes, link.dropped_attributes, marks, 0);
        if (span.links.size() < m_limits.links && link.trace_id.size() == 16 && link.span_id.size() == 8)
            span.links.push_back(std::move(link));
        else
            span.dropped_links++;
    }

    // Of a resource or scope: one bad attribute costs the ones after it, not the spans.
    void shared_attributes(const dom::object& parent, Attributes& target, uint32_t& dropped, Marks& marks) {
        try {
            dropped = count_of(parent, "droppedAttributesCount");
            attributes(parent, target, dropped, marks, 0);
        } catch (const JsonSpanRefused&) {
            dropped++;
        }
    }

    void attributes(const dom::object& parent, Attributes& target, uint32_t& dropped, Marks& marks, int depth) {
        each(parent, "attributes", [&](const dom::element& entry) {
            attribute(object_of(entry), target, dropped, marks, depth);
            return true;
        });
    }

    void attribute(const dom::object& entry, Attributes& target, uint32_t& dropped, Marks& marks, int depth) {
        KeyValue attribute;
        attribute.key = bounded_text(m_batch, text_of(entry, "key"), SIZE_MAX, {}, marks);
        bool found = false;
        if (const dom::element value = field(entry, "value", found); found)
            any_value(object_of(value), attribute.value, attribute.key, marks, depth);
        add_attribute(target, dropped, std::move(attribute), m_limits, marks);
    }

    void any_value(const dom::object& message, Value& target, std::string_view key, Marks& marks, int depth) {
        if (depth > m_limits.value_depth) throw JsonSpanRefused{"attribute is nested too deep"};
        for (const auto [kind, value] : message) {
            if (value.is_null()) continue;
            if (kind == "stringValue") {
                std::string_view raw;
                if (value.get(raw) != simdjson::SUCCESS) throw JsonSpanRefused{"a text is expected"};
                target.data = bounded_text(m_batch, raw, m_limits.text_bytes, key, marks);
            } else if (kind == "boolValue") {
                bool flag = false;
                if (value.get(flag) != simdjson::SUCCESS) throw JsonSpanRefused{"true or false is expected"};
                target.data = flag;
            } else if (kind == "intValue")
                target.data = to_whole<int64_t>(value);
            else if (kind == "doubleValue")
                target.data = to_real(value);
            else if (kind == "bytesValue")
                target.data = Bytes{bytes(value, key, marks)};
            else if (kind == "arrayValue")
                list(object_of(value), target, key, marks, depth);
            else if (kind == "kvlistValue")
                map(object_of(value), target, marks, depth);
            else
                continue;
            return;
        }
    }

    void list(const dom::object& message, Value& target, std::string_view key, Marks& marks, int depth) {
        auto& values = target.data.emplace<std::vector<Value>>();
        each(message, "values", [&](const dom::element& value) {
            if (values.size() >= m_limits.attributes) return marks.truncated.push_back(key), false;
            any_value(object_of(value), values.emplace_back(), key, marks, depth + 1);
            return true;
        });
    }

    void map(const dom::object& message, Value& target, Marks& marks, int depth) {
        auto& values = target.data.emplace<Attributes>();
        uint32_t dropped = 0;
        each(message, "values", [&](const dom::element& value) {
            attribute(object_of(value), values, dropped, marks, depth + 1);
            return true;
        });
    }

    std::string_view id(const dom::object& message, std::string_view key, std::string_view reason) {
        const std::string_view text = text_of(message, key);
        if (text.empty()) return {};
        auto bytes = from_hex(text);
        if (!bytes.ok()) throw JsonSpanRefused{reason};
        return m_batch.keep(std::move(bytes).value());
    }

    std::string_view bytes(const dom::element& value, std::string_view key, Marks& marks) {
        std::string_view text;
        if (value.get(text) != simdjson::SUCCESS) throw JsonSpanRefused{"a text is expected"};
        const std::string_view raw = m_batch.keep(decode_base64(text));
        if (raw.size() > m_limits.text_bytes) marks.truncated.push_back(key);
        return raw.substr(0, m_limits.text_bytes);
    }

    std::string_view text(const dom::object& message, std::string_view key, Marks& marks) {
        return bounded_text(m_batch, text_of(message, key), m_limits.text_bytes, key, marks);
    }
    std::string_view name(const dom::object& message, std::string_view key, Marks& marks) {
        return bounded_text(m_batch, text_of(message, key), m_limits.name_bytes, key, marks);
    }

    const Limits& m_limits;
    Batch m_batch;
    bool m_too_many = false;
};

} // namespace

Result<Batch> decode_json(std::string_view body, const Limits& limits) {
    return JsonDecoder(limits).decode(body);
}

} // namespace hone::otlp
