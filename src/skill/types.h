// The types of skills, declared once: their variables, the hosts each secret is bound to, and how it is put into a
// request. API, CLI, UI and the broker's grant are made from this table. Pure data, any thread.
#pragma once

#include "base/fields.h"

#include <span>
#include <string_view>

namespace hone::skill {

enum class SkillType { github, hone, datadog, dynatrace, model, custom };
constexpr auto enum_names(SkillType) {
    return std::array{EnumName{SkillType::github, "github"},   EnumName{SkillType::hone, "hone"},
                      EnumName{SkillType::datadog, "datadog"}, EnumName{SkillType::dynatrace, "dynatrace"},
                      EnumName{SkillType::model, "model"},     EnumName{SkillType::custom, "custom"}};
}

struct VariableType {
    std::string_view name;
    bool secret = false;
    bool required = false;
    std::string_view default_value = "";
    std::string_view help = "";
    std::span<const std::string_view> choices{};
    std::span<const std::string_view> aliases{}; // other names that a pasted .env may use
};

// Where a secret variable may go; with an empty variable: a host that is reachable without one.
struct BindingType {
    std::string_view variable;
    std::string_view url;         // "https://api.{DD_SITE}/v1": variables are filled in, the path is the prefix
    std::string_view header = ""; // empty: any header that holds the placeholder
    std::string_view format = "{}";
    std::string_view methods = ""; // "GET HEAD"; empty: all
    std::string_view when = "";    // "NAME=value" or "NAME!=value"
};

struct TypeRow {
    SkillType type;
    std::string_view title;
    std::string_view summary;
    std::string_view help;
    std::span<const VariableType> variables;
    std::span<const BindingType> bindings;
};

// One row per type, in the order of the enum. `custom` declares its variables itself, `model` has no bindings: its
// key goes to its own endpoint through the model gateway only.
std::span<const TypeRow> type_table();
const TypeRow& type_row(SkillType type);

// Of a model skill: the endpoint and the header of each protocol.
struct ModelProtocol {
    std::string_view name; // anthropic
    std::string_view base_url;
    std::string_view header;
    std::string_view format;
};
const ModelProtocol* find_model_protocol(std::string_view name);

} // namespace hone::skill
