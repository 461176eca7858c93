// Agent traces of ten spans as OpenInference's instrumentations send them, with text of a real vocabulary: 6,000 words,
// the word of rank r drawn with weight 1/(r + 8). Model calls repeat their text in `input.value` and in the messages.
// About 3.6 KB a span. A chat session has about ten traces, and 500 go on at the same time. Deterministic for a seed.
// For benchmarks.
#pragma once

#include "otlp/message.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace hone::bench {

class AgentSpans {
public:
    explicit AgentSpans(uint64_t seed) : m_random(seed) {
        std::mt19937 letters(7);
        static constexpr std::string_view alphabet = "etaoinshrdlucmfwypvbgk";
        double sum = 0;
        for (size_t rank = 0; rank < 6000; ++rank) {
            std::string word;
            for (size_t length = 2 + letters() % 9; word.size() < length;)
                word += alphabet[letters() % alphabet.size()];
            m_words.push_back(std::move(word));
            m_sums.push_back(sum += 1.0 / static_cast<double>(rank + 8));
        }
    }

    // Whole traces of one project, `count` spans or up to nine more. Each span starts a step after the one before.
    otlp::Batch batch(size_t count, int64_t start_ns, int64_t step_ns, std::string_view project) {
        otlp::Batch batch;
        batch.resources.push_back({{{"service.name", {batch.keep(std::string(project))}},
                                    {"openinference.project.name", {batch.keep(std::string(project))}}},
                                   0,
                                   {}});
        batch.scopes.push_back({"openinference.instrumentation", "0.1", {}, 0, {}});
        while (batch.spans.size() < count) trace(batch, start_ns, step_ns);
        return batch;
    }

    // All of one length.
    static std::string session_name(uint64_t number) {
        const std::string digits = std::to_string(number % 1'000'000'000);
        return "sess-" + std::string(9 - digits.size(), '0') + digits;
    }

    std::string text(size_t bytes) {
        std::string out;
        while (out.size() < bytes) {
            const double drawn = std::uniform_real_distribution<>(0, m_sums.back())(m_random);
            const auto place = std::upper_bound(m_sums.begin(), m_sums.end(), drawn);
            if (!out.empty()) out += ' ';
            out += m_words[std::min(static_cast<size_t>(place - m_sums.begin()), m_words.size() - 1)];
        }
        return out;
    }

private:
    enum class Role { agent, chain, model, tool, retriever };

    std::string_view id(otlp::Batch& batch, size_t bytes) {
        std::string raw;
        while (raw.size() < bytes) raw += static_cast<char>(m_random());
        raw[0] = static_cast<char>(raw[0] | 1);
        return batch.keep(std::move(raw));
    }

    std::string_view numbered(otlp::Batch& batch, std::string_view name, uint64_t numbers) {
        return batch.keep(std::string(name) + std::to_string(1 + m_random() % numbers));
    }

    void trace(otlp::Batch& batch, int64_t& start_ns, int64_t step_ns) {
        static constexpr Role roles[] = {Role::agent, Role::chain, Role::model,     Role::tool,  Role::model,
                                         Role::tool,  Role::model, Role::retriever, Role::model, Role::model};
        const std::string_view trace_id = id(batch, 16);
        const std::string_view session = batch.keep(session_name(m_traces / 10 + m_random() % 500));
        const std::string_view user = numbered(batch, "user-", 900);
        ++m_traces;
        std::string_view root;
        for (const Role role : roles) {
            otlp::Span span;
            span.trace_id = trace_id;
            span.span_id = id(batch, 8);
            span.parent_span_id = root;
            if (root.empty()) root = span.span_id;
            span.kind = 1;
            span.start_ns = static_cast<uint64_t>(start_ns += step_ns);
            span.end_ns = span.start_ns + 1'000'000 + m_random() % 3'000'000'000;
            if (m_random() % 33 == 0) {
                span.status = otlp::StatusCode::error;
                span.status_message = "TimeoutError: order service did not answer";
            }
            const auto add = [&](std::string_view key, otlp::Value value) {
                span.attributes.push_back({key, std::move(value)});
            };
            add("session.id", {session});
            add("user.id", {user});
            fill(batch, span, role, add);
            batch.spans.push_back(std::move(span));
        }
    }

    template <class Add>
    void fill(otlp::Batch& batch, otlp::Span& span, Role role, const Add& add) {
        static constexpr std::string_view models[] = {"gpt-4o-mini", "claude-sonnet-4-5", "gpt-4.1"};
        const auto texts = [&](size_t input, size_t output) {
            add("input.value", {batch.keep(text(input))});
            add("output.value", {batch.keep(text(output))});
        };
        switch (role) {
        case Role::agent:
        case Role::chain:
            span.name = role == Role::agent ? "support_agent" : "plan";
            add("openinference.span.kind", {std::string_view(role == Role::agent ? "AGENT" : "CHAIN")});
            return texts(900, 900);
        case Role::tool:
            span.name = "lookup_order";
            add("openinference.span.kind", {std::string_view("TOOL")});
            add("tool.name", {std::string_view("lookup_order")});
            add("input.value", {batch.keep("{\"order_id\": " + std::to_string(m_random() % 1'000'000) + "}")});
            add("output.value", {batch.keep(text(700))});
            return;
        case Role::retriever:
            span.name = "search_docs";
            add("openinference.span.kind", {std::string_view("RETRIEVER")});
            add("input.value", {batch.keep(text(200))});
            for (int i = 0; i < 4; ++i)
                add(batch.keep("retrieval.documents." + std::to_string(i) + ".document.content"),
                    {batch.keep(text(700))});
            return;
        case Role::model:
            break;
        }
        span.name = "ChatCompletion";
        const std::string_view question = batch.keep(text(1500)), answer = batch.keep(text(900));
        add("openinference.span.kind", {std::string_view("LLM")});
        add("llm.model_name", {models[m_random() % std::size(models)]});
        add("llm.provider", {std::string_view("openai")});
        add("input.value", {question});
        add("output.value", {answer});
        add("input.mime_type", {std::string_view("text/plain")});
        add("llm.input_messages.0.message.role", {std::string_view("user")});
        add("llm.input_messages.0.message.content", {question});
        add("llm.output_messages.0.message.role", {std::string_view("assistant")});
        add("llm.output_messages.0.message.content", {answer});
        add("llm.token_count.prompt", {static_cast<int64_t>(100 + m_random() % 3900)});
        add("llm.token_count.completion", {static_cast<int64_t>(20 + m_random() % 880)});
        add("llm.token_count.total", {static_cast<int64_t>(120 + m_random() % 4780)});
    }

    std::mt19937_64 m_random;
    uint64_t m_traces = 0;
    std::vector<std::string> m_words;
    std::vector<double> m_sums;
};

} // namespace hone::bench
