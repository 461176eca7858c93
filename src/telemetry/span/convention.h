// The table of conventions: how instrumentations name what the one span model holds. A convention is one file here: a
// list of attribute keys, each with the field that it fills, and a function for what no single attribute contains. A
// new convention is one new file and one line in convention.cpp, whose order decides which of two attributes counts.
// For telemetry/span and telemetry/doctor; read-only tables, any thread.
#pragma once

#include "otlp/message.h"
#include "telemetry/span/span.h"
#include "telemetry/span/usage.h"

#include <array>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string_view>

namespace hone::telemetry {

// What an attribute can say about a span.
enum class Fact : uint8_t {
    kind,
    model,
    provider,
    input_tokens,
    output_tokens,
    total_tokens,
    cache_read_tokens,
    cache_write_tokens,
    reasoning_tokens,
    cost,
    input_cost,
    output_cost,
    session,
    user,
    tool_name,
    finish_reason,
    response_id,
    version,
    // Payloads as they are shown, and JSON texts that hold messages.
    input,
    output,
    input_mime,
    output_mime,
    input_messages,
    output_messages,
    system_text,
    parameters, // of the model call, as a JSON object: model, system text, temperature
    tools,
    // How it ended.
    level,
    status_message,
    error_type,
    error_message,
    // Time to the first token, in the units that are in use.
    first_token_seconds,
    first_token_milliseconds,
    first_token_time, // RFC 3339
    tags,
    metadata, // a JSON object
    own,      // only the convention's own function reads it
    count,
};

struct ConventionKey {
    std::string_view key;
    Fact fact;
};

struct Draft;
class KnownAttributes;

struct Convention {
    std::string_view name;
    std::span<const ConventionKey> keys;
    // Called for a span that has one of the keys or is of the scope, after every key was read; fills what is missing
    // or corrects it.
    void (*complete)(const KnownAttributes& known, Draft& draft) = nullptr;
    std::string_view scope = {};                            // start of the scope's name; empty: any
    std::array<std::string_view, 2> metadata_prefixes = {}; // keys that start so hold one value of metadata each
};

// A span that is converted to the one model.
struct Draft {
    otlp::Batch& batch; // owns texts that have to be made
    const otlp::Span& raw;
    std::string_view scope; // name of the instrumentation's scope
    Span span;
    ReportedUsage usage;
    std::optional<double> cost; // USD, as reported
};

// In the order in which they are read: of two attributes that fill the same field the earlier one counts.
std::span<const Convention* const> conventions();

// The attributes of one span that a convention knows; of a repeated key the last counts. An attribute without a value
// counts as not sent.
class KnownAttributes {
public:
    explicit KnownAttributes(const otlp::Attributes& attributes);
    // Objects and lists of objects are read as the JSON text that most instrumentations send instead; `batch` owns it.
    KnownAttributes(const otlp::Attributes& attributes, otlp::Batch& batch);
    KnownAttributes(const KnownAttributes&) = delete;

    // Whether the span has a key of the convention at this place of conventions().
    bool has(size_t convention) const { return (m_conventions >> convention & 1) != 0; }
    // Whether the text was made from an object: the attribute itself has none.
    bool is_made(const otlp::Value& value) const;
    // By name; null when it was not sent or when no convention knows it.
    const otlp::Value* get(std::string_view key) const;
    std::string_view text_of(std::string_view key) const;

    // The first non-empty text among the attributes that fill the field.
    std::string_view text(Fact fact) const;
    // The first whole number; instrumentations send reals and digits in texts too.
    std::optional<int64_t> number(Fact fact) const;
    std::optional<double> real(Fact fact) const;
    // Calls use(key, value) for each attribute that fills the field, in order, until it returns true.
    template <class Use>
    bool any(Fact fact, Use use) const {
        if (!has(fact)) return false;
        for (const uint16_t key : keys_of(fact))
            if (const otlp::Value* value = value_of(key); value && use(name_of_key(key), *value)) return true;
        return false;
    }

    static constexpr size_t most_keys = 512;

private:
    void add(uint16_t key, const otlp::Value& value);
    static std::span<const uint16_t> keys_of(Fact fact);
    static std::string_view name_of_key(uint16_t key);
    bool has(Fact fact) const { return (m_facts >> static_cast<unsigned>(fact) & 1) != 0; }
    const otlp::Value* value_of(uint16_t key) const {
        return (m_sent[key / 64] >> (key % 64) & 1) != 0 ? m_values[key] : nullptr;
    }

    uint32_t m_conventions = 0;
    uint64_t m_facts = 0; // a bit for each field that some attribute fills
    std::array<uint64_t, most_keys / 64> m_sent{};
    std::array<const otlp::Value*, most_keys> m_values; // only where m_sent has a bit: a span has few of them
    std::list<otlp::Value> m_made;
};

std::optional<double> to_real(const otlp::Value& value);
// A text as it is, anything else as JSON text; empty for a value that is not set.
std::string plain_text(const otlp::Value& value);
// Attributes that carry metadata under a prefix of their own: "ai.telemetry.metadata.tier" -> "tier". Empty: none.
std::string_view metadata_name(std::string_view key);

// The first convention that names the key; null: none does.
const Convention* convention_of_key(std::string_view key);

// What the conventions call their kinds; unknown for other words.
SpanKind kind_of_name(std::string_view name);

// Numbers may be reported inside JSON texts; what is set already stays.
template <class Value>
void fill(std::optional<Value>& place, const std::optional<Value>& value) {
    if (!place) place = value;
}
inline void fill(std::string_view& place, std::string_view value) {
    if (place.empty()) place = value;
}

extern const Convention openinference_convention;
extern const Convention langfuse_convention;
extern const Convention langsmith_convention;
extern const Convention vercel_convention;
extern const Convention mastra_convention;
extern const Convention voltagent_convention;
extern const Convention genkit_convention;
extern const Convention google_adk_convention;
extern const Convention pydantic_ai_convention;
extern const Convention claude_code_convention;
extern const Convention litellm_convention;
extern const Convention strands_convention;
extern const Convention haystack_convention;
extern const Convention spring_ai_convention;
extern const Convention genai_convention;
extern const Convention traceloop_convention;
extern const Convention mlflow_convention;
extern const Convention logfire_convention;
extern const Convention openlit_convention;
extern const Convention general_convention;

} // namespace hone::telemetry
