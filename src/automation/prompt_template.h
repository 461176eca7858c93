// Prompts with variables: `Check {{window.from}} to {{window.to}} of {{project}}.` Every variable has a type whose
// text cannot carry a sentence: numbers, times, addresses, names of our own things. Text from outside (payloads,
// trace text) is never put into a prompt; it is in a file that the prompt may name with {{trigger.file}}.
// `\{{` is a literal brace. Pure; any thread.
#pragma once

#include "automation/automation.h"

#include <map>
#include <span>

namespace hone::automation {

enum class VariableType { name, number, time, address, word };
constexpr auto enum_names(VariableType) {
    return std::array{EnumName{VariableType::name, "name"}, EnumName{VariableType::number, "number"},
                      EnumName{VariableType::time, "time"}, EnumName{VariableType::address, "address"},
                      EnumName{VariableType::word, "word"}};
}

struct Variable {
    std::string_view name;
    VariableType type;
    std::string_view doc;
    std::optional<TriggerType> only{}; // none: of every trigger
};
std::span<const Variable> variables();

// Where a worker finds what its trigger saw.
constexpr std::string_view trigger_file = "/hone/trigger.json";

// Whether the prompt can be used with this trigger; the error names the variable that cannot.
Result<> check_template(std::string_view prompt, TriggerType trigger);

// Variable to its text.
using Values = std::map<std::string, std::string>;

// What a slot's variables are. A variable without a value reads "(unknown)".
Values values_of(const Automation& automation, const Slot& slot);
// For a template that was checked.
std::string fill_template(std::string_view prompt, const Values& values);

} // namespace hone::automation
