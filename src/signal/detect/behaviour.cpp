#include "signal/detect/behaviour.h"

#include "base/text.h"
#include "signal/text/failure_text.h"
#include "signal/text/message_template.h"
#include "signal/text/prompt_text.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <set>

namespace hone::signal {

namespace {

constexpr size_t longest_step = 6000; // bytes of a step that are compared
constexpr double alike = 0.8;

// Model calls that this agent makes itself.
std::vector<size_t> own_calls(const SampledTrace& trace, size_t agent) {
    std::vector<size_t> calls;
    for (const size_t i : trace.below(agent))
        if (trace.spans[i].kind == "llm" && trace.above(i, "agent") == agent) calls.push_back(i);
    return calls;
}

// Spans that do something, below this one.
std::vector<size_t> actions_below(const SampledTrace& trace, size_t span) {
    std::vector<size_t> actions;
    for (const size_t i : trace.below(span)) {
        const SampledSpan& one = trace.spans[i];
        if (one.kind == "retriever" || one.kind == "agent") actions.push_back(i);
        if (one.kind == "tool" && !returns_result(one.tool.empty() ? one.name : one.tool)) actions.push_back(i);
    }
    return actions;
}

// The code of a step, else its tool calls, else its text.
std::string step_of(const SampledSpan& call) {
    if (!call.calls.empty()) {
        std::string text;
        for (const auto& one : call.calls) text += one.name + " " + one.arguments + "\n";
        return text;
    }
    const std::string_view text = truncate_utf8(call.output, longest_step);
    const size_t fence = text.find("```");
    if (fence == std::string_view::npos) return std::string(text);
    const size_t begin = text.find('\n', fence);
    if (begin == std::string_view::npos) return std::string(text);
    const size_t end = text.find("```", begin);
    return std::string(text.substr(begin, end == std::string_view::npos ? end : end - begin));
}

std::set<std::string> words_of(std::string_view text) {
    std::set<std::string> words;
    for (size_t at = 0; at < text.size();) {
        if (!is_identifier_letter(text[at])) {
            ++at;
            continue;
        }
        size_t end = at;
        while (end < text.size() && is_identifier_letter(text[end])) ++end;
        words.insert(lowercase_ascii(text.substr(at, end - at)));
        at = end;
    }
    return words;
}

double likeness_of(const std::set<std::string>& a, const std::set<std::string>& b) {
    if (a.empty() && b.empty()) return 1;
    size_t common = 0;
    for (const std::string& word : a) common += b.contains(word) ? 1 : 0;
    return static_cast<double>(common) / static_cast<double>(a.size() + b.size() - common);
}

std::string place_of(const SampledTrace& trace, size_t span) {
    const size_t agent = trace.spans[span].kind == "agent" ? span : trace.above(span, "agent");
    return normalised_name(trace.spans[agent == SampledTrace::none ? span : agent].name);
}

bool is_empty_result(std::string_view output) {
    const std::string_view text = trim(output);
    return text.empty() || text == "None" || text == "null" || text == "{}" || text == "\"\"" || text == "[]";
}

std::string shown(std::string_view text) {
    return plain_line(text, 240);
}

} // namespace

double likeness(std::string_view a, std::string_view b) {
    return likeness_of(words_of(a), words_of(b));
}

std::vector<std::string> offered_tools(const SampledTrace& trace, size_t agent) {
    std::set<std::string> tools;
    std::set<const void*> seen;
    for (const size_t i : own_calls(trace, agent)) {
        const SampledSpan& call = trace.spans[i];
        if (call.tools != nullptr && seen.insert(call.tools).second)
            for (const auto& [name, schema] : schemas_of(*call.tools)) tools.insert(name);
        for (const telemetry::Message* message : call.head)
            if (message->role != "assistant" && seen.insert(message).second) add_listed_tools(message->content, tools);
    }
    std::vector<std::string> made;
    for (const std::string& tool : tools)
        if (!returns_result(tool)) made.push_back(tool);
    return made;
}

std::vector<Sighting> unused_tools(const Sample& sample) {
    struct Agent {
        Sighting sighting;
        bool has_final = false;
        bool is_unused = false;
    };
    std::map<std::string, std::vector<Agent>> agents;
    for (size_t number = 0; number < sample.traces.size(); ++number) {
        const SampledTrace& trace = sample.traces[number];
        for (size_t i = 0; i < trace.spans.size(); ++i) {
            if (trace.spans[i].kind != "agent" || trace.spans[i].failed) continue;
            const auto calls = own_calls(trace, i);
            const auto tools = offered_tools(trace, i);
            if (calls.empty() || tools.empty()) continue;
            Agent agent;
            agent.sighting = {number, trace.spans[calls.back()].span_id, normalised_name(trace.spans[i].name), "", ""};
            for (const size_t below : trace.below(i))
                if (const SampledSpan& span = trace.spans[below];
                    span.kind == "tool" && returns_result(span.tool.empty() ? span.name : span.tool) &&
                    trace.above(below, "agent") == i) {
                    agent.has_final = true;
                    agent.sighting.span = span.span_id;
                }
            agent.is_unused = actions_below(trace, i).empty();
            for (const size_t call : calls) {
                const SampledSpan& span = trace.spans[call];
                for (const std::string& tool : tools) {
                    if (is_called_in_code(span.output, tool)) agent.is_unused = false;
                    for (const auto& one : span.calls)
                        if (one.name == tool) agent.is_unused = false;
                    const size_t at = find_word(span.output, tool);
                    if (agent.sighting.about.empty() && at != std::string_view::npos) {
                        agent.sighting.about = "named";
                        agent.sighting.excerpt = shown(sentence_at(span.output, at));
                    }
                }
            }
            if (agent.sighting.excerpt.empty()) agent.sighting.excerpt = shown(trace.spans[calls.back()].output);
            agents[agent.sighting.place].push_back(std::move(agent));
        }
    }
    std::vector<Sighting> found;
    for (auto& [name, all] : agents) {
        const auto used = std::count_if(all.begin(), all.end(), [](const Agent& agent) { return !agent.is_unused; });
        // An agent that converses may need no tool; one that works on tasks does.
        const bool needs_tools = used * 2 >= static_cast<ptrdiff_t>(all.size());
        for (Agent& agent : all)
            if (agent.is_unused && used > 0 && (agent.has_final || needs_tools))
                found.push_back(std::move(agent.sighting));
    }
    return found;
}

std::vector<Sighting> announced_calls(const Sample& sample) {
    std::vector<Sighting> found;
    for (size_t number = 0; number < sample.traces.size(); ++number) {
        const SampledTrace& trace = sample.traces[number];
        std::map<size_t, std::vector<std::string>> tools;
        for (size_t i = 0; i < trace.spans.size(); ++i) {
            const SampledSpan& call = trace.spans[i];
            if (call.kind != "llm" || call.failed || !call.calls.empty()) continue;
            const size_t step = call.parent, agent = trace.above(i, "agent");
            if (step == SampledTrace::none || agent == SampledTrace::none || step == agent) continue;
            if (trace.spans[step].kind != "chain" || trace.spans[step].failed) continue;
            const auto below = trace.below(step);
            // A step that acts, or that hands over the result, is another case.
            if (std::any_of(below.begin(), below.end(), [&](size_t one) {
                    return trace.spans[one].kind == "tool" || trace.spans[one].kind == "agent" ||
                           trace.spans[one].kind == "retriever";
                }))
                continue;
            if (!tools.contains(agent)) tools[agent] = offered_tools(trace, agent);
            for (const std::string& tool : tools[agent]) {
                const size_t at = find_word(call.output, tool);
                if (at == std::string_view::npos || is_called_in_code(call.output, tool)) continue;
                const std::string_view sentence = sentence_at(call.output, at);
                if (!is_intention(sentence)) continue;
                found.push_back({number, call.span_id, place_of(trace, i), tool, shown(sentence)});
                break;
            }
        }
    }
    return found;
}

std::vector<Sighting> invalid_calls(const Sample& sample) {
    std::vector<Sighting> found;
    std::map<const void*, std::map<std::string, Schema>> read;
    for (size_t number = 0; number < sample.traces.size(); ++number) {
        const SampledTrace& trace = sample.traces[number];
        for (size_t i = 0; i < trace.spans.size(); ++i) {
            const SampledSpan& call = trace.spans[i];
            if (call.kind != "llm" || call.tools == nullptr || call.calls.empty()) continue;
            auto [at, is_new] = read.try_emplace(call.tools);
            if (is_new) at->second = schemas_of(*call.tools);
            if (at->second.empty()) continue;
            for (const auto& one : call.calls) {
                const auto schema = at->second.find(one.name);
                const std::string written = shown(one.name + " " + one.arguments);
                if (schema == at->second.end()) {
                    found.push_back({number, call.span_id, place_of(trace, i), one.name + "\nunknown", written});
                    break;
                }
                const auto arguments = json::parse(one.arguments.empty() ? "{}" : std::string_view(one.arguments));
                const json::Object* fields = arguments.ok() ? arguments.value().if_object() : nullptr;
                bool fits = fields != nullptr;
                if (fits && schema->second.is_closed)
                    for (const auto& field : *fields)
                        fits &= schema->second.properties.contains(std::string(field.key()));
                if (fits)
                    for (const std::string& name : schema->second.required) fits &= fields->contains(name);
                if (fits) continue;
                found.push_back({number, call.span_id, place_of(trace, i), one.name + "\narguments", written});
                break;
            }
        }
    }
    return found;
}

std::vector<Sighting> repeated_steps(const Sample& sample) {
    std::vector<Sighting> found;
    for (size_t number = 0; number < sample.traces.size(); ++number) {
        const SampledTrace& trace = sample.traces[number];
        for (size_t agent = 0; agent < trace.spans.size(); ++agent) {
            if (trace.spans[agent].kind != "agent") continue;
            std::vector<std::set<std::string>> steps;
            for (const size_t i : own_calls(trace, agent)) {
                if (steps.size() >= 60) break;
                const std::string step = step_of(trace.spans[i]);
                std::set<std::string> words = words_of(step);
                if (words.size() < 3) continue; // a step of few words is like any other
                std::vector<bool> like;
                for (const auto& earlier : steps) like.push_back(likeness_of(words, earlier) >= alike);
                const auto count = std::count(like.begin(), like.end(), true);
                const size_t n = like.size();
                const bool alternates =
                    n >= 3 && like[n - 2] && !like[n - 1] && likeness_of(steps[n - 1], steps[n - 3]) >= alike;
                if (count >= 2 || alternates)
                    found.push_back({number, trace.spans[i].span_id, place_of(trace, agent),
                                     alternates && count < 2 ? "alternates" : "repeats", shown(step)});
                steps.push_back(std::move(words));
            }
        }
    }
    return found;
}

std::vector<Sighting> ignored_instructions(const Sample& sample) {
    std::vector<Sighting> found;
    struct Tagged {
        std::vector<Sighting> without;
        int64_t with = 0;
    };
    std::map<std::string, Tagged> tags;
    std::map<const telemetry::Message*, int64_t> limits;
    for (size_t number = 0; number < sample.traces.size(); ++number) {
        const SampledTrace& trace = sample.traces[number];
        for (size_t i = 0; i < trace.spans.size(); ++i) {
            const SampledSpan& call = trace.spans[i];
            if (call.kind != "llm" || call.failed || call.output.empty()) continue;
            int64_t allowed = 0;
            for (const telemetry::Message* message : call.head) {
                if (message->role == "assistant") continue;
                const auto [at, is_new] = limits.try_emplace(message, 0);
                if (is_new) at->second = characters_allowed(message->content);
                allowed = std::max(allowed, at->second);
            }
            if (const int64_t printed = longest_printed(step_of(call)); allowed > 0 && printed > allowed)
                found.push_back(
                    {number, call.span_id, place_of(trace, i), fmt::format("{} characters", allowed),
                     fmt::format("The code prints {} characters; the instruction allows {}.", printed, allowed)});
            // The newest message states the format of this output.
            if (call.newest.role == "assistant" || !call.calls.empty()) continue;
            for (const std::string& tag : required_tags(truncate_utf8(call.newest.content, 20'000))) {
                Tagged& tagged = tags[tag];
                if (call.output.find(tag) != std::string::npos)
                    ++tagged.with;
                else
                    tagged.without.push_back({number, call.span_id, place_of(trace, i), tag, shown(call.output)});
            }
            if (requires_json(call.newest.content) && !has_json(call.output))
                found.push_back({number, call.span_id, place_of(trace, i), "JSON", shown(call.output)});
        }
    }
    for (auto& [tag, tagged] : tags) {
        // A tag that no output has is a stop sequence, which the provider removes.
        if (tagged.with * 4 < static_cast<int64_t>(tagged.without.size())) continue;
        std::move(tagged.without.begin(), tagged.without.end(), std::back_inserter(found));
    }
    return found;
}

std::vector<Sighting> missing_results(const Sample& sample) {
    std::vector<Sighting> found;
    std::map<std::string, std::pair<int64_t, std::vector<Sighting>>> empty; // results, and those without
    for (size_t number = 0; number < sample.traces.size(); ++number) {
        const SampledTrace& trace = sample.traces[number];
        for (size_t i = 0; i < trace.spans.size(); ++i) {
            const SampledSpan& agent = trace.spans[i];
            if (agent.kind != "agent" || agent.failed) continue;
            const auto calls = own_calls(trace, i);
            if (calls.empty()) continue;
            const auto steps = std::count_if(agent.children.begin(), agent.children.end(),
                                             [&](size_t child) { return trace.spans[child].kind == "chain"; });
            const std::string place = normalised_name(agent.name);
            if (agent.most_steps > 0 && steps >= agent.most_steps) {
                found.push_back({number, trace.spans[calls.back()].span_id, place, "steps",
                                 fmt::format("It ends after {} steps, which is its limit.", agent.most_steps)});
                continue;
            }
            auto& [results, without] = empty[place];
            if (!is_empty_result(agent.output))
                ++results;
            else
                without.push_back({number, agent.span_id, place, "empty", shown(trace.spans[calls.back()].output)});
        }
    }
    for (auto& [place, counted] : empty) // agents that record no result at all are not concerned
        if (counted.first >= static_cast<int64_t>(counted.second.size()) * 2)
            std::move(counted.second.begin(), counted.second.end(), std::back_inserter(found));
    return found;
}

std::vector<Sighting> growing_contexts(const Sample& sample) {
    constexpr int64_t large = 20'000; // tokens
    std::vector<Sighting> found;
    for (size_t number = 0; number < sample.traces.size(); ++number) {
        const SampledTrace& trace = sample.traces[number];
        for (size_t agent = 0; agent < trace.spans.size(); ++agent) {
            if (trace.spans[agent].kind != "agent") continue;
            int64_t first = 0, last = 0;
            for (const size_t i : own_calls(trace, agent)) {
                const SampledSpan& call = trace.spans[i];
                const bool is_cut = call.finish_reason == "length" || call.finish_reason == "max_tokens" ||
                                    (call.failed && is_context_limit(call.message));
                if (is_cut && first > 0 && last >= large && last >= first * 4)
                    found.push_back({number, call.span_id, place_of(trace, agent), "context",
                                     fmt::format("The input grows from {} to {} tokens, then the call is {}.", first,
                                                 last, call.failed ? "rejected" : "cut off")});
                if (call.input_tokens <= 0) continue;
                if (first == 0) first = call.input_tokens;
                last = call.input_tokens;
            }
        }
    }
    return found;
}

} // namespace hone::signal
