// Stored spans as OTLP again (declared in span_store.h): every attribute with its type, as it was sent.
#include "base/text.h"
#include "otlp/attribute_text.h"
#include "telemetry/query/span_store.h"

#include <algorithm>
#include <map>
#include <simdjson.h>

namespace hone::telemetry {

namespace {

namespace dom = simdjson::dom;

Result<std::string_view> raw_id(const std::string& hex, otlp::Batch& batch) {
    return batch.keep(TRY(from_hex(hex)));
}

std::string_view otlp_text_of(const dom::element& object, const char* name, otlp::Batch& batch) {
    std::string_view text;
    return object[name].get(text) == simdjson::SUCCESS ? batch.keep(std::string(text)) : std::string_view();
}

uint64_t number_of(const dom::element& object, const char* name) {
    uint64_t number = 0;
    return object[name].get(number) == simdjson::SUCCESS ? number : 0;
}

uint32_t count_of(const dom::element& object, const char* name) {
    return static_cast<uint32_t>(std::min<uint64_t>(number_of(object, name), UINT32_MAX));
}

Result<otlp::Attributes> attributes_of(const dom::element& object, otlp::Batch& batch) {
    dom::element attributes;
    if (object["attributes"].get(attributes) != simdjson::SUCCESS) return otlp::Attributes{};
    // The reader's views must outlive this parser: it keeps a copy of its own.
    return otlp::read_attribute_text(batch.keep(simdjson::minify(attributes)), batch);
}

Result<> add_otlp_events(const std::string& json, otlp::Span& span, otlp::Batch& batch) {
    dom::parser parser;
    dom::array list;
    if (parser.parse(json).get(list) != simdjson::SUCCESS) return corrupt("stored events are damaged");
    for (const dom::element& entry : list) {
        otlp::Event event;
        event.time_ns = number_of(entry, "time_ns");
        event.name = otlp_text_of(entry, "name", batch);
        event.dropped_attributes = count_of(entry, "dropped_attributes");
        event.attributes = TRY(attributes_of(entry, batch));
        span.events.push_back(std::move(event));
    }
    return {};
}

Result<> add_links(const std::string& json, otlp::Span& span, otlp::Batch& batch) {
    dom::parser parser;
    dom::array list;
    if (parser.parse(json).get(list) != simdjson::SUCCESS) return corrupt("stored links are damaged");
    for (const dom::element& entry : list) {
        otlp::Link link;
        link.trace_id = TRY(raw_id(std::string(otlp_text_of(entry, "trace_id", batch)), batch));
        link.span_id = TRY(raw_id(std::string(otlp_text_of(entry, "span_id", batch)), batch));
        link.trace_state = otlp_text_of(entry, "trace_state", batch);
        link.flags = count_of(entry, "flags");
        link.dropped_attributes = count_of(entry, "dropped_attributes");
        link.attributes = TRY(attributes_of(entry, batch));
        span.links.push_back(std::move(link));
    }
    return {};
}

Result<> add_wire(const std::string& json, otlp::Span& span, otlp::Batch& batch) {
    dom::parser parser;
    dom::element wire;
    if (parser.parse(json).get(wire) != simdjson::SUCCESS) return corrupt("stored fields of a span are damaged");
    span.flags = count_of(wire, "flags");
    span.dropped_attributes = count_of(wire, "dropped_attributes");
    span.dropped_events = count_of(wire, "dropped_events");
    span.dropped_links = count_of(wire, "dropped_links");
    if (const uint64_t end = number_of(wire, "end_ns"); end > 0) span.end_ns = end; // before the start
    span.trace_state = otlp_text_of(wire, "trace_state", batch);
    return {};
}

Result<> add_scope(const std::string& json, otlp::Scope& scope, otlp::Batch& batch) {
    dom::parser parser;
    dom::element stored;
    if (parser.parse(json).get(stored) != simdjson::SUCCESS) return corrupt("a stored scope is damaged");
    scope.name = otlp_text_of(stored, "name", batch);
    scope.version = otlp_text_of(stored, "version", batch);
    scope.schema_url = otlp_text_of(stored, "schema_url", batch);
    scope.attributes = TRY(attributes_of(stored, batch));
    return {};
}

// Resource and scope; spans that came with the same ones share them again.
Result<> add_origin(const SpanPayload& payload, otlp::Span& span, otlp::Batch& batch,
                    std::map<std::string, uint32_t>& known) {
    dom::parser parser;
    dom::element wire;
    if (parser.parse(payload.wire).get(wire) != simdjson::SUCCESS)
        return corrupt("stored fields of a span are damaged");
    otlp::Resource resource;
    resource.dropped_attributes = count_of(wire, "resource_dropped_attributes");
    resource.schema_url = otlp_text_of(wire, "resource_schema_url", batch);
    const std::string key = payload.resource + '\0' + payload.scope + '\0' +
                            std::to_string(resource.dropped_attributes) + '\0' + std::string(resource.schema_url);
    const auto [place, is_new] = known.try_emplace(key, static_cast<uint32_t>(batch.resources.size()));
    span.resource = span.scope = place->second;
    if (!is_new) return {};
    resource.attributes = TRY(otlp::read_attribute_text(batch.keep(payload.resource), batch));
    batch.resources.push_back(std::move(resource));
    return add_scope(payload.scope, batch.scopes.emplace_back(), batch);
}

} // namespace

// Puts the texts of `input` and `output` back where {"$column":…} stands for them. In JSON this sequence of characters
// cannot stand inside a text, and a map that looks like it is wrapped into {"$map":…} when written.
std::string attributes_in_full(const SpanPayload& payload) {
    std::string text = payload.attributes;
    for (const auto& [mark, column] :
         {std::pair<std::string_view, const std::string*>{R"({"$column":"input"})", &payload.input},
          std::pair<std::string_view, const std::string*>{R"({"$column":"output"})", &payload.output}}) {
        for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
            if (std::string_view(text).substr(0, at).ends_with(R"("$map":)")) continue;
            std::string quoted;
            otlp::append_json_string(quoted, *column);
            text.replace(at, mark.size(), quoted);
            break; // a column stands for one attribute
        }
    }
    return text;
}

Result<otlp::Batch> to_otlp(const std::vector<SpanPayload>& spans) {
    otlp::Batch batch;
    std::map<std::string, uint32_t> known;
    for (const SpanPayload& payload : spans) {
        otlp::Span span;
        TRY(add_origin(payload, span, batch, known));
        span.trace_id = TRY(raw_id(payload.row.trace_id, batch));
        span.span_id = TRY(raw_id(payload.row.span_id, batch));
        span.parent_span_id = TRY(raw_id(payload.row.parent_id, batch));
        span.name = batch.keep(payload.row.name);
        span.kind = payload.row.otel_kind;
        span.start_ns = static_cast<uint64_t>(payload.row.start_ns);
        span.end_ns = static_cast<uint64_t>(payload.row.start_ns + payload.row.duration_ns);
        span.status = payload.row.status;
        span.status_message = batch.keep(payload.row.status_message);
        span.attributes = TRY(otlp::read_attribute_text(batch.keep(attributes_in_full(payload)), batch));
        TRY(add_otlp_events(payload.events, span, batch));
        TRY(add_links(payload.links, span, batch));
        TRY(add_wire(payload.wire, span, batch));
        batch.spans.push_back(std::move(span));
    }
    return batch;
}

} // namespace hone::telemetry
