#include "telemetry/ingest/span_merge.h"

#include "base/text.h"
#include "otlp/attribute_text.h"
#include "otlp/decode.h"
#include "otlp/encode.h"

#include <algorithm>

namespace hone::telemetry {

namespace {

using otlp::Attributes;
using otlp::Event;

constexpr std::string_view from_log = "log.record"; // marks an event that was a log record
constexpr std::string_view operation_details = "gen_ai.client.inference.operation.details";

std::string_view text_of(const Attributes& attributes, std::string_view key) {
    const otlp::Value* value = otlp::find(attributes, key);
    return value && value->text() ? *value->text() : std::string_view();
}

void remove_attribute(Attributes& attributes, std::string_view key) {
    std::erase_if(attributes, [&](const otlp::KeyValue& attribute) { return attribute.key == key; });
}

void set_attribute(Attributes& attributes, std::string_view key, otlp::Value value) {
    remove_attribute(attributes, key);
    attributes.push_back({key, std::move(value)});
}

// Lists and maps as JSON text, which is how spans have messages and tool definitions.
otlp::Value as_span_value(otlp::Batch& batch, const otlp::Value& value) {
    const bool is_list_of_texts =
        value.list() && std::all_of(value.list()->begin(), value.list()->end(),
                                    [](const auto& entry) { return entry.text() != nullptr; });
    if ((!value.list() && !value.map()) || is_list_of_texts) return value;
    std::string text;
    otlp::append_value_text(text, value);
    return {batch.keep(std::move(text))};
}

bool is_content(std::string_view key) {
    return key == "gen_ai.input.messages" || key == "gen_ai.output.messages" || key == "gen_ai.system_instructions" ||
           key == "gen_ai.tool.definitions";
}

// What the span lacks of the event goes to the span; content is not kept twice.
void fill_from_details(otlp::Batch& batch, otlp::Span& span, Event& event) {
    for (const otlp::KeyValue& attribute : event.attributes)
        if (attribute.key.starts_with("gen_ai.") && otlp::find(span.attributes, attribute.key) == nullptr)
            span.attributes.push_back({attribute.key, as_span_value(batch, attribute.value)});
    std::erase_if(event.attributes, [](const otlp::KeyValue& attribute) { return is_content(attribute.key); });
}

// Claude Code logs prompts and responses beside its spans.
void fill_from_claude_code(otlp::Span& span) {
    std::string_view last_response;
    uint64_t last_ns = 0;
    const std::string_view output = text_of(span.attributes, "output.value");
    bool is_own_output = !output.empty();
    for (const Event& event : span.events) {
        if (event.name == "claude_code.user_prompt" && text_of(span.attributes, "input.value").empty() &&
            text_of(span.attributes, "user_prompt").empty())
            if (const auto prompt = text_of(event.attributes, "prompt"); !prompt.empty())
                set_attribute(span.attributes, "input.value", {prompt});
        const auto response = text_of(event.attributes, "response");
        if (event.name != "claude_code.assistant_response" || response.empty()) continue;
        if (event.time_ns >= last_ns) last_response = response, last_ns = event.time_ns;
        is_own_output = is_own_output && output != response;
    }
    if (!last_response.empty() && !is_own_output) set_attribute(span.attributes, "output.value", {last_response});
}

// The one span of a part; its views point into a copy that `batch` keeps.
Result<otlp::Batch> open_part(otlp::Batch& batch, const std::string& bytes, const otlp::Limits& limits) {
    otlp::Batch part = TRY(otlp::decode_protobuf(batch.keep(bytes), limits));
    if (part.spans.size() != 1 || part.resources.size() != 1 || part.scopes.size() != 1)
        return corrupt("a part of a span is damaged");
    return part;
}

} // namespace

void shape_log_event(otlp::Batch& batch, Event& event) {
    if (event.name.empty()) event.name = text_of(event.attributes, "event.name");
    // "claude_code.api_request" in the body is the full name of "api_request".
    if (const auto body = text_of(event.attributes, "body");
        !event.name.empty() && (body == event.name || body.ends_with("." + std::string(event.name)))) {
        event.name = body;
        remove_attribute(event.attributes, "body");
    }
    if (event.name.empty() && otlp::find(event.attributes, "exception.type") != nullptr) event.name = "exception";
    if (event.name.empty()) event.name = "log";
    // The fields of GenAI's message events are in the body.
    const otlp::Value* body = otlp::find(event.attributes, "body");
    if (event.name.starts_with("gen_ai.") && body && body->map()) {
        const Attributes fields = *body->map();
        remove_attribute(event.attributes, "body");
        for (const otlp::KeyValue& field : fields)
            if (otlp::find(event.attributes, field.key) == nullptr)
                event.attributes.push_back({field.key, as_span_value(batch, field.value)});
    }
    set_attribute(event.attributes, from_log, {true});
}

std::string encode_part(const otlp::Span& span, const otlp::Resource& resource, const otlp::Scope& scope) {
    otlp::Batch batch;
    batch.resources.push_back(resource);
    batch.scopes.push_back(scope);
    batch.spans.push_back(span);
    batch.spans.back().resource = batch.spans.back().scope = 0;
    return otlp::encode_batch(otlp::Encoding::protobuf, batch);
}

void add_log_parts(otlp::Batch& batch, otlp::Span& span, const std::vector<std::string>& parts,
                   const otlp::Limits& limits) {
    std::erase_if(span.events, [](const Event& event) { return otlp::find(event.attributes, from_log) != nullptr; });
    std::vector<Event> events;
    for (const std::string& bytes : parts)
        if (auto part = open_part(batch, bytes, limits); part.ok())
            for (Event& event : part.value().spans.front().events) events.push_back(std::move(event));
    // By time, whatever order the requests came in.
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.time_ns < b.time_ns; });
    uint32_t dropped = 0;
    for (Event& event : events) {
        if (event.name == operation_details) fill_from_details(batch, span, event);
        if (span.events.size() < limits.events)
            span.events.push_back(std::move(event));
        else
            ++dropped;
    }
    span.dropped_events = std::max(span.dropped_events, dropped); // the same when they are merged again
    fill_from_claude_code(span);
}

Result<> add_run(otlp::Batch& batch, const std::vector<std::string>& parts, const otlp::Limits& limits) {
    otlp::Span run;
    otlp::Resource resource;
    otlp::Scope scope;
    std::vector<otlp::Batch> opened_parts;
    for (const std::string& bytes : parts) opened_parts.push_back(TRY(open_part(batch, bytes, limits)));
    // What ends a run knows more than what begins it, also when it arrives first.
    std::stable_partition(opened_parts.begin(), opened_parts.end(),
                          [](const otlp::Batch& part) { return part.spans.front().end_ns == 0; });
    for (otlp::Batch& opened : opened_parts) {
        otlp::Span& part = opened.spans.front();
        run.trace_id = part.trace_id;
        run.span_id = part.span_id;
        if (!part.parent_span_id.empty()) run.parent_span_id = part.parent_span_id;
        if (!part.name.empty()) run.name = part.name;
        if (run.start_ns == 0 || part.start_ns < run.start_ns) run.start_ns = part.start_ns;
        run.end_ns = std::max(run.end_ns, part.end_ns);
        if (part.status != otlp::StatusCode::unset) run.status = part.status, run.status_message = part.status_message;
        for (otlp::KeyValue& attribute : part.attributes)
            set_attribute(run.attributes, attribute.key, std::move(attribute.value));
        if (!part.events.empty()) run.events = std::move(part.events);
        resource = std::move(opened.resources.front());
        scope = std::move(opened.scopes.front());
    }
    if (run.start_ns == 0) return corrupt("a run without parts");
    run.end_ns = std::max(run.end_ns, run.start_ns);
    run.resource = static_cast<uint32_t>(batch.resources.size());
    run.scope = static_cast<uint32_t>(batch.scopes.size());
    batch.resources.push_back(std::move(resource));
    batch.scopes.push_back(std::move(scope));
    batch.spans.push_back(std::move(run));
    return {};
}

} // namespace hone::telemetry
