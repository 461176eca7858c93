// What the readers of other products' exports share: members of JSON trees, times in the forms that are in use, ids
// that stay the same, spans that own their texts. Internal to telemetry/imports.
#pragma once

#include "otlp/message.h"
#include "json/json.h"

#include <initializer_list>
#include <string>
#include <string_view>

namespace hone::telemetry::foreign {

// Null when it is absent, null or not in an object.
const json::Value* find(const json::Value* object, std::string_view name);
// The first that is there.
const json::Value* find(const json::Object& object, std::initializer_list<std::string_view> names);
std::string_view text(const json::Value* value);
std::string_view text(const json::Object& object, std::initializer_list<std::string_view> names);
// A number, or a text of digits; 0 when there is none.
int64_t whole(const json::Value* value);
double real(const json::Value* value);
// RFC 3339, the same with a space or without an offset (UTC), or a number of seconds, ms, µs or ns; 0: none.
uint64_t time_ns(const json::Value* value);

// 16 and 8 bytes: hexadecimal ids and UUIDs (of traces) as they are, any other text hashed.
std::string trace_id(std::string_view id);
std::string span_id(std::string_view id);

// A span whose texts are owned by the batch.
class SpanBuilder {
public:
    explicit SpanBuilder(otlp::Batch& batch) : m_batch(batch) {}

    void ids(std::string trace, std::string own, std::string parent = {});
    void put(std::string_view key, std::string_view text); // nothing for an empty text
    void put(std::string_view key, int64_t number);        // nothing for 0
    // A text as it is, anything else as JSON; nothing for null, {} and [].
    void put_content(std::string_view key, const json::Value* value);
    void put_texts(std::string_view key, const json::Value* list);
    // Marks the span as failed, with an exception.
    void fail(std::string_view type, std::string_view message);
    std::string_view keep(std::string_view text) { return m_batch.keep(std::string(text)); }
    // Into the batch; its first resource and scope.
    void finish();

    otlp::Span span;

private:
    otlp::Batch& m_batch;
};

// A batch with one resource and one scope.
otlp::Batch begin_batch(std::string_view product);

} // namespace hone::telemetry::foreign
