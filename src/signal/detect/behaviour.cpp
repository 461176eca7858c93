#include "signal/detect/behaviour.h"

#include "base/text.h"
#include "signal/text/failure_text.h"
#include "signal/text/message_template.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <set>

namespace hone::signal {

namespace {

constexpr size_t longest_step = 6000; // bytes of a step that are compared
constexpr double alike = 0.8;

bool is_identifier_letter(char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

bool is_identifier(std::string_view word) {
    return word.size() >= 3 && word.size() <= 64 && std::isalpha(static_cast<unsigned char>(word.front())) != 0 &&
           std::all_of(word.begin(), word.end(), is_identifier_letter);
}

// A tool that only hands over the result.
bool returns_result(std::string_view tool) {
    std::string name = lowercase_ascii(tool);
    std::erase_if(name, [](char letter) { return !std::isalnum(static_cast<unsigned char>(letter)); });
    for (const std::string_view word : {"finalanswer", "finalresult", "finalresponse", "submitanswer", "submitresult",
                                        "returnresult", "attemptcompletion"})
        if (name.find(word) != std::string::npos) return true;
    return name == "finish" || name == "submit" || name == "done" || name == "respond";
}

// Where the word occurs as a whole word, from `from` on.
size_t find_word(std::string_view text, std::string_view word, size_t from = 0) {
    for (size_t at = text.find(word, from); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const bool begins = at == 0 || !is_identifier_letter(text[at - 1]);
        const size_t end = at + word.size();
        if (begins && (end >= text.size() || !is_identifier_letter(text[end]))) return at;
    }
    return std::string_view::npos;
}

// "search(" : the tool is called in code.
bool is_called_in_code(std::string_view text, std::string_view tool) {
    for (size_t at = find_word(text, tool); at != std::string_view::npos; at = find_word(text, tool, at + 1)) {
        size_t end = at + tool.size();
        while (end < text.size() && text[end] == ' ') ++end;
        if (end < text.size() && text[end] == '(') return true;
    }
    return false;
}

// Tools that a prompt lists: "…these tools:", then lines "- name: what it does".
void add_listed_tools(std::string_view prompt, std::set<std::string>& tools) {
    bool in_list = false;
    for (const std::string_view raw : split(truncate_utf8(prompt, 60'000), '\n')) {
        const std::string_view line = trim(raw);
        if (line.ends_with(':') && !line.starts_with('-')) {
            const std::string lowered = lowercase_ascii(line);
            in_list = lowered.find("tools") != std::string::npos || lowered.find("team members") != std::string::npos ||
                      lowered.find("functions") != std::string::npos || lowered.find("agents") != std::string::npos;
            continue;
        }
        if (!in_list || !(line.starts_with("- ") || line.starts_with("* "))) continue;
        std::string_view name = trim(line.substr(2));
        name = name.substr(0, std::min(name.find_first_of(":( "), name.size()));
        while (!name.empty() && (name.front() == '`' || name.front() == '*')) name.remove_prefix(1);
        while (!name.empty() && (name.back() == '`' || name.back() == '*')) name.remove_suffix(1);
        if (is_identifier(name)) tools.emplace(name);
    }
}

struct Schema {
    std::string name;
    std::set<std::string> properties;
    std::vector<std::string> required;
    bool is_closed = false; // its properties are listed
};

std::optional<Schema> read_schema(const json::Value& value) {
    const json::Object* object = value.if_object();
    if (object == nullptr) return std::nullopt;
    if (const json::Value* function = object->if_contains("function"); function != nullptr && function->is_object())
        object = &function->get_object();
    const json::Value* name = object->if_contains("name");
    if (name == nullptr || !name->is_string()) return std::nullopt;
    Schema schema;
    schema.name = std::string(name->get_string());
    for (const char* key : {"parameters", "input_schema", "inputSchema"}) {
        const json::Value* parameters = object->if_contains(key);
        if (parameters == nullptr || !parameters->is_object()) continue;
        const json::Object& fields = parameters->get_object();
        if (const json::Value* properties = fields.if_contains("properties"); properties && properties->is_object()) {
            schema.is_closed = true;
            for (const auto& property : properties->get_object()) schema.properties.emplace(property.key());
        }
        if (const json::Value* more = fields.if_contains("additionalProperties"))
            if (more->is_object() || (more->is_bool() && more->get_bool())) schema.is_closed = false;
        if (const json::Value* required = fields.if_contains("required"); required != nullptr && required->is_array())
            for (const json::Value& one : required->get_array())
                if (one.is_string()) schema.required.emplace_back(one.get_string());
    }
    return schema;
}

std::map<std::string, Schema> schemas_of(const std::vector<std::string>& tools) {
    std::map<std::string, Schema> made;
    for (const std::string& text : tools) {
        const auto parsed = json::parse(text);
        if (!parsed.ok()) continue;
        // One definition, or a list of them.
        if (const json::Array* list = parsed.value().if_array()) {
            for (const json::Value& one : *list)
                if (auto schema = read_schema(one)) made.emplace(schema->name, *schema);
        } else if (auto schema = read_schema(parsed.value())) {
            made.emplace(schema->name, *schema);
        }
    }
    return made;
}

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

std::string_view sentence_at(std::string_view text, size_t at) {
    const size_t before = text.find_last_of(".!?\n", at);
    const size_t begin = before == std::string_view::npos ? 0 : before + 1;
    size_t end = at;
    while (end < text.size() && text[end] != '\n' &&
           !((text[end] == '.' || text[end] == '!' || text[end] == '?') &&
             (end + 1 >= text.size() || std::isspace(static_cast<unsigned char>(text[end + 1])) != 0)))
        ++end;
    return trim(text.substr(begin, end - begin));
}

bool is_intention(std::string_view sentence) {
    const std::string text = lowercase_ascii(sentence);
    for (const std::string_view word : {"will", "let me", "let's", "now", "need to", "going to", "ask", "use", "using",
                                        "send", "call", "calling", "request", "i'll"})
        if (find_word(text, word) != std::string_view::npos) return true;
    return false;
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

// The agent was told of a limit: "500 characters at a time", "up to the first 300 characters".
int64_t characters_allowed(std::string_view text) {
    int64_t allowed = 0;
    constexpr std::string_view unit = " characters";
    for (size_t at = text.find(unit); at != std::string_view::npos; at = text.find(unit, at + 1)) {
        size_t begin = at;
        while (begin > 0 && std::isdigit(static_cast<unsigned char>(text[begin - 1])) != 0) --begin;
        if (begin == at || at - begin > 7) continue;
        const std::string_view before = text.substr(begin > 60 ? begin - 60 : 0, std::min<size_t>(begin, 60));
        const std::string around = lowercase_ascii(before) + "|" + lowercase_ascii(text.substr(at + unit.size(), 16));
        for (const std::string_view word : {"first", "most", "up to", "upto", "only", "maximum", "no more than",
                                            "limit", "at a time", "make sure", "than"})
            if (around.find(word) != std::string::npos) {
                const auto number = parse_integer(text.substr(begin, at - begin));
                if (number.ok()) allowed = std::max(allowed, number.value());
                break;
            }
    }
    return allowed;
}

// The longest part that code prints: print(text[:1000]), text[i:i + 2000].
int64_t longest_printed(std::string_view code) {
    if (code.find("print") == std::string_view::npos && code.find("console.log") == std::string_view::npos) return 0;
    int64_t longest = 0;
    for (size_t at = code.find(']'); at != std::string_view::npos; at = code.find(']', at + 1)) {
        size_t begin = at;
        while (begin > 0 && std::isdigit(static_cast<unsigned char>(code[begin - 1])) != 0) --begin;
        if (begin == at || at - begin > 8) continue;
        // Between the colon and the number there is nothing, or a variable and a plus.
        size_t before = begin;
        while (before > 0 &&
               (is_identifier_letter(code[before - 1]) || code[before - 1] == ' ' || code[before - 1] == '+'))
            --before;
        if (before == 0 || code[before - 1] != ':') continue;
        const auto number = parse_integer(code.substr(begin, at - begin));
        if (number.ok()) longest = std::max(longest, number.value());
    }
    return longest;
}

// Tags that an instruction requires: "must end with '<end>'", "write the '<end_plan>' tag".
std::vector<std::string> required_tags(std::string_view text) {
    std::vector<std::string> tags;
    for (size_t at = text.find('<'); at != std::string_view::npos && tags.size() < 4; at = text.find('<', at + 1)) {
        const size_t end = text.find('>', at);
        if (end == std::string_view::npos) break;
        const std::string_view name = text.substr(at + 1, end - at - 1);
        if (!is_identifier(name)) continue;
        const std::string before = lowercase_ascii(text.substr(at > 40 ? at - 40 : 0, std::min<size_t>(at, 40)));
        const std::string after = lowercase_ascii(text.substr(end + 1, 24));
        const bool is_required =
            before.find("end with") != std::string::npos || before.find("start with") != std::string::npos ||
            before.find("must contain") != std::string::npos ||
            (before.find("write the") != std::string::npos && after.find("tag") != std::string::npos);
        if (is_required) tags.emplace_back(text.substr(at, end + 1 - at));
    }
    return tags;
}

// The instruction requests JSON and nothing else.
bool requires_json(std::string_view text) {
    const std::string lowered = lowercase_ascii(truncate_utf8(text, 20'000));
    for (const std::string_view phrase :
         {"respond only with json", "respond with json only", "return only json", "return only valid json",
          "output only json", "only output json", "only return json", "respond only in json",
          "respond with valid json only", "respond only with a json", "respond only with valid json",
          "return only a json"})
        if (lowered.find(phrase) != std::string::npos) return true;
    return false;
}

bool has_json(std::string_view text) {
    text = trim(text);
    if (text.starts_with("```")) {
        const size_t line = text.find('\n'), end = text.rfind("```");
        if (line != std::string_view::npos && end > line) text = trim(text.substr(line, end - line));
    }
    return json::parse(text).ok();
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
