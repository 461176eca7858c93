// The OTLP trace message as it came off the wire: spans with typed attributes, all texts as views. The decoders make
// it, telemetry/ normalises and stores it, the encoders write it again for export. A Batch owns what its views point
// to, except the request body, which the caller keeps alive. Plain data; one thread at a time.
#pragma once

#include "base/fields.h"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hone::otlp {

struct KeyValue;

struct Bytes {
    std::string_view data;
    friend bool operator==(const Bytes&, const Bytes&) = default;
};

// OTLP's AnyValue; monostate is a value that was not set.
struct Value {
    std::variant<std::monostate, bool, int64_t, double, std::string_view, Bytes, std::vector<Value>,
                 std::vector<KeyValue>>
        data;

    const std::string_view* text() const { return std::get_if<std::string_view>(&data); }
    const int64_t* integer() const { return std::get_if<int64_t>(&data); }
    const double* real() const { return std::get_if<double>(&data); }
    const bool* flag() const { return std::get_if<bool>(&data); }
    const std::vector<Value>* list() const { return std::get_if<std::vector<Value>>(&data); }
    const std::vector<KeyValue>* map() const { return std::get_if<std::vector<KeyValue>>(&data); }
};

struct KeyValue {
    std::string_view key;
    Value value;
};

using Attributes = std::vector<KeyValue>;

// The value of the last attribute with this key, as OTLP's maps have it.
const Value* find(const Attributes& attributes, std::string_view key);

struct Event {
    uint64_t time_ns = 0;
    std::string_view name;
    Attributes attributes;
    uint32_t dropped_attributes = 0;
};

struct Link {
    std::string_view trace_id; // 16 raw bytes
    std::string_view span_id;  // 8 raw bytes
    std::string_view trace_state;
    Attributes attributes;
    uint32_t dropped_attributes = 0;
    uint32_t flags = 0;
};

struct Resource {
    Attributes attributes;
    uint32_t dropped_attributes = 0;
    std::string_view schema_url;
};

struct Scope {
    std::string_view name;
    std::string_view version;
    Attributes attributes;
    uint32_t dropped_attributes = 0;
    std::string_view schema_url;
};

enum class StatusCode : uint8_t { unset = 0, ok = 1, error = 2 };

constexpr auto enum_names(StatusCode) {
    return std::array{EnumName{StatusCode::unset, "unset"}, EnumName{StatusCode::ok, "ok"},
                      EnumName{StatusCode::error, "error"}};
}

struct Span {
    std::string_view trace_id;       // 16 raw bytes
    std::string_view span_id;        // 8 raw bytes
    std::string_view parent_span_id; // 8 raw bytes, or empty
    std::string_view trace_state;
    uint32_t flags = 0;
    std::string_view name;
    uint32_t kind = 0;
    uint64_t start_ns = 0;
    uint64_t end_ns = 0;
    Attributes attributes;
    uint32_t dropped_attributes = 0;
    std::vector<Event> events;
    uint32_t dropped_events = 0;
    std::vector<Link> links;
    uint32_t dropped_links = 0;
    StatusCode status = StatusCode::unset;
    std::string_view status_message;

    uint32_t resource = 0;                      // index into Batch::resources
    uint32_t scope = 0;                         // index into Batch::scopes
    std::vector<std::string_view> truncated;    // keys whose values were cut to the cap
    std::vector<std::string_view> dropped_keys; // keys of attributes that were left out
};

// Why one span was left out of the batch; the rest is kept.
struct Rejection {
    std::string reason; // a fixed phrase, counted in the ledger: "trace id is not 16 bytes"
    uint32_t resource = 0;
};

struct Batch {
    std::vector<Resource> resources;
    std::vector<Scope> scopes;
    std::vector<Span> spans;
    std::vector<Rejection> rejected;

    // Texts that are not part of the request body: decoded ids, repaired or unescaped texts.
    std::string_view keep(std::string text) { return texts.emplace_back(std::move(text)); }
    std::deque<std::string> texts;
    std::shared_ptr<void> document; // the JSON parser, whose buffer holds the texts; opaque to keep its header out
};

// Bounds on what is accepted. Over the first group a value is cut or left out and marked; over the second the span
// is rejected alone; over the third the request is refused.
struct Limits {
    size_t text_bytes = 1 << 20; // one attribute text
    size_t name_bytes = 4096;    // span, event and scope names, status messages get text_bytes
    size_t key_bytes = 1024;     // longer keys are left out
    size_t attributes = 2048;    // per span, event, link, resource, list or map
    size_t events = 4096;
    size_t links = 1024;

    int value_depth = 32;
    size_t span_bytes = 16 << 20;

    size_t spans = 200'000;
    size_t resources = 20'000;
};

} // namespace hone::otlp
