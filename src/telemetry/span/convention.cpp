#include "telemetry/span/convention.h"

#include "base/text.h"
#include "otlp/attribute_text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <unordered_map>
#include <vector>

namespace hone::telemetry {

namespace {

// Frameworks' own conventions come before the general ones that they are often mixed with; OpenInference first,
// because its span processors rewrite the spans of others.
constexpr const Convention* all_conventions[] = {
    &openinference_convention, &langfuse_convention,    &langsmith_convention, &vercel_convention,
    &mastra_convention,        &voltagent_convention,   &genkit_convention,    &google_adk_convention,
    &pydantic_ai_convention,   &claude_code_convention, &litellm_convention,   &genai_convention,
    &traceloop_convention,     &mlflow_convention,      &general_convention,
};
static_assert(std::size(all_conventions) <= 32);

struct KeyTable {
    struct Entry {
        uint16_t key;
        uint32_t conventions; // a bit for each that names the key
    };
    std::unordered_map<std::string_view, Entry> entries;
    std::vector<std::string_view> names;
    std::vector<std::string_view> metadata_prefixes;
    std::array<std::vector<uint16_t>, static_cast<size_t>(Fact::count)> keys_of;

    KeyTable() {
        for (size_t i = 0; i < std::size(all_conventions); ++i) {
            for (const std::string_view prefix : all_conventions[i]->metadata_prefixes)
                if (!prefix.empty()) metadata_prefixes.push_back(prefix);
            for (const ConventionKey& key : all_conventions[i]->keys) {
                const auto [place, is_new] =
                    entries.try_emplace(key.key, Entry{static_cast<uint16_t>(names.size()), 0});
                if (is_new) names.push_back(key.key);
                place->second.conventions |= uint32_t{1} << i;
                keys_of[static_cast<size_t>(key.fact)].push_back(place->second.key);
            }
        }
        if (names.size() > KnownAttributes::most_keys) std::abort(); // a constant is too small: every test finds it
    }
};

const KeyTable& key_table() {
    static const KeyTable table;
    return table;
}

struct KindName {
    std::string_view name;
    SpanKind kind;
};

// Lower case.
constexpr KindName kind_names[] = {
    {"llm", SpanKind::llm},
    {"chain", SpanKind::chain},
    {"tool", SpanKind::tool},
    {"retriever", SpanKind::retriever},
    {"embedding", SpanKind::embedding},
    {"agent", SpanKind::agent},
    {"reranker", SpanKind::reranker},
    {"guardrail", SpanKind::guardrail},
    {"evaluator", SpanKind::evaluator},
    {"generation", SpanKind::llm}, // Langfuse
    {"span", SpanKind::chain},
    {"event", SpanKind::chain},
    {"workflow", SpanKind::chain}, // Traceloop
    {"task", SpanKind::chain},
    {"execute_task", SpanKind::chain},
    {"vector_db_retrieve", SpanKind::retriever},
    {"prompt", SpanKind::chain}, // LangSmith, OpenInference
    {"parser", SpanKind::chain},
    {"chat", SpanKind::llm}, // GenAI operations
    {"text_completion", SpanKind::llm},
    {"completion", SpanKind::llm},
    {"generate_content", SpanKind::llm},
    {"embeddings", SpanKind::embedding},
    {"execute_tool", SpanKind::tool},
    {"create_agent", SpanKind::agent},
    {"invoke_agent", SpanKind::agent},
    {"invoke_workflow", SpanKind::chain},
    {"agent_step", SpanKind::chain},
    {"retrieval", SpanKind::retriever},
    {"rerank", SpanKind::reranker},    // Traceloop's llm.request.type
    {"chat_model", SpanKind::llm},     // MLflow
    {"embedder", SpanKind::embedding}, // Genkit
    {"model", SpanKind::llm},
    {"flow", SpanKind::chain},
    {"util", SpanKind::chain},
    {"memory", SpanKind::retriever}, // VoltAgent
};

} // namespace

std::span<const Convention* const> conventions() {
    return all_conventions;
}

const Convention* convention_of_key(std::string_view key) {
    const auto found = key_table().entries.find(key);
    if (found == key_table().entries.end()) return nullptr;
    return all_conventions[std::countr_zero(found->second.conventions)];
}

SpanKind kind_of_name(std::string_view name) {
    for (const KindName& known : kind_names)
        if (equals_ignoring_case(name, known.name)) return known.kind;
    return SpanKind::unknown;
}

std::span<const uint16_t> KnownAttributes::keys_of(Fact fact) {
    return key_table().keys_of[static_cast<size_t>(fact)];
}

std::string_view KnownAttributes::name_of_key(uint16_t key) {
    return key_table().names[key];
}

KnownAttributes::KnownAttributes(const otlp::Attributes& attributes) {
    const KeyTable& table = key_table();
    for (const otlp::KeyValue& attribute : attributes) {
        if (attribute.value.data.index() == 0) continue;
        const auto found = table.entries.find(attribute.key);
        if (found == table.entries.end()) continue;
        m_values[found->second.key] = &attribute.value;
        m_conventions |= found->second.conventions;
    }
}

const otlp::Value* KnownAttributes::get(std::string_view key) const {
    const auto found = key_table().entries.find(key);
    return found == key_table().entries.end() ? nullptr : m_values[found->second.key];
}

std::string_view KnownAttributes::text_of(std::string_view key) const {
    const otlp::Value* value = get(key);
    return value && value->text() ? *value->text() : std::string_view();
}

std::string_view KnownAttributes::text(Fact fact) const {
    for (const uint16_t key : keys_of(fact))
        if (const auto* value = m_values[key])
            if (const auto* text = value->text(); text && !text->empty()) return *text;
    return {};
}

std::optional<double> to_real(const otlp::Value& value) {
    if (const auto* number = value.integer()) return static_cast<double>(*number);
    if (const auto* number = value.real()) return std::isfinite(*number) ? std::optional(*number) : std::nullopt;
    if (const auto* text = value.text()) {
        double number = 0;
        const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
        if (error == std::errc() && end == text->data() + text->size() && std::isfinite(number)) return number;
    }
    return std::nullopt;
}

std::optional<double> KnownAttributes::real(Fact fact) const {
    for (const uint16_t key : keys_of(fact))
        if (const auto* value = m_values[key])
            if (const auto number = to_real(*value)) return number;
    return std::nullopt;
}

std::optional<int64_t> KnownAttributes::number(Fact fact) const {
    const auto number = real(fact);
    if (!number || std::abs(*number) > 1e15) return std::nullopt;
    return static_cast<int64_t>(*number);
}

std::string plain_text(const otlp::Value& value) {
    if (const auto* text = value.text()) return std::string(*text);
    std::string out;
    if (value.data.index() != 0) otlp::append_value_text(out, value);
    return out;
}

std::string_view metadata_name(std::string_view key) {
    for (const std::string_view prefix : key_table().metadata_prefixes)
        if (key.starts_with(prefix)) return key.substr(prefix.size());
    return {};
}

} // namespace hone::telemetry
