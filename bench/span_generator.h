// Spans that look like an LLM application's: Zipf-distributed words, chat histories that grow inside a trace, about
// 3.4 KB each (input 1.2, output 1.0, attributes 1.0). Deterministic for a seed. For benchmarks.
#pragma once

#include "otlp/encode.h"
#include "otlp/message.h"

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace hone::bench {

class SpanGenerator {
public:
    explicit SpanGenerator(uint64_t seed) : m_random(seed) {
        for (size_t i = 0; i < 20'000; ++i) {
            std::string word;
            std::mt19937 letters(static_cast<unsigned>(i) * 7919 + 13);
            for (size_t length = 2 + letters() % 8; word.size() < length;)
                word += static_cast<char>('a' + letters() % 26);
            m_words.push_back(word);
        }
    }

    // A batch of whole traces, `count` spans or a little more, in `projects` projects, starting at `start_ns`.
    otlp::Batch batch(size_t count, int64_t start_ns, int64_t step_ns, size_t projects) {
        otlp::Batch batch;
        while (batch.spans.size() < count) trace(batch, start_ns, step_ns, pick_project(projects));
        return batch;
    }

    std::string text(size_t bytes) {
        std::string out;
        while (out.size() < bytes) {
            const double uniform = std::uniform_real_distribution<>(0, 1)(m_random);
            const auto rank = static_cast<size_t>(std::pow(20'000.0, uniform)) - 1; // density 1/rank
            out += m_words[std::min(rank, m_words.size() - 1)] + ' ';
        }
        return out;
    }

private:
    // The largest project gets a fifth.
    size_t pick_project(size_t projects) {
        const double uniform = std::uniform_real_distribution<>(0, 1)(m_random);
        return std::min(projects - 1, static_cast<size_t>(std::pow(static_cast<double>(projects) + 1, uniform)) - 1);
    }

    std::string_view id(otlp::Batch& batch, size_t bytes) {
        std::string raw;
        while (raw.size() < bytes) raw += static_cast<char>(m_random());
        raw[0] = static_cast<char>(raw[0] | 1);
        return batch.keep(raw);
    }

    void trace(otlp::Batch& batch, int64_t& start_ns, int64_t step_ns, size_t project) {
        const auto resource = static_cast<uint32_t>(batch.resources.size());
        batch.resources.push_back({{{"service.name", {batch.keep("service-" + std::to_string(project))}},
                                    {"service.version", {batch.keep("1." + std::to_string(m_random() % 5))}},
                                    {"telemetry.sdk.language", {std::string_view("python")}}},
                                   0,
                                   {}});
        batch.scopes.push_back({"openinference.instrumentation", "0.1", {}, 0, {}});
        const std::string_view trace_id = id(batch, 16);
        std::string_view parent;
        const std::string_view session = batch.keep("session-" + std::to_string(m_random() % 100'000));
        const std::string_view user = batch.keep("user-" + std::to_string(m_random() % 5'000));
        std::string history = text(500);
        const size_t spans = 6 + m_random() % 16;
        for (size_t i = 0; i < spans; ++i) {
            otlp::Span span;
            span.resource = resource;
            span.scope = resource;
            span.trace_id = trace_id;
            span.span_id = id(batch, 8);
            span.parent_span_id = parent;
            if (i == 0) parent = span.span_id;
            span.start_ns = static_cast<uint64_t>(start_ns += step_ns);
            span.end_ns = span.start_ns + 1'000'000 * (10 + m_random() % 5000);
            fill(batch, span, i, session, user, history);
            batch.spans.push_back(std::move(span));
        }
    }

    void fill(otlp::Batch& batch, otlp::Span& span, size_t i, std::string_view session, std::string_view user,
              std::string& history) {
        static constexpr const char* kinds[] = {"AGENT", "LLM", "TOOL", "RETRIEVER", "CHAIN"};
        static constexpr const char* models[] = {"gpt-4o", "gpt-4o-mini", "claude-sonnet-4", "o3", "gemini-2.5-pro"};
        const char* kind = i == 0 ? "AGENT" : kinds[1 + m_random() % 4];
        span.name = batch.keep(std::string(kind) + "-" + std::to_string(m_random() % 40));
        span.status = m_random() % 33 == 0 ? otlp::StatusCode::error : otlp::StatusCode::ok;
        if (span.status == otlp::StatusCode::error) span.status_message = "upstream failed";
        const auto add = [&](std::string_view key, otlp::Value value) {
            span.attributes.push_back({key, std::move(value)});
        };
        const std::string answer = text(1000);
        history += answer.substr(0, 100);
        if (history.size() > 1500) history.erase(0, 600);
        std::string_view output = batch.keep(answer);
        if (++m_made % 100'000 == 777) output = batch.keep("the zebulon quokka incident " + answer);
        add("openinference.span.kind", {std::string_view(kind)});
        add("input.value", {batch.keep(history + text(400))});
        add("output.value", {output});
        add("session.id", {session});
        add("user.id", {user});
        add("llm.model_name", {std::string_view(models[m_random() % 5])});
        add("llm.token_count.prompt", {static_cast<int64_t>(200 + m_random() % 4000)});
        add("llm.token_count.completion", {static_cast<int64_t>(20 + m_random() % 800)});
        add("user.tier", {std::string_view(m_random() % 13 ? "free" : "gold")});
        for (int k = 0; k < 18; ++k)
            add(batch.keep("app.attribute." + std::to_string(m_random() % 280)), {batch.keep(text(14))});
    }

    std::mt19937_64 m_random;
    std::vector<std::string> m_words;
    uint64_t m_made = 0;
};

} // namespace hone::bench
