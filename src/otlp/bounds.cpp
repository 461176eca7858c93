#include "otlp/bounds.h"

#include "base/text.h"

#include <algorithm>
#include <simdjson.h>

namespace hone::otlp {

namespace {

bool all_zero(std::string_view bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; });
}

} // namespace

const Value* find(const Attributes& attributes, std::string_view key) {
    for (auto attribute = attributes.rbegin(); attribute != attributes.rend(); ++attribute)
        if (attribute->key == key) return &attribute->value;
    return nullptr;
}

std::string_view bounded_text(Batch& batch, std::string_view raw, size_t bytes, std::string_view key, Marks& marks) {
    if (!simdjson::validate_utf8(raw.data(), raw.size())) raw = batch.keep(repair_utf8(raw));
    if (raw.size() <= bytes) return raw;
    marks.truncated.push_back(key);
    return truncate_utf8(raw, bytes);
}

void add_attribute(Attributes& attributes, uint32_t& dropped, KeyValue&& attribute, const Limits& limits,
                   Marks& marks) {
    if (attribute.key.size() <= limits.key_bytes && attributes.size() < limits.attributes) {
        attributes.push_back(std::move(attribute));
        return;
    }
    dropped += dropped != UINT32_MAX;
    if (marks.dropped_keys.size() >= 16) return; // the count includes the rest
    const std::string_view key = truncate_utf8(attribute.key, 64);
    marks.dropped_keys.push_back(key);
    marks.truncated.push_back(key); // never silently: the span lists what was cut
}

std::string_view check_span(Span& span) {
    if (span.trace_id.size() != 16) return "trace id is not 16 bytes";
    if (all_zero(span.trace_id)) return "trace id is zero";
    if (span.span_id.size() != 8) return "span id is not 8 bytes";
    if (all_zero(span.span_id)) return "span id is zero";
    if (all_zero(span.parent_span_id)) span.parent_span_id = {};
    if (!span.parent_span_id.empty() && span.parent_span_id.size() != 8) return "parent span id is not 8 bytes";
    if (span.start_ns == 0) return "start time is missing";
    if (span.start_ns > INT64_MAX || span.end_ns > INT64_MAX) return "time is out of range";
    if (span.kind > 5) span.kind = 0;
    return {};
}

} // namespace hone::otlp
