// OTLP/HTTP requests of agent traces (agent_spans.h) that are made once and sent often: each copy gets ids of its own
// and the present time, so that a server stores all of them. Making one costs a copy; making its text would cost more
// than the server. Thread-safe after construction. For benchmarks.
#pragma once

#include "bench/agent_spans.h"
#include "otlp/encode.h"

#include <atomic>
#include <cstring>
#include <map>

namespace hone::bench {

class AgentRequests {
public:
    static constexpr size_t spans = 100; // of a request

    // `first`: the number before that of the first request; requests with other numbers have other ids.
    AgentRequests(size_t bodies, std::string_view project, uint64_t first = 0) : m_number(first) {
        AgentSpans agents(42);
        for (size_t i = 0; i < bodies; ++i)
            m_bodies.push_back(marked(agents.batch(spans, base_ns, 1'000'000, project)));
    }

    // A request whose spans begin now.
    std::string next(int64_t now_ns) {
        const uint64_t number = ++m_number;
        const Body& body = m_bodies[number % m_bodies.size()];
        std::string bytes = body.bytes;
        for (const auto& [at, id] : body.ids) {
            const uint64_t fresh = (id + number * 2'000'003) * 0x9e3779b97f4a7c15ULL | 1; // distinct: odd multiples
            std::memcpy(bytes.data() + at, &fresh, sizeof fresh);
        }
        for (const auto& [at, trace] : body.sessions) {
            const uint64_t of_all = number * traces + trace;
            const std::string name = AgentSpans::session_name(of_all / 10 + of_all * 0x9e3779b97f4a7c15ULL % 500);
            std::memcpy(bytes.data() + at, name.data(), name.size());
        }
        for (const size_t at : body.times) {
            uint64_t time = 0;
            std::memcpy(&time, bytes.data() + at, sizeof time);
            time += static_cast<uint64_t>(now_ns - base_ns);
            std::memcpy(bytes.data() + at, &time, sizeof time);
        }
        return bytes;
    }

    size_t bytes_per_span() const {
        size_t bytes = 0;
        for (const Body& body : m_bodies) bytes += body.bytes.size();
        return bytes / (m_bodies.size() * spans);
    }

private:
    static constexpr int64_t base_ns = 1'700'000'000'000'000'000;
    static constexpr uint64_t traces = spans / 10;
    struct Body {
        std::string bytes;
        std::vector<std::pair<size_t, uint64_t>> ids;      // where eight bytes of an id are, and which one it is
        std::vector<std::pair<size_t, uint64_t>> sessions; // and the trace in the request
        std::vector<size_t> times;
    };

    // All places of a text of ids or times, which are random enough to be nowhere else.
    template <class Found>
    static void each_place(const std::string& bytes, std::string_view wanted, const Found& found) {
        for (size_t at = bytes.find(wanted); at != bytes.npos; at = bytes.find(wanted, at + wanted.size())) found(at);
    }

    static Body marked(const otlp::Batch& batch) {
        Body body{otlp::encode_batch(otlp::Encoding::protobuf, batch), {}, {}, {}};
        std::map<std::string_view, uint64_t> known;
        const auto mark = [&](std::string_view id) {
            const auto [place, is_new] = known.emplace(id, known.size() + 1);
            if (is_new) each_place(body.bytes, id, [&](size_t at) { body.ids.emplace_back(at, place->second); });
        };
        std::map<uint64_t, bool> times;
        std::map<std::string_view, uint64_t> sessions;
        for (const otlp::Span& span : batch.spans) {
            mark(span.trace_id);
            mark(span.span_id);
            for (const auto& [key, value] : span.attributes) {
                const auto* session = key == "session.id" ? std::get_if<std::string_view>(&value.data) : nullptr;
                if (!session) continue;
                const auto [place, is_new] = sessions.emplace(*session, sessions.size());
                if (is_new)
                    each_place(body.bytes, *session, [&](size_t at) { body.sessions.emplace_back(at, place->second); });
            }
            for (const uint64_t time : {span.start_ns, span.end_ns}) {
                char bytes[sizeof time];
                std::memcpy(bytes, &time, sizeof time);
                if (times.emplace(time, true).second)
                    each_place(body.bytes, {bytes, sizeof bytes}, [&](size_t at) { body.times.push_back(at); });
            }
        }
        return body;
    }

    std::vector<Body> m_bodies;
    std::atomic<uint64_t> m_number;
};

} // namespace hone::bench
