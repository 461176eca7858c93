// The one span model: what every convention (telemetry/span/convention.h) is normalised to, and what the store keeps.
// Texts are views into the otlp::Batch it was made from.
// Messages, tool calls and documents are not copied: telemetry/span/conversation.h derives them from the kept
// attributes.
#pragma once

#include "base/fields.h"
#include "otlp/message.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::telemetry {

// OpenInference's ten kinds. The numbers are stored: never change one.
enum class SpanKind : uint8_t {
    unknown = 0,
    llm = 1,
    chain = 2,
    tool = 3,
    retriever = 4,
    embedding = 5,
    agent = 6,
    reranker = 7,
    guardrail = 8,
    evaluator = 9,
};

constexpr auto enum_names(SpanKind) {
    return std::array{EnumName{SpanKind::unknown, "unknown"},     EnumName{SpanKind::llm, "llm"},
                      EnumName{SpanKind::chain, "chain"},         EnumName{SpanKind::tool, "tool"},
                      EnumName{SpanKind::retriever, "retriever"}, EnumName{SpanKind::embedding, "embedding"},
                      EnumName{SpanKind::agent, "agent"},         EnumName{SpanKind::reranker, "reranker"},
                      EnumName{SpanKind::guardrail, "guardrail"}, EnumName{SpanKind::evaluator, "evaluator"}};
}

// Tokens of one model call in buckets that never overlap: their sum is the call's total.
struct Tokens {
    int64_t input = 0; // neither read from nor written to a cache
    int64_t cache_read = 0;
    int64_t cache_write = 0;
    int64_t output = 0; // without reasoning
    int64_t reasoning = 0;

    int64_t total() const { return input + cache_read + cache_write + output + reasoning; }
    friend bool operator==(const Tokens&, const Tokens&) = default;
};

// Where a cost comes from. The numbers are stored: never change one.
enum class CostSource : uint8_t { none = 0, span = 1, prices = 2 };

constexpr auto enum_names(CostSource) {
    return std::array{EnumName{CostSource::none, "none"}, EnumName{CostSource::span, "span"},
                      EnumName{CostSource::prices, "prices"}};
}

struct Span {
    std::string_view trace_id;  // 32 hexadecimal digits
    std::string_view span_id;   // 16 hexadecimal digits
    std::string_view parent_id; // 16 hexadecimal digits, or empty
    int64_t start_ns = 0;
    int64_t duration_ns = 0; // never negative
    std::string_view name;
    SpanKind kind = SpanKind::unknown;
    uint8_t otel_kind = 0;
    otlp::StatusCode status = otlp::StatusCode::unset;
    std::string_view status_message;
    std::string_view service;
    std::string_view version;
    std::string_view model;
    std::string_view provider;
    Tokens tokens;
    int64_t cost_nano_usd = 0; // nano, so that cheap calls are not rounded away
    CostSource cost_source = CostSource::none;
    std::string_view user_id;
    std::string_view chat_session;
    std::string_view tool_name;
    std::string_view finish_reason;
    std::string_view response_id; // the provider's id of the response
    int64_t first_token_ns = 0;   // from the start to the first token; 0: not known
    std::vector<std::string_view> tags;
    std::vector<std::pair<std::string_view, std::string_view>> metadata; // what the application attached, by name
    uint32_t documents = 0;                                              // retrieved or reranked
    std::string_view exception_type;
    std::string_view exception_message;
    std::string_view input;
    std::string_view input_mime;
    std::string_view output;
    std::string_view output_mime;
    std::string_view input_key;  // the attribute that `input` repeats word for word, if one does
    std::string_view output_key; // the same for `output`

    const otlp::Span* raw = nullptr; // everything else, losslessly
    const otlp::Resource* resource = nullptr;
    const otlp::Scope* scope = nullptr;
};

} // namespace hone::telemetry
