#include "telemetry/targets/payload_conversation.h"

#include "otlp/attribute_text.h"
#include "telemetry/query/borrowed_texts.h"
#include "json/json.h"

namespace hone::telemetry {

Conversation conversation_of(const SpanPayload& payload) {
    otlp::Batch batch;
    otlp::Span span;
    auto attributes = otlp::read_attribute_text(batch.keep(attributes_in_full(payload)), batch);
    if (!attributes.ok()) return {};
    span.attributes = std::move(attributes).value();
    const auto events = json::parse(payload.events);
    if (events.ok() && events.value().is_array())
        for (const json::Value& each : events.value().get_array()) {
            const json::Object* object = each.if_object();
            const json::Value* name = object ? object->if_contains("name") : nullptr;
            const json::Value* fields = object ? object->if_contains("attributes") : nullptr;
            if (!name || !name->is_string() || !fields) continue;
            otlp::Event event;
            event.name = batch.keep(std::string(name->get_string()));
            auto read = otlp::read_attribute_text(batch.keep(json::print(*fields)), batch);
            if (read.ok()) event.attributes = std::move(read).value();
            span.events.push_back(std::move(event));
        }
    Conversation conversation = derive_conversation(span);
    add_borrowed_messages(payload, conversation);
    return conversation;
}

} // namespace hone::telemetry
