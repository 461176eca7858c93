#include "telemetry/span/span_row.h"

#include "otlp/attribute_text.h"
#include "telemetry/span/binary.h"
#include "telemetry/span/text_slices.h"

#include <algorithm>
#include <array>
#include <tuple>
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
    TextSlicer slicer(span.input, span.output);
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
        else if (!plain || !slicer.append_mark(text, *plain))
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

// A row that is being written.
struct RowWriter {
    std::string& out;
    const Span& span;
    std::string_view project;
    int64_t received_ns;
    size_t hash_at = 0;
    std::string scratch{};
};

// Columns that identify a row; they can be read back from its bytes.
template <class Write, class Read>
struct HeadColumn {
    Column column;
    Write write;
    Read read;
};
template <class Write, class Read>
HeadColumn(Column, Write, Read) -> HeadColumn<Write, Read>;

// Columns of the span itself, which the content hash covers.
template <class Write>
struct ContentColumn {
    Column column;
    Write write;
};
template <class Write>
ContentColumn(Column, Write) -> ContentColumn<Write>;

constexpr std::string_view low = "LowCardinality(String)";
constexpr std::string_view zstd = "CODEC(ZSTD(1))";
constexpr std::string_view delta = "CODEC(Delta, ZSTD(1))";
constexpr std::string_view narrow = "CODEC(T64, ZSTD(1))";

constexpr Pack head_columns{
    HeadColumn{{"project", low, zstd, "The project's id."},
               [](RowWriter& row) { put_text(row.out, row.project); },
               [](SpanRowHead& head, BinaryReader& reader) { head.project = reader.text(); }},
    HeadColumn{{"start_ns", "Int64", delta, "Start, UTC nanoseconds."},
               [](RowWriter& row) { put_number(row.out, row.span.start_ns); },
               [](SpanRowHead& head, BinaryReader& reader) { head.start_ns = reader.number<int64_t>(); }},
    HeadColumn{{"trace_id", "FixedString(32)", zstd, "32 hexadecimal digits."},
               [](RowWriter& row) { row.out += row.span.trace_id; },
               [](SpanRowHead& head, BinaryReader& reader) { head.trace_id = reader.bytes(32); }},
    HeadColumn{{"span_id", "FixedString(16)", zstd, "16 hexadecimal digits."},
               [](RowWriter& row) { row.out += row.span.span_id; },
               [](SpanRowHead& head, BinaryReader& reader) { head.span_id = reader.bytes(16); }},
    HeadColumn{{"content_hash", "UInt64", "CODEC(NONE)", "Equal for a span that was sent again unchanged."},
               [](RowWriter& row) {
                   row.hash_at = row.out.size(); // append_span_row writes the hash
                   put_number(row.out, uint64_t{0});
               },
               [](SpanRowHead& head, BinaryReader& reader) { head.content_hash = reader.number<uint64_t>(); }},
    HeadColumn{{"received_ns", "Int64", delta, "When it was received, UTC nanoseconds."},
               [](RowWriter& row) { put_number(row.out, row.received_ns); },
               [](SpanRowHead& head, BinaryReader& reader) { head.received_ns = reader.number<int64_t>(); }},
};

constexpr Pack content_columns{
    ContentColumn{{"parent_id", "String", zstd, "The parent's span id; empty for a root."},
                  [](RowWriter& row) { put_text(row.out, row.span.parent_id); }},
    ContentColumn{{"duration_ns", "Int64", narrow, "Duration, never negative."},
                  [](RowWriter& row) { put_number(row.out, row.span.duration_ns); }},
    ContentColumn{{"name", low, zstd, "The span's name."}, [](RowWriter& row) { put_text(row.out, row.span.name); }},
    ContentColumn{
        {"kind",
         "Enum8('unknown'=0,'llm'=1,'chain'=2,'tool'=3,'retriever'=4,'embedding'=5,'agent'=6,'reranker'=7,'guardrail'="
         "8,'evaluator'=9)",
         zstd, "OpenInference kind."},
        [](RowWriter& row) { put_number(row.out, static_cast<int8_t>(row.span.kind)); }},
    ContentColumn{{"otel_kind", "UInt8", zstd, "OTLP's span kind number."},
                  [](RowWriter& row) { put_number(row.out, row.span.otel_kind); }},
    ContentColumn{{"status", "Enum8('unset'=0,'ok'=1,'error'=2)", zstd, "unset, ok or error."},
                  [](RowWriter& row) { put_number(row.out, static_cast<int8_t>(row.span.status)); }},
    ContentColumn{{"status_message", "String", zstd, "Message of the status."},
                  [](RowWriter& row) { put_text(row.out, row.span.status_message); }},
    ContentColumn{{"service", low, zstd, "service.name."}, [](RowWriter& row) { put_text(row.out, row.span.service); }},
    ContentColumn{{"version", low, zstd, "service.version."},
                  [](RowWriter& row) { put_text(row.out, row.span.version); }},
    ContentColumn{{"model", low, zstd, "The model that generated the response."},
                  [](RowWriter& row) { put_text(row.out, row.span.model); }},
    ContentColumn{{"provider", low, zstd, "Who serves the model."},
                  [](RowWriter& row) { put_text(row.out, row.span.provider); }},
    ContentColumn{{"input_tokens", "Int64", narrow, "Input tokens outside caches."},
                  [](RowWriter& row) { put_number(row.out, row.span.tokens.input); }},
    ContentColumn{{"cache_read_tokens", "Int64", narrow, "Input tokens read from a cache."},
                  [](RowWriter& row) { put_number(row.out, row.span.tokens.cache_read); }},
    ContentColumn{{"cache_write_tokens", "Int64", narrow, "Input tokens written to a cache."},
                  [](RowWriter& row) { put_number(row.out, row.span.tokens.cache_write); }},
    ContentColumn{{"output_tokens", "Int64", narrow, "Output tokens without reasoning."},
                  [](RowWriter& row) { put_number(row.out, row.span.tokens.output); }},
    ContentColumn{{"reasoning_tokens", "Int64", narrow, "Reasoning tokens."},
                  [](RowWriter& row) { put_number(row.out, row.span.tokens.reasoning); }},
    ContentColumn{{"cost_nano_usd", "Int64", narrow, "Cost in billionths of a US dollar."},
                  [](RowWriter& row) { put_number(row.out, row.span.cost_nano_usd); }},
    ContentColumn{
        {"cost_source", "Enum8('none'=0,'span'=1,'prices'=2)", zstd, "Whether the cost was sent or computed."},
        [](RowWriter& row) { put_number(row.out, static_cast<int8_t>(row.span.cost_source)); }},
    // The columns from here to `metadata` are newer than the others: complete_span_row fills them in.
    ContentColumn{{"repeated_usage", "Array(Int64)", zstd,
                   "Tokens and cost of a span that repeats calls counted elsewhere; empty when it counts."},
                  [](RowWriter& row) { put_varint(row.out, 0); }},
    ContentColumn{{"response_id", "String", zstd, "The provider's id of the response."},
                  [](RowWriter& row) { put_text(row.out, row.span.response_id); }},
    ContentColumn{{"first_token_ns", "Int64", narrow, "From the start to the first token; 0: not known."},
                  [](RowWriter& row) { put_number(row.out, row.span.first_token_ns); }},
    ContentColumn{{"tags", "Array(LowCardinality(String))", zstd, "Tags of the application."},
                  [](RowWriter& row) {
                      put_varint(row.out, row.span.tags.size());
                      for (const std::string_view tag : row.span.tags) put_text(row.out, tag);
                  }},
    ContentColumn{{"metadata", "Map(LowCardinality(String), String)", zstd, "Metadata of the application."},
                  [](RowWriter& row) {
                      put_varint(row.out, row.span.metadata.size());
                      for (const auto& [name, value] : row.span.metadata) {
                          put_text(row.out, name);
                          put_text(row.out, value);
                      }
                  }},
    ContentColumn{{"user_id", "String", zstd, "The application's user."},
                  [](RowWriter& row) { put_text(row.out, row.span.user_id); }},
    ContentColumn{{"chat_session", "String", zstd, "The application's session."},
                  [](RowWriter& row) { put_text(row.out, row.span.chat_session); }},
    ContentColumn{{"tool_name", low, zstd, "The tool of a tool span."},
                  [](RowWriter& row) { put_text(row.out, row.span.tool_name); }},
    ContentColumn{{"finish_reason", low, zstd, "Why the model stopped."},
                  [](RowWriter& row) { put_text(row.out, row.span.finish_reason); }},
    ContentColumn{{"documents", "UInt32", narrow, "Number of documents retrieved or reranked."},
                  [](RowWriter& row) { put_number(row.out, row.span.documents); }},
    ContentColumn{{"exception_type", low, zstd, "Type of the last exception."},
                  [](RowWriter& row) { put_text(row.out, row.span.exception_type); }},
    ContentColumn{{"exception_message", "String", zstd, "Message of the last exception."},
                  [](RowWriter& row) { put_text(row.out, row.span.exception_message); }},
    ContentColumn{{"truncated", "Array(LowCardinality(String))", zstd, "Attributes that were cut to the cap."},
                  [](RowWriter& row) {
                      put_varint(row.out, row.span.raw->truncated.size());
                      for (const std::string_view key : row.span.raw->truncated) put_text(row.out, key);
                  }},
    ContentColumn{{"attribute_index", "Map(LowCardinality(String), String)", zstd, "Short attributes, for filters."},
                  [](RowWriter& row) { put_index(row.out, row.span.raw->attributes); }},
    ContentColumn{
        {"resource_index", "Map(LowCardinality(String), String)", zstd, "Short resource attributes, for filters."},
        [](RowWriter& row) { put_index(row.out, row.span.resource->attributes); }},
    ContentColumn{{"input", "String", zstd, "Input text."}, [](RowWriter& row) { put_text(row.out, row.span.input); }},
    ContentColumn{{"input_mime", low, zstd, "Type of the input."},
                  [](RowWriter& row) { put_text(row.out, row.span.input_mime); }},
    ContentColumn{{"output", "String", zstd, "Output text."},
                  [](RowWriter& row) { put_text(row.out, row.span.output); }},
    ContentColumn{{"output_mime", low, zstd, "Type of the output."},
                  [](RowWriter& row) { put_text(row.out, row.span.output_mime); }},
    ContentColumn{{"attributes", "String", zstd, "All attributes as JSON, types kept."},
                  [](RowWriter& row) {
                      put_made(row.out, row.scratch, [&](std::string& text) { append_attributes(text, row.span); });
                  }},
    ContentColumn{{"resource", "String", zstd, "Resource attributes as JSON."},
                  [](RowWriter& row) {
                      put_made(row.out, row.scratch, [&](std::string& text) {
                          otlp::append_attribute_text(text, row.span.resource->attributes);
                      });
                  }},
    ContentColumn{{"scope", "String", zstd, "Instrumentation scope as JSON."},
                  [](RowWriter& row) {
                      put_made(row.out, row.scratch, [&](std::string& text) { append_scope(text, *row.span.scope); });
                  }},
    ContentColumn{{"events", "String", zstd, "Events as JSON."},
                  [](RowWriter& row) {
                      put_made(row.out, row.scratch,
                               [&](std::string& text) { append_events(text, row.span.raw->events); });
                  }},
    ContentColumn{{"links", "String", zstd, "Links as JSON."},
                  [](RowWriter& row) {
                      put_made(row.out, row.scratch,
                               [&](std::string& text) { append_links(text, row.span.raw->links); });
                  }},
    ContentColumn{{"wire", "String", zstd, "What else OTLP carried, as JSON."},
                  [](RowWriter& row) {
                      put_made(row.out, row.scratch, [&](std::string& text) { append_wire(text, row.span); });
                  }},
};

constexpr auto all_columns =
    joined(head_columns, content_columns).apply([](const auto&... one) { return std::array{one.column...}; });

} // namespace

std::span<const Column> span_columns() {
    return all_columns;
}

void append_span_row(std::string& out, const Span& span, std::string_view project, int64_t received_ns) {
    RowWriter row{out, span, project, received_ns};
    head_columns.apply([&](const auto&... column) { (column.write(row), ...); });
    const size_t content_at = out.size();
    content_columns.apply([&](const auto&... column) { (column.write(row), ...); });
    const uint64_t hash = hash_bytes(std::string_view(out).substr(content_at));
    std::memcpy(out.data() + row.hash_at, &hash, sizeof hash);
}

bool read_span_row_usage(std::string_view row, SpanRowUsage& usage) {
    BinaryReader reader(row);
    SpanRowHead head;
    head_columns.apply([&](const auto&... column) { (column.read(head, reader), ...); });
    usage.parent_id = reader.text();
    reader.number<int64_t>(); // duration_ns
    reader.text();            // name
    usage.kind = static_cast<SpanKind>(reader.number<int8_t>());
    reader.number<uint8_t>();                  // otel_kind
    reader.number<int8_t>();                   // status
    for (int i = 0; i < 5; ++i) reader.text(); // status_message, service, version, model, provider
    usage.tokens_at = row.size() - reader.left();
    for (int64_t* count : {&usage.tokens.input, &usage.tokens.cache_read, &usage.tokens.cache_write,
                           &usage.tokens.output, &usage.tokens.reasoning, &usage.cost_nano_usd})
        *count = reader.number<int64_t>();
    usage.cost_source = reader.number<int8_t>();
    usage.newer_at = row.size() - reader.left();
    if (const uint64_t repeated = reader.varint(); repeated != 0) return false; // only the store has such rows
    usage.response_id = reader.text();
    return !reader.failed();
}

std::string_view read_span_row_session(std::string_view row) {
    SpanRowUsage usage;
    usage.newer_at = 0;
    (void)read_span_row_usage(row, usage); // false for a row with repeated_usage, too
    if (usage.newer_at == 0 || usage.newer_at > row.size()) return {};
    BinaryReader reader(row.substr(usage.newer_at));
    for (uint64_t left = reader.varint(); left > 0 && !reader.failed(); --left) reader.number<int64_t>();
    reader.text();                                                                             // response_id
    reader.number<int64_t>();                                                                  // first_token_ns
    for (uint64_t left = reader.varint(); left > 0 && !reader.failed(); --left) reader.text(); // tags
    for (uint64_t left = reader.varint(); left > 0 && !reader.failed(); --left) {              // metadata
        reader.text();
        reader.text();
    }
    reader.text(); // user_id
    return reader.text();
}

std::string complete_span_row(std::string_view row) {
    SpanRowUsage usage;
    usage.newer_at = 0;
    (void)read_span_row_usage(row, usage); // what it reads behind newer_at is not there
    if (usage.newer_at == 0 || usage.newer_at > row.size()) return std::string(row);
    std::string made(row.substr(0, usage.newer_at));
    put_varint(made, 0);          // repeated_usage
    put_varint(made, 0);          // response_id
    put_number(made, int64_t{0}); // first_token_ns
    put_varint(made, 0);          // tags
    put_varint(made, 0);          // metadata
    return made.append(row.substr(usage.newer_at));
}

std::string repeated_span_row(std::string_view row, const SpanRowUsage& usage) {
    std::string made(row.substr(0, usage.tokens_at));
    for (size_t i = 0; i < 6; ++i) put_number(made, int64_t{0});
    put_number(made, static_cast<int8_t>(CostSource::none));
    put_varint(made, 7);
    made += row.substr(usage.tokens_at, 48); // five counts and the cost
    put_number(made, int64_t{usage.cost_source});
    return made.append(row.substr(usage.newer_at + 1));
}

bool read_span_row_head(std::string_view row, SpanRowHead& head) {
    BinaryReader reader(row);
    head_columns.apply([&](const auto&... column) { (column.read(head, reader), ...); });
    return !reader.failed();
}

} // namespace hone::telemetry
