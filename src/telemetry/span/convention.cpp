#include "telemetry/span/convention.h"

#include "base/text.h"
#include "otlp/attribute_text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <vector>

namespace hone::telemetry {

namespace {

// Frameworks' own conventions come before the general ones that they are often mixed with; OpenInference first,
// because its span processors rewrite the spans of others.
constexpr const Convention* all_conventions[] = {
    &openinference_convention, &langfuse_convention,    &langsmith_convention, &vercel_convention,
    &mastra_convention,        &voltagent_convention,   &genkit_convention,    &google_adk_convention,
    &pydantic_ai_convention,   &claude_code_convention, &litellm_convention,   &strands_convention,
    &haystack_convention,      &spring_ai_convention,   &genai_convention,     &traceloop_convention,
    &mlflow_convention,        &logfire_convention,     &openlit_convention,   &general_convention,
};
static_assert(std::size(all_conventions) <= 32);

static_assert(static_cast<size_t>(Fact::count) <= 64);

uint64_t eight_bytes(const char* bytes) {
    uint64_t number = 0;
    std::memcpy(&number, bytes, sizeof number);
    return number;
}

// Called for every attribute of every span: the length, both ends and the middle distinguish keys well enough.
uint64_t hash_of_key(std::string_view key) {
    uint64_t hash = key.size();
    if (key.size() >= 8)
        hash += eight_bytes(key.data()) * 0x9e3779b97f4a7c15 + eight_bytes(key.data() + key.size() - 8) +
                (eight_bytes(key.data() + key.size() / 2 - 4) << 7);
    else
        for (const char letter : key) hash = hash * 31 + static_cast<unsigned char>(letter);
    hash *= 0xd6e8feb86659fd93;
    return hash ^ hash >> 32;
}

struct KeyTable {
    struct Entry {
        std::string_view name;
        uint32_t conventions; // a bit for each that names the key
        uint64_t facts;       // a bit for each field that it fills
    };
    struct Slot {
        uint16_t key = no_key;
        uint16_t check = 0; // part of the hash, so that other keys are rarely compared
    };
    static constexpr uint16_t no_key = 0xffff;
    static constexpr size_t slot_count = 2048; // a power of two, four times the keys

    std::vector<Entry> entries; // by key
    std::array<Slot, slot_count> slots{};
    struct Prefix {
        uint64_t begin; // its first eight bytes
        std::string_view text;
    };
    std::vector<Prefix> metadata_prefixes;
    std::array<std::vector<uint16_t>, static_cast<size_t>(Fact::count)> keys_of;

    static uint16_t check_of(uint64_t hash) { return static_cast<uint16_t>(hash >> 48); }

    uint16_t find(std::string_view name) const {
        const uint64_t hash = hash_of_key(name);
        for (size_t at = hash % slot_count;; at = (at + 1) % slot_count) {
            const Slot slot = slots[at];
            if (slot.key == no_key) return no_key;
            if (slot.check == check_of(hash) && entries[slot.key].name == name) return slot.key;
        }
    }
    uint16_t add(std::string_view name) {
        if (const uint16_t known = find(name); known != no_key) return known;
        const uint64_t hash = hash_of_key(name);
        size_t at = hash % slot_count;
        while (slots[at].key != no_key) at = (at + 1) % slot_count;
        const auto key = static_cast<uint16_t>(entries.size());
        slots[at] = {key, check_of(hash)};
        entries.push_back({name, 0, 0});
        return key;
    }

    KeyTable() {
        for (size_t i = 0; i < std::size(all_conventions); ++i) {
            for (const std::string_view prefix : all_conventions[i]->metadata_prefixes) {
                if (prefix.empty()) continue;
                if (prefix.size() < 8) std::abort(); // a prefix of a convention is longer: every test finds it
                metadata_prefixes.push_back({eight_bytes(prefix.data()), prefix});
            }
            for (const ConventionKey& sent : all_conventions[i]->keys) {
                const uint16_t key = add(sent.key);
                entries[key].conventions |= uint32_t{1} << i;
                entries[key].facts |= uint64_t{1} << static_cast<unsigned>(sent.fact);
                keys_of[static_cast<size_t>(sent.fact)].push_back(key);
            }
        }
        if (entries.size() > KnownAttributes::most_keys) std::abort(); // a constant is too small: every test finds it
    }
};

const KeyTable& key_table() {
    static const KeyTable table;
    return table;
}

bool has_objects(const otlp::Value& value) {
    const auto* list = value.list();
    return value.map() || (list && !list->empty() && (list->front().map() || list->front().list()));
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
    {"search_memory", SpanKind::retriever},
    {"image_generation", SpanKind::llm},
    {"chat.completions", SpanKind::llm}, // Semantic Kernel before 1.30
    {"text.completions", SpanKind::llm},
    {"chat.streaming_completions", SpanKind::llm},
    {"text.streaming_completions", SpanKind::llm},
    {"framework", SpanKind::chain},    // Spring AI, OpenLIT
    {"vectordb", SpanKind::retriever}, // OpenLIT
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
    const uint16_t found = key_table().find(key);
    if (found == KeyTable::no_key) return nullptr;
    return all_conventions[std::countr_zero(key_table().entries[found].conventions)];
}

SpanKind kind_of_name(std::string_view name) {
    for (const KindName& known : kind_names)
        if (name.size() == known.name.size() && equals_ignoring_case(name, known.name)) return known.kind;
    return SpanKind::unknown;
}

std::span<const uint16_t> KnownAttributes::keys_of(Fact fact) {
    return key_table().keys_of[static_cast<size_t>(fact)];
}

std::string_view KnownAttributes::name_of_key(uint16_t key) {
    return key_table().entries[key].name;
}

void KnownAttributes::add(uint16_t key, const otlp::Value& value) {
    const KeyTable::Entry& entry = key_table().entries[key];
    m_values[key] = &value;
    m_sent[key / 64] |= uint64_t{1} << (key % 64);
    m_conventions |= entry.conventions;
    m_facts |= entry.facts;
}

KnownAttributes::KnownAttributes(const otlp::Attributes& attributes) {
    const KeyTable& table = key_table();
    for (const otlp::KeyValue& attribute : attributes) {
        if (attribute.value.data.index() == 0) continue;
        if (const uint16_t key = table.find(attribute.key); key != KeyTable::no_key) add(key, attribute.value);
    }
}

KnownAttributes::KnownAttributes(const otlp::Attributes& attributes, otlp::Batch& batch) : KnownAttributes(attributes) {
    for (size_t word = 0; word < m_sent.size(); ++word)
        for (uint64_t bits = m_sent[word]; bits != 0; bits &= bits - 1) {
            const otlp::Value*& value = m_values[word * 64 + static_cast<size_t>(std::countr_zero(bits))];
            if (!has_objects(*value)) continue;
            std::string json;
            otlp::append_value_text(json, *value);
            value = &m_made.emplace_back(otlp::Value{batch.keep(std::move(json))});
        }
}

bool KnownAttributes::is_made(const otlp::Value& value) const {
    return std::any_of(m_made.begin(), m_made.end(), [&](const otlp::Value& made) { return &made == &value; });
}

const otlp::Value* KnownAttributes::get(std::string_view key) const {
    const uint16_t found = key_table().find(key);
    return found == KeyTable::no_key ? nullptr : value_of(found);
}

std::string_view KnownAttributes::text_of(std::string_view key) const {
    const otlp::Value* value = get(key);
    return value && value->text() ? *value->text() : std::string_view();
}

std::string_view KnownAttributes::text(Fact fact) const {
    if (!has(fact)) return {};
    for (const uint16_t key : keys_of(fact))
        if (const auto* value = value_of(key))
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
    if (!has(fact)) return std::nullopt;
    for (const uint16_t key : keys_of(fact))
        if (const auto* value = value_of(key))
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
    if (key.size() <= 8) return {};
    const uint64_t begin = eight_bytes(key.data());
    for (const KeyTable::Prefix& prefix : key_table().metadata_prefixes)
        if (begin == prefix.begin && key.starts_with(prefix.text)) return key.substr(prefix.text.size());
    return {};
}

} // namespace hone::telemetry
