#include "signal/analysis/small_clusters.h"

#include "base/text.h"

#include <algorithm>
#include <map>
#include <set>

namespace hone::signal {

namespace {

struct Failed {
    size_t trace = 0;
    size_t span = 0;
    Cause cause;
    std::string pattern;
    std::string key; // what makes two causes the same
    bool ends_trace = false;
};

Cause cause_of(const SampledSpan& span) {
    Cause cause = innermost_cause(span.message);
    if (cause.type.empty() && cause.detail.empty()) cause.type = span.exception;
    return cause;
}

// Nothing but the spans above it comes later, or the root fails too.
bool ends_trace(const SampledTrace& trace, size_t span) {
    size_t top = span;
    for (size_t steps = 0; trace.spans[top].parent != SampledTrace::none && steps < trace.spans.size(); ++steps)
        top = trace.spans[top].parent;
    if (top != span && trace.spans[top].failed) return true;
    return std::none_of(trace.spans.begin(), trace.spans.end(), [&](const SampledSpan& other) {
        return other.start_ns >= trace.spans[span].end_ns && &other != &trace.spans[span];
    });
}

bool is_report_role(std::string_view role) {
    return role != "assistant" && role != "system" && role != "developer";
}

// What makes two causes the same: the type, else the words.
std::string key_of(const Cause& cause) {
    return cause.type.empty() ? cause_template(cause) : cause.type;
}

// The same of a failed span, whose message may not repeat the type.
std::string key_of(const SampledSpan& span, const Cause& cause) {
    if (!cause.type.empty()) return cause.type;
    const std::string type = innermost_cause(span.exception + ": failed").type;
    return type.empty() ? cause_template(cause) : type;
}

// The name of the tool, where its span has another one: frameworks name such spans after themselves.
const std::string& place_name(const SampledSpan& span) {
    if (!span.tool_around.empty()) return span.tool_around;
    return span.kind == "tool" && !span.tool.empty() ? span.tool : span.name;
}

// A model call that two instrumentations saw: the inner span shows that it failed, the outer one also why.
bool is_silent_twin(const SampledTrace& trace, size_t span) {
    const SampledSpan& inner = trace.spans[span];
    if (inner.kind != "llm" || !inner.message.empty() || inner.parent == SampledTrace::none) return false;
    const SampledSpan& outer = trace.spans[inner.parent];
    return outer.kind == "llm" && outer.failed && !outer.message.empty();
}

// A span further below failed with the same cause, and those between them do not record it.
bool passes_on(const SampledTrace& trace, size_t span, const std::string& key) {
    const auto below = trace.below(span);
    return std::any_of(below.begin(), below.end(), [&](size_t one) {
        return trace.spans[one].failed && !is_silent_twin(trace, one) &&
               key_of(trace.spans[one], cause_of(trace.spans[one])) == key;
    });
}

// The newest message of this model call is the result of a tool whose span failed.
bool follows_failed_tool(const SampledTrace& trace, size_t call) {
    const size_t agent = trace.above(call, "agent");
    int64_t previous_ns = 0; // when the agent's previous model call began
    for (size_t i = 0; i < call; ++i)
        if (trace.spans[i].kind == "llm" && trace.above(i, "agent") == agent)
            previous_ns = std::max(previous_ns, trace.spans[i].start_ns);
    return std::any_of(trace.spans.begin(), trace.spans.end(), [&](const SampledSpan& span) {
        return span.kind == "tool" && span.failed && span.start_ns >= previous_ns &&
               span.end_ns <= trace.spans[call].start_ns;
    });
}

// Adds a failure to a cluster.
void add_failure(Cluster& cluster, const SampledTrace& trace, const Failed& failed) {
    const SampledSpan& span = trace.spans[failed.span];
    if (cluster.spans == 0) {
        cluster.name = normalised_name(place_name(span));
        cluster.exception = span.exception;
        cluster.message = span.message;
        cluster.cause = failed.cause;
        cluster.in_exception = span.in_exception;
        cluster.tool_around = span.tool_around;
        cluster.is_small = cluster.by_tool = true;
        cluster.part = part_of(span);
    }
    ++cluster.spans;
    cluster.ids.push_back(span.span_id);
    if (std::find(cluster.names.begin(), cluster.names.end(), span.name) == cluster.names.end())
        cluster.names.push_back(span.name);
    if (span.kind != "tool" || place_name(span) == span.name)
        cluster.by_tool = false;
    else if (std::find(cluster.tools.begin(), cluster.tools.end(), span.tool) == cluster.tools.end())
        cluster.tools.push_back(span.tool);
    const auto part = std::find_if(cluster.parts.begin(), cluster.parts.end(),
                                   [&](const auto& known) { return known.first == failed.pattern; });
    if (part == cluster.parts.end())
        cluster.parts.emplace_back(failed.pattern, 1);
    else
        ++part->second;
}

// Counts traces and what the failure did to them.
void count_traces(Cluster& cluster, const std::vector<const Failed*>& failures) {
    std::map<size_t, int64_t> traces;
    std::set<size_t> ended;
    for (const Failed* failed : failures) {
        ++traces[failed->trace];
        if (failed->ends_trace) ended.insert(failed->trace);
    }
    cluster.traces = static_cast<int64_t>(traces.size());
    cluster.ended = static_cast<int64_t>(ended.size());
    for (const auto& [trace, spans] : traces) cluster.most_in_trace = std::max(cluster.most_in_trace, spans);
    std::stable_sort(cluster.parts.begin(), cluster.parts.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
}

// Model calls whose newest message reports one of the failures.
void add_reports(Cluster& cluster, const Sample& sample, const std::vector<const Failed*>& failures) {
    std::set<std::pair<size_t, std::string>> causes;
    for (const Failed* failed : failures) causes.emplace(failed->trace, failed->key);
    std::set<size_t> traces;
    for (const auto& [trace, key] : causes) traces.insert(trace);
    for (const size_t number : traces)
        for (const SampledSpan& span : sample.traces[number].spans) {
            if (span.kind != "llm" || !is_report_role(span.newest.role)) continue;
            const auto reported = reported_failure(span.newest.content);
            if (reported && causes.contains({number, key_of(*reported)})) cluster.reports.push_back(span.span_id);
        }
}

bool is_evidence(const std::vector<const Failed*>& failures) {
    return failures.size() >= 2 ||
           std::any_of(failures.begin(), failures.end(), [](const Failed* failed) { return failed->ends_trace; });
}

} // namespace

bool is_origin(const SampledTrace& trace, size_t span) {
    if (!trace.spans[span].failed || is_silent_twin(trace, span)) return false;
    const auto& children = trace.spans[span].children;
    return std::none_of(children.begin(), children.end(),
                        [&](size_t child) { return trace.spans[child].failed && !is_silent_twin(trace, child); });
}

FailedPart part_of(const SampledSpan& span) {
    if (is_provider_limit(span.exception, span.message)) return FailedPart::limits;
    if (span.kind == "tool" || !span.tool_around.empty()) return FailedPart::tools;
    return is_unreadable_type(span.exception) ? FailedPart::unreadable : FailedPart::others;
}

std::vector<Cluster> small_clusters(const Sample& sample, FailedPart part) {
    std::vector<Failed> all;
    for (size_t number = 0; number < sample.traces.size(); ++number) {
        const SampledTrace& trace = sample.traces[number];
        for (size_t i = 0; i < trace.spans.size(); ++i) {
            if (!is_origin(trace, i) || part_of(trace.spans[i]) != part) continue;
            Failed failed{number, i, cause_of(trace.spans[i]), {}, {}, ends_trace(trace, i)};
            failed.pattern = cause_template(failed.cause);
            failed.key = key_of(trace.spans[i], failed.cause);
            if (passes_on(trace, i, failed.key)) continue;
            all.push_back(std::move(failed));
        }
    }
    using Key = std::pair<std::string, std::string>; // place, type of the cause
    std::map<Key, std::vector<const Failed*>> groups;
    for (const Failed& failed : all) {
        const SampledSpan& span = sample.traces[failed.trace].spans[failed.span];
        groups[{normalised_name(place_name(span)) + "\n" + span.exception, failed.key}].push_back(&failed);
    }
    // What is rare is collected by place.
    std::map<std::string, std::vector<const Failed*>> rest;
    std::vector<Cluster> made;
    const auto add = [&](const std::vector<const Failed*>& failures, bool is_rest) {
        Cluster cluster;
        for (const Failed* failed : failures) add_failure(cluster, sample.traces[failed->trace], *failed);
        count_traces(cluster, failures);
        add_reports(cluster, sample, failures);
        cluster.has_rest = is_rest;
        // One cause is named in full, several by their type.
        if (!is_rest) cluster.pattern = cluster.parts.size() == 1 ? cluster.parts.front().first : failures.front()->key;
        made.push_back(std::move(cluster));
    };
    for (const auto& [key, failures] : groups) {
        if (is_evidence(failures))
            add(failures, false);
        else
            for (const Failed* failed : failures)
                rest[normalised_name(place_name(sample.traces[failed->trace].spans[failed->span]))].push_back(failed);
    }
    for (const auto& [place, failures] : rest)
        if (failures.size() >= 2) add(failures, true);
    return made;
}

std::vector<TextFailure> text_failures(const Sample& sample) {
    std::vector<TextFailure> found;
    for (size_t number = 0; number < sample.traces.size(); ++number) {
        const SampledTrace& trace = sample.traces[number];
        std::set<std::string> known; // causes of spans that failed
        for (const SampledSpan& span : trace.spans)
            if (span.failed) known.insert(key_of(span, cause_of(span)));
        for (size_t i = 0; i < trace.spans.size(); ++i) {
            const SampledSpan& span = trace.spans[i];
            if (span.failed) continue;
            const bool is_model = span.kind == "llm";
            if (is_model && !is_report_role(span.newest.role)) continue;
            if (!is_model && span.kind != "tool" && span.kind != "chain") continue;
            const auto cause = reported_failure(is_model ? span.newest.content : span.output);
            if (!cause || known.contains(key_of(*cause))) continue;
            // The tool's span records it in other words.
            if (is_model && follows_failed_tool(trace, i)) continue;
            found.push_back({number, i, *cause});
        }
    }
    return found;
}

} // namespace hone::signal
