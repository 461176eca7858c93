// Decides which spans' tokens and cost count, so that each model call counts once however many instrumentations saw it:
// a model call inside a model call, two spans with the provider's same response id (also in two traces), an agent or
// chain that repeats the sum of the calls below it. The decision depends on the spans alone, not on the order in which
// they arrive. Knows the traces of the last minutes; the loader puts older ones in again. No lock: the loader's thread.
#pragma once

#include "telemetry/span/span.h"

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hone::telemetry {

class UsageCounter {
public:
    // What the decision needs of a span.
    struct Call {
        uint64_t span = 0;
        uint64_t parent = 0; // 0: none
        SpanKind kind = SpanKind::unknown;
        Tokens tokens; // as reported
        int64_t cost_nano_usd = 0;
        uint64_t response = 0; // hash of the project and the response id; 0: none
        int64_t start_ns = 0;
        bool is_counted = true; // as it is stored

        bool has_usage() const { return tokens.total() > 0 || cost_nano_usd > 0; }
    };
    // Whether another span stands for the same response, and where it is.
    enum class Copy : uint8_t { none, of_this_trace, of_another_trace };
    struct Change {
        std::string trace;
        uint64_t span = 0;
        bool is_counted = false;
    };

    explicit UsageCounter(size_t most_spans = 200'000) : m_most_spans(most_spans) {}

    // `trace` names a trace of a project.
    bool has_trace(const std::string& trace) const { return m_traces.contains(trace); }
    bool has_response(uint64_t response) const { return m_responses.contains(response); }
    // False: it was never put in. True: perhaps it was, and forgotten since.
    bool may_be_forgotten(std::string_view name) const { return m_forgotten.has(std::hash<std::string_view>{}(name)); }
    bool may_be_forgotten(uint64_t response) const { return m_forgotten.has(response); }

    // A span that is new, changed or read from the store.
    void put(const std::string& trace, const Call& call);
    // The spans whose decision differs from is_counted, of the traces that changed since the last time.
    std::vector<Change> settle();
    // As settled; false for a span that is not known.
    bool is_counted(const std::string& trace, uint64_t span);
    // Drops the oldest traces over the limit; call it when the changes are stored.
    void trim();
    void forget() { *this = UsageCounter(m_most_spans); }

private:
    // Names of traces and responses that were dropped. Two Bloom filters: when the second is full the first goes.
    class Forgotten {
    public:
        bool has(uint64_t hash) const;
        void add(uint64_t hash);

    private:
        static constexpr size_t words = (1 << 20) / 8;
        static constexpr size_t most = 800'000; // one in a hundred results is a wrong "perhaps" then
        std::vector<uint64_t> m_old, m_new;
        size_t m_count = 0;
    };
    struct Trace {
        std::vector<Call> calls;
        std::unordered_map<uint64_t, size_t> place_of; // by span; made for larger traces only
    };
    struct Place {
        std::string trace;
        uint64_t span;
    };

    Call* find(Trace& trace, uint64_t span);
    void leave_response(uint64_t response, const std::string& trace, uint64_t span);
    void settle_response(uint64_t response);
    void settle_trace(const std::string& name, Trace& trace, std::vector<Change>& changes);

    size_t m_most_spans;
    size_t m_spans = 0;
    std::unordered_map<std::string, Trace> m_traces;
    std::deque<std::string> m_order; // oldest first
    std::unordered_map<uint64_t, std::vector<Place>> m_responses;
    std::set<std::string> m_changed;
    std::set<uint64_t> m_changed_responses;
    std::map<std::pair<std::string, uint64_t>, Copy> m_copies;
    Forgotten m_forgotten;
};

// Which of a trace's spans count, in their order.
std::vector<bool> decide_counted(const std::vector<UsageCounter::Call>& calls,
                                 const std::vector<UsageCounter::Copy>& copies);

} // namespace hone::telemetry
