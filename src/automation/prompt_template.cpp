#include "automation/prompt_template.h"

#include "base/text.h"

#include <charconv>
#include <cmath>

namespace hone::automation {

namespace {

using enum VariableType;

constexpr Variable table[] = {
    {"project", name, "Name of the project."},
    {"project_id", word, "Its id."},
    {"automation", name, "Name of the automation."},
    {"automation_id", word, "Its id."},
    {"slot", word, "Id of the slot."},
    {"due_at", time, "When it was due."},
    {"window.from", time, "Start of the time window."},
    {"window.to", time, "End of the time window."},
    {"links.traces", address, "The traces of that time in the web UI."},
    {"links.automation", address, "The automation in the web UI."},
    {"trigger.type", word, "cron, metric, monitor, webhook, or manual for run now."},
    {"trigger.file", address, "File with everything that the trigger saw, as JSON."},
    {"trigger.metric", word, "What was measured.", TriggerType::metric},
    {"trigger.comparator", word, "above, at_least, below or at_most.", TriggerType::metric},
    {"trigger.value", number, "The measured value."},
    {"trigger.threshold", number, "What it was compared with."},
    {"trigger.samples", number, "How many spans it was measured on.", TriggerType::metric},
    {"trigger.monitor", word, "Id of the monitor.", TriggerType::monitor},
};

bool has_value(std::string_view variable, TriggerType trigger) {
    if (!variable.starts_with("trigger.value") && !variable.starts_with("trigger.threshold")) return true;
    return trigger == TriggerType::metric || trigger == TriggerType::monitor || trigger == TriggerType::managed;
}

std::string known_names(TriggerType trigger) {
    std::string names;
    for (const Variable& variable : table)
        if ((!variable.only || *variable.only == trigger) && has_value(variable.name, trigger))
            names += (names.empty() ? "" : ", ") + std::string(variable.name);
    return names;
}

// Calls `text` and `variable` for the pieces in order.
template <class Text, class Variable>
Result<> walk(std::string_view prompt, Text text, Variable variable) {
    for (size_t at = 0; at < prompt.size();) {
        const size_t open = prompt.find("{{", at);
        if (open == prompt.npos) {
            text(prompt.substr(at));
            break;
        }
        if (open > at && prompt[open - 1] == '\\') {
            text(prompt.substr(at, open - 1 - at));
            text("{{");
            at = open + 2;
            continue;
        }
        text(prompt.substr(at, open - at));
        const size_t close = prompt.find("}}", open + 2);
        if (close == prompt.npos)
            return invalid("prompt: \"{{\" is not closed by \"}}\"; write \\{{ for literal braces");
        TRY(variable(trim(prompt.substr(open + 2, close - open - 2))));
        at = close + 2;
    }
    return {};
}

std::string number_text(double value) {
    char buffer[40];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, 6).ptr;
    return std::string(buffer, end);
}

const json::Value* member(const json::Value& value, std::string_view name) {
    return value.is_object() ? value.get_object().if_contains(name) : nullptr;
}

std::optional<double> number_of(const json::Value& values, std::string_view name) {
    const json::Value* found = member(values, name);
    if (found == nullptr) return std::nullopt;
    if (found->is_double()) return found->get_double();
    if (found->is_int64()) return static_cast<double>(found->get_int64());
    if (found->is_uint64()) return static_cast<double>(found->get_uint64());
    return std::nullopt;
}

// Only what reads as a time: a monitor's values may come from elsewhere.
std::optional<Time> time_of(const json::Value& values, std::string_view name) {
    const json::Value* window = member(values, "window");
    const json::Value* found = window != nullptr ? member(*window, name) : nullptr;
    if (found == nullptr || !found->is_string()) return std::nullopt;
    const auto parsed = parse_time(std::string_view(found->get_string()));
    return parsed.ok() ? std::optional(parsed.value()) : std::nullopt;
}

std::string short_time(Time time) {
    return to_text(time).substr(0, 19) + "Z";
}

// One line, nothing that could pass for more than a name.
std::string plain_name(std::string_view name) {
    std::string plain;
    for (const char c : name) plain += c == '\n' || c == '\r' || c == '`' || c == '{' || c == '}' ? ' ' : c;
    return std::string(truncate_utf8(plain, 100));
}

} // namespace

std::span<const Variable> variables() {
    return table;
}

Result<> check_template(std::string_view prompt, TriggerType trigger) {
    return walk(
        prompt, [](std::string_view) {},
        [&](std::string_view wanted) -> Result<> {
            const std::string shown = "{{" + std::string(truncate_utf8(wanted, 60)) + "}}";
            if (wanted.starts_with("trigger.payload") || wanted.starts_with("payload"))
                return invalid("prompt: " + shown +
                               ": what a sender wrote is never put into a prompt; refer to it with {{trigger.file}}");
            for (const Variable& variable : table) {
                if (variable.name != wanted) continue;
                if (variable.only && *variable.only != trigger)
                    return invalid("prompt: " + shown + " belongs to triggers of type " +
                                   std::string(name_of(*variable.only)));
                if (!has_value(wanted, trigger))
                    return invalid("prompt: " + shown + " belongs to triggers that measure something");
                return {};
            }
            return invalid("prompt: the variable " + shown + " is unknown; there are " + known_names(trigger));
        });
}

Values values_of(const Automation& automation, const Slot& slot) {
    std::map<std::string, std::string> values;
    const Time to = time_of(slot.values, "to").value_or(slot.due_at);
    const Time from = time_of(slot.values, "from").value_or(to - std::chrono::hours(24));
    values["project"] = plain_name(automation.project_name);
    values["project_id"] = automation.project_id.text();
    values["automation"] = plain_name(automation.name);
    values["automation_id"] = automation.id.text();
    values["slot"] = slot.id.text();
    values["due_at"] = short_time(slot.due_at);
    values["window.from"] = short_time(from);
    values["window.to"] = short_time(to);
    values["links.traces"] = "/projects/" + automation.project_id.text() +
                             "/traces?range=" + percent_encode(short_time(from) + ".." + short_time(to));
    values["links.automation"] = "/automations/" + automation.id.text();
    values["trigger.type"] = slot.by_hand ? "manual" : std::string(name_of(automation.trigger.type));
    values["trigger.file"] = trigger_file;
    if (automation.trigger.metric) values["trigger.metric"] = name_of(*automation.trigger.metric);
    if (automation.trigger.comparator) values["trigger.comparator"] = name_of(*automation.trigger.comparator);
    if (automation.trigger.monitor) values["trigger.monitor"] = plain_name(*automation.trigger.monitor);
    const std::pair<const char*, std::optional<double>> numbers[] = {
        {"trigger.value", number_of(slot.values, "value")},
        {"trigger.threshold",
         number_of(slot.values, "threshold") ? number_of(slot.values, "threshold") : automation.trigger.threshold},
        {"trigger.samples", number_of(slot.values, "samples")},
    };
    for (const auto& [key, value] : numbers)
        if (value && std::isfinite(*value)) values[key] = number_text(*value);
    return values;
}

std::string fill_template(std::string_view prompt, const Values& values) {
    std::string filled;
    // One that was never checked is used unchanged.
    const auto walked = walk(
        prompt, [&](std::string_view text) { filled += text; },
        [&](std::string_view wanted) -> Result<> {
            const auto found = values.find(std::string(wanted));
            filled += found == values.end() ? "(unknown)" : found->second;
            return {};
        });
    return walked.ok() ? filled : std::string(prompt);
}

} // namespace hone::automation
