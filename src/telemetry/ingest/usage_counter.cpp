#include "telemetry/ingest/usage_counter.h"

#include <algorithm>
#include <tuple>

namespace hone::telemetry {

namespace {

using Call = UsageCounter::Call;

struct Sum {
    Tokens tokens;
    int64_t cost = 0;

    void add(const Sum& other) {
        tokens.input += other.tokens.input;
        tokens.cache_read += other.tokens.cache_read;
        tokens.cache_write += other.tokens.cache_write;
        tokens.output += other.tokens.output;
        tokens.reasoning += other.tokens.reasoning;
        cost += other.cost;
    }
    bool is_empty() const { return tokens.total() == 0 && cost == 0; }
};

// How much a count contains: more tokens first (a part was not seen elsewhere), then more details.
std::pair<int64_t, int> weight(const Tokens& tokens) {
    return {tokens.total(), (tokens.cache_read > 0) + (tokens.cache_write > 0) + (tokens.reasoning > 0)};
}

// A model call inside another is the same call, if nothing lies between that makes calls of its own.
bool is_on_path_of_call(SpanKind kind) {
    return kind == SpanKind::llm || kind == SpanKind::embedding || kind == SpanKind::chain || kind == SpanKind::unknown;
}

bool is_call(SpanKind kind) {
    return kind == SpanKind::llm || kind == SpanKind::embedding;
}

struct Node {
    size_t parent = SIZE_MAX;
    size_t open_children = 0;
    Sum below;                    // what the spans below stand for
    Sum calls_below;              // of these, what is on the path of a call
    bool stands = false;          // its own usage counts, not that of the spans below
    bool is_covered = false;      // an agent or chain above stands for it
    bool is_call_covered = false; // a call above stands for it
};

class TraceDecision {
public:
    TraceDecision(const std::vector<Call>& calls, const std::vector<UsageCounter::Copy>& copies)
        : m_calls(calls),
          m_copies(copies),
          m_nodes(calls.size()) {}

    std::vector<bool> decide() {
        link();
        climb();
        for (auto index = m_order.rbegin(); index != m_order.rend(); ++index) descend(*index);
        std::vector<bool> counted(m_calls.size());
        for (size_t i = 0; i < m_calls.size(); ++i) {
            const Node& node = m_nodes[i];
            counted[i] = m_calls[i].has_usage() && node.stands && !node.is_covered && !node.is_call_covered &&
                         m_copies[i] == UsageCounter::Copy::none;
        }
        return counted;
    }

private:
    void link() {
        std::unordered_map<uint64_t, size_t> places;
        places.reserve(m_calls.size());
        for (size_t i = 0; i < m_calls.size(); ++i) places.emplace(m_calls[i].span, i);
        for (size_t i = 0; i < m_calls.size(); ++i) {
            const auto parent = places.find(m_calls[i].parent);
            if (m_calls[i].parent == 0 || parent == places.end() || parent->second == i) continue;
            m_nodes[i].parent = parent->second;
            m_nodes[parent->second].open_children++;
        }
    }

    // From the leaves to the roots. Spans in a circle of parents are never reached and stand for themselves.
    void climb() {
        for (size_t i = 0; i < m_calls.size(); ++i)
            if (m_nodes[i].open_children == 0) m_order.push_back(i);
        for (size_t next = 0; next < m_order.size(); ++next) {
            const size_t index = m_order[next];
            const auto [all, calls] = weigh(index);
            const size_t parent = m_nodes[index].parent;
            if (parent == SIZE_MAX) continue;
            m_nodes[parent].below.add(all);
            m_nodes[parent].calls_below.add(calls);
            if (--m_nodes[parent].open_children == 0) m_order.push_back(parent);
        }
        for (size_t i = 0; i < m_nodes.size(); ++i)
            if (m_nodes[i].open_children > 0) m_nodes[i].stands = true;
    }

    // What a span and those below it stand for: all of it, and what is on the path of a call.
    std::pair<Sum, Sum> weigh(size_t index) {
        const Call& call = m_calls[index];
        Node& node = m_nodes[index];
        // Of a copy in another trace the spans around it know; it is no part of a call here.
        const bool is_copy = m_copies[index] != UsageCounter::Copy::none;
        const Sum own = is_copy ? Sum{} : Sum{call.tokens, call.cost_nano_usd};
        const Sum& inner = is_call(call.kind) ? node.calls_below : node.below;
        node.stands = !own.is_empty() && (inner.is_empty() || weight(own.tokens) > weight(inner.tokens));
        Sum chosen = node.stands ? own : inner;
        Sum all = chosen;
        if (is_call(call.kind)) { // what tools below a call use is apart from it
            all.add(node.below);
            subtract(all, node.calls_below);
        }
        if (m_copies[index] == UsageCounter::Copy::of_another_trace) all.add({call.tokens, call.cost_nano_usd});
        return {all, is_on_path_of_call(call.kind) ? chosen : Sum{}};
    }

    static void subtract(Sum& from, const Sum& what) {
        from.tokens.input -= what.tokens.input;
        from.tokens.cache_read -= what.tokens.cache_read;
        from.tokens.cache_write -= what.tokens.cache_write;
        from.tokens.output -= what.tokens.output;
        from.tokens.reasoning -= what.tokens.reasoning;
        from.cost -= what.cost;
    }

    void descend(size_t index) {
        const size_t above = m_nodes[index].parent;
        if (above == SIZE_MAX) return;
        const Node& parent = m_nodes[above];
        const SpanKind kind = m_calls[above].kind;
        Node& node = m_nodes[index];
        node.is_covered = parent.is_covered || (parent.stands && !is_call(kind) && m_calls[above].has_usage());
        node.is_call_covered =
            is_on_path_of_call(m_calls[index].kind) &&
            (parent.is_call_covered || (parent.stands && is_call(kind) && m_calls[above].has_usage()));
    }

    const std::vector<Call>& m_calls;
    const std::vector<UsageCounter::Copy>& m_copies;
    std::vector<Node> m_nodes;
    std::vector<size_t> m_order; // children before their parents
};

} // namespace

std::vector<bool> decide_counted(const std::vector<UsageCounter::Call>& calls,
                                 const std::vector<UsageCounter::Copy>& copies) {
    return TraceDecision(calls, copies).decide();
}

bool UsageCounter::Forgotten::has(uint64_t hash) const {
    for (const auto* filter : {&m_old, &m_new}) {
        if (filter->empty()) continue;
        bool found = true;
        for (uint64_t i = 0, step = (hash >> 32) | 1; i < 7 && found; ++i) {
            const uint64_t bit = (hash + i * step) % (words * 64);
            found = ((*filter)[bit / 64] >> (bit % 64) & 1) != 0;
        }
        if (found) return true;
    }
    return false;
}

void UsageCounter::Forgotten::add(uint64_t hash) {
    if (m_new.empty()) m_new.resize(words);
    for (uint64_t i = 0, step = (hash >> 32) | 1; i < 7; ++i) {
        const uint64_t bit = (hash + i * step) % (words * 64);
        m_new[bit / 64] |= uint64_t{1} << (bit % 64);
    }
    if (++m_count < most) return;
    m_old = std::move(m_new);
    m_new.clear();
    m_count = 0;
}

UsageCounter::Call* UsageCounter::find(Trace& trace, uint64_t span) {
    constexpr size_t few = 16;
    if (trace.calls.size() <= few) {
        for (Call& call : trace.calls)
            if (call.span == span) return &call;
        return nullptr;
    }
    for (size_t i = trace.place_of.size(); i < trace.calls.size(); ++i) trace.place_of.emplace(trace.calls[i].span, i);
    const auto place = trace.place_of.find(span);
    return place == trace.place_of.end() ? nullptr : &trace.calls[place->second];
}

bool UsageCounter::is_counted(const std::string& trace, uint64_t span) {
    const auto found = m_traces.find(trace);
    const Call* call = found == m_traces.end() ? nullptr : find(found->second, span);
    return call && call->is_counted;
}

// The span has another response now, and is no copy of this one.
void UsageCounter::leave_response(uint64_t response, const std::string& trace, uint64_t span) {
    m_copies.erase({trace, span});
    const auto places = m_responses.find(response);
    if (places == m_responses.end()) return;
    std::erase_if(places->second, [&](const Place& place) { return place.span == span && place.trace == trace; });
    if (places->second.empty()) m_responses.erase(places);
}

void UsageCounter::put(const std::string& trace, const Call& call) {
    const auto [place, is_new] = m_traces.try_emplace(trace);
    if (is_new) m_order.push_back(trace);
    if (Call* known = find(place->second, call.span)) {
        if (known->response != 0) m_changed_responses.insert(known->response);
        if (known->response != call.response) leave_response(known->response, trace, call.span);
        *known = call;
    } else {
        place->second.calls.push_back(call);
        ++m_spans;
    }
    m_changed.insert(trace);
    if (call.response == 0 || !call.has_usage() || !is_call(call.kind)) return;
    m_changed_responses.insert(call.response);
    auto& places = m_responses[call.response];
    const bool is_known = std::any_of(places.begin(), places.end(), [&](const Place& other) {
        return other.span == call.span && other.trace == trace;
    });
    if (!is_known) places.push_back({trace, call.span});
}

// Of the spans with one response one counts. Counts that differ a little differ by what an instrumentation added twice
// (the first piece of a stream): of these the smaller one is right. Much smaller ones are estimates or parts.
void UsageCounter::settle_response(uint64_t response) {
    const auto found = m_responses.find(response);
    if (found == m_responses.end()) return;
    std::vector<std::pair<const Call*, const Place*>> calls;
    int64_t most = 0;
    for (const Place& place : found->second) {
        const auto trace = m_traces.find(place.trace);
        const Call* call = trace == m_traces.end() ? nullptr : find(trace->second, place.span);
        if (!call || call->response != response) continue;
        calls.emplace_back(call, &place);
        most = std::max(most, call->tokens.total());
    }
    const auto rank = [&](const std::pair<const Call*, const Place*>& one) {
        const auto [total, details] = weight(one.first->tokens);
        const bool is_part = total < most - most / 20;
        return std::tuple(is_part, -details, is_part ? -total : total, one.first->start_ns,
                          std::string_view(one.second->trace), one.first->span);
    };
    const auto best =
        std::min_element(calls.begin(), calls.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    for (const Place& place : found->second) {
        m_changed.insert(place.trace);
        if (best == calls.end() || &place == best->second)
            m_copies.erase({place.trace, place.span});
        else
            m_copies[{place.trace, place.span}] =
                place.trace == best->second->trace ? Copy::of_this_trace : Copy::of_another_trace;
    }
}

void UsageCounter::settle_trace(const std::string& name, Trace& trace, std::vector<Change>& changes) {
    std::vector<Copy> copies(trace.calls.size());
    if (!m_copies.empty())
        for (size_t i = 0; i < trace.calls.size(); ++i)
            if (trace.calls[i].response != 0)
                if (const auto copy = m_copies.find({name, trace.calls[i].span}); copy != m_copies.end())
                    copies[i] = copy->second;
    const auto counted = decide_counted(trace.calls, copies);
    for (size_t i = 0; i < trace.calls.size(); ++i) {
        Call& call = trace.calls[i];
        if (!call.has_usage() || call.is_counted == counted[i]) continue;
        call.is_counted = counted[i];
        changes.push_back({name, call.span, counted[i]});
    }
}

std::vector<UsageCounter::Change> UsageCounter::settle() {
    for (const uint64_t response : m_changed_responses) settle_response(response);
    std::vector<Change> changes;
    for (const std::string& name : m_changed)
        if (const auto trace = m_traces.find(name); trace != m_traces.end()) settle_trace(name, trace->second, changes);
    m_changed.clear();
    m_changed_responses.clear();
    return changes;
}

void UsageCounter::trim() {
    while (m_spans > m_most_spans && m_order.size() > 1) {
        const std::string name = std::move(m_order.front());
        m_order.pop_front();
        const auto trace = m_traces.find(name);
        if (trace == m_traces.end()) continue;
        m_forgotten.add(std::hash<std::string_view>{}(name));
        for (const Call& call : trace->second.calls) {
            m_copies.erase({name, call.span});
            if (call.response == 0) continue;
            m_forgotten.add(call.response);
            if (const auto places = m_responses.find(call.response); places != m_responses.end()) {
                std::erase_if(places->second, [&](const Place& place) { return place.trace == name; });
                if (places->second.empty()) m_responses.erase(places);
            }
        }
        m_spans -= trace->second.calls.size();
        m_traces.erase(trace);
    }
}

} // namespace hone::telemetry
