#include "telemetry/span/span_row.h"

#include "otlp/attribute_text.h"
#include "telemetry/span/binary.h"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace hone::telemetry {

namespace {

// Lists spread over numbered keys, and texts that have a column: too many or too long to filter by.
constexpr std::array<std::string_view, 12> unindexed_prefixes{
    "llm.input_messages.",
    "llm.output_messages.",
    "retrieval.documents.",
    "reranker.input_documents.",
    "gen_ai.prompt",
    "gen_ai.completion",
    "reranker.output_documents.",
    "embedding.embeddings.",
    "llm.tools.",
    "input.value",
    "output.value",
    "llm.prompts.",
};

bool is_indexed(const otlp::KeyValue& attribute) {
    if (std::any_of(unindexed_prefixes.begin(), unindexed_prefixes.end(),
                    [&](std::string_view prefix) { return attribute.key.starts_with(prefix); }))
        return false;
    if (const auto* text = attribute.value.text()) return text->size() <= indexed_text_bytes;
    return attribute.value.integer() || attribute.value.real() || attribute.value.flag();
}

void put_index(std::string& out, const otlp::Attributes& attributes) {
    std::vector<const otlp::KeyValue*> kept;
    for (auto attribute = attributes.rbegin(); attribute != attributes.rend(); ++attribute) {
        if (!is_indexed(*attribute)) continue;
        const bool seen =
            std::any_of(kept.begin(), kept.end(), [&](const auto* other) { return other->key == attribute->key; });
        if (!seen) kept.push_back(&*attribute);
        if (kept.size() >= 256) break;
    }
    put_varint(out, kept.size());
    std::string text;
    for (const otlp::KeyValue* attribute : kept) {
        put_text(out, attribute->key);
        if (const auto* plain = attribute->value.text()) {
            put_text(out, *plain);
            continue;
        }
        text.clear();
        otlp::append_value_text(text, attribute->value);
        put_text(out, text);
    }
}

// Counted text written in place: the length is not known before, so it is made first.
template <class Write>
void put_made(std::string& out, std::string& scratch, Write write) {
    scratch.clear();
    write(scratch);
    put_text(out, scratch);
}

void append_attributes(std::string& text, const Span& span) {
    text += '{';
    bool first = true;
    for (const auto& [key, value] : span.raw->attributes) {
        if (!std::exchange(first, false)) text += ',';
        otlp::append_json_string(text, key);
        text += ':';
        // What `input` or `output` holds word for word is not kept twice.
        const auto* plain = value.text();
        if (plain && key == span.input_key && plain->data() == span.input.data())
            text += R"({"$column":"input"})";
        else if (plain && key == span.output_key && plain->data() == span.output.data())
            text += R"({"$column":"output"})";
        else
            otlp::append_value_text(text, value);
    }
    text += '}';
}

void append_number_member(std::string& text, std::string_view name, uint64_t number) {
    if (number == 0) return;
    if (text.size() > 1) text += ',';
    text += '"';
    text += name;
    text += "\":" + std::to_string(number);
}

// What OTLP carries beside attributes; most spans have nothing here: "{}".
void append_wire(std::string& text, const Span& span) {
    const otlp::Span& raw = *span.raw;
    text += '{';
    append_number_member(text, "flags", raw.flags);
    append_number_member(text, "dropped_attributes", raw.dropped_attributes);
    append_number_member(text, "dropped_events", raw.dropped_events);
    append_number_member(text, "dropped_links", raw.dropped_links);
    append_number_member(text, "resource_dropped_attributes", span.resource->dropped_attributes);
    if (raw.end_ns < raw.start_ns) append_number_member(text, "end_ns", raw.end_ns == 0 ? 1 : raw.end_ns);
    const auto member = [&](std::string_view name, std::string_view value) {
        if (value.empty()) return;
        if (text.size() > 1) text += ',';
        text += '"';
        text += name;
        text += "\":";
        otlp::append_json_string(text, value);
    };
    member("trace_state", raw.trace_state);
    member("resource_schema_url", span.resource->schema_url);
    text += '}';
}

void append_scope(std::string& text, const otlp::Scope& scope) {
    text += R"({"name":)";
    otlp::append_json_string(text, scope.name);
    text += R"(,"version":)";
    otlp::append_json_string(text, scope.version);
    text += R"(,"schema_url":)";
    otlp::append_json_string(text, scope.schema_url);
    text += R"(,"attributes":)";
    otlp::append_attribute_text(text, scope.attributes);
    text += '}';
}

void append_events(std::string& text, const std::vector<otlp::Event>& events) {
    text += '[';
    for (const otlp::Event& event : events) {
        if (text.size() > 1) text += ',';
        text += R"({"time_ns":)" + std::to_string(event.time_ns) + R"(,"name":)";
        otlp::append_json_string(text, event.name);
        text += R"(,"dropped_attributes":)" + std::to_string(event.dropped_attributes) + R"(,"attributes":)";
        otlp::append_attribute_text(text, event.attributes);
        text += '}';
    }
    text += ']';
}

std::string hex(std::string_view bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string out;
    for (const char byte : bytes) {
        out += digits[static_cast<unsigned char>(byte) >> 4];
        out += digits[static_cast<unsigned char>(byte) & 15];
    }
    return out;
}

void append_links(std::string& text, const std::vector<otlp::Link>& links) {
    text += '[';
    for (const otlp::Link& link : links) {
        if (text.size() > 1) text += ',';
        text +=
            R"({"trace_id":")" + hex(link.trace_id) + R"(","span_id":")" + hex(link.span_id) + R"(","trace_state":)";
        otlp::append_json_string(text, link.trace_state);
        text += R"(,"flags":)" + std::to_string(link.flags) + R"(,"dropped_attributes":)" +
                std::to_string(link.dropped_attributes) + R"(,"attributes":)";
        otlp::append_attribute_text(text, link.attributes);
        text += '}';
    }
    text += ']';
}

uint64_t hash_bytes(std::string_view bytes) {
    constexpr uint64_t prime = 0x9e3779b97f4a7c15ULL;
    uint64_t hash = bytes.size() * prime;
    const auto mix = [&](uint64_t word) {
        hash = (hash ^ word) * prime;
        hash ^= hash >> 29;
    };
    while (bytes.size() >= 8) {
        uint64_t word = 0;
        std::memcpy(&word, bytes.data(), 8);
        mix(word);
        bytes.remove_prefix(8);
    }
    uint64_t rest = 0;
    std::memcpy(&rest, bytes.data(), bytes.size());
    mix(rest);
    return hash;
}

void put_skeleton(std::string& out, const Span& span) {
    put_text(out, span.parent_id);
    put_number(out, span.duration_ns);
    put_text(out, span.name);
    put_number(out, static_cast<int8_t>(span.kind));
    put_number(out, span.otel_kind);
    put_number(out, static_cast<int8_t>(span.status));
    put_text(out, span.status_message);
    put_text(out, span.service);
    put_text(out, span.version);
    put_text(out, span.model);
    put_text(out, span.provider);
    for (const int64_t tokens : {span.tokens.input, span.tokens.cache_read, span.tokens.cache_write, span.tokens.output,
                                 span.tokens.reasoning})
        put_number(out, tokens);
    put_number(out, span.cost_nano_usd);
    put_number(out, static_cast<int8_t>(span.cost_source));
    put_text(out, span.user_id);
    put_text(out, span.chat_session);
    put_text(out, span.tool_name);
    put_text(out, span.finish_reason);
    put_number(out, span.documents);
    put_text(out, span.exception_type);
    put_text(out, span.exception_message);
    put_varint(out, span.raw->truncated.size());
    for (const std::string_view key : span.raw->truncated) put_text(out, key);
    put_index(out, span.raw->attributes);
    put_index(out, span.resource->attributes);
}

void put_payload(std::string& out, const Span& span) {
    std::string scratch;
    put_text(out, span.input);
    put_text(out, span.input_mime);
    put_text(out, span.output);
    put_text(out, span.output_mime);
    put_made(out, scratch, [&](std::string& text) { append_attributes(text, span); });
    put_made(out, scratch, [&](std::string& text) { otlp::append_attribute_text(text, span.resource->attributes); });
    put_made(out, scratch, [&](std::string& text) { append_scope(text, *span.scope); });
    put_made(out, scratch, [&](std::string& text) { append_events(text, span.raw->events); });
    put_made(out, scratch, [&](std::string& text) { append_links(text, span.raw->links); });
    put_made(out, scratch, [&](std::string& text) { append_wire(text, span); });
}

} // namespace

void append_span_row(std::string& out, const Span& span, std::string_view project, int64_t received_ns) {
    put_text(out, project);
    put_number(out, span.start_ns);
    out += span.trace_id;
    out += span.span_id;
    const size_t hash_at = out.size();
    put_number(out, uint64_t{0});
    put_number(out, received_ns);
    const size_t content_at = out.size();
    put_skeleton(out, span);
    put_payload(out, span);
    const uint64_t hash = hash_bytes(std::string_view(out).substr(content_at));
    std::memcpy(out.data() + hash_at, &hash, sizeof hash);
}

bool read_span_row_head(std::string_view row, SpanRowHead& head) {
    BinaryReader reader(row);
    head.project = reader.text();
    head.start_ns = reader.number<int64_t>();
    head.trace_id = reader.bytes(32);
    head.span_id = reader.bytes(16);
    head.content_hash = reader.number<uint64_t>();
    head.received_ns = reader.number<int64_t>();
    return !reader.failed();
}

} // namespace hone::telemetry
