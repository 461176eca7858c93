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

// Who uses a variable or a binding: workers in their sandboxes, or Hone itself when it fetches repositories and
// delivers reviewed branches. What is for delivery never enters a sandbox, not even as a placeholder.
enum class Audience { worker, delivery };

struct VariableType {
    std::string_view name;
    bool secret = false;
    bool required = false;
    std::string_view default_value = "";
    std::string_view help = "";
    std::span<const std::string_view> choices{};
    std::span<const std::string_view> aliases{}; // other names that a pasted .env may use
    Audience audience = Audience::worker;
};

// Where a secret variable may go; with an empty variable: a host that is reachable without one.
struct BindingType {
    std::string_view variable;
    // "https://api.{DD_SITE}/v1": variables are filled in, the path is the prefix. {REPOSITORY} stands for each
    // repository that the run may read: one rule per repository, none without.
    std::string_view url;
    std::string_view header = ""; // empty: any header that is made for credentials
    std::string_view format = "{}";
    std::string_view methods = ""; // "GET HEAD"; empty: all
    std::string_view when = "";    // "NAME=value" or "NAME!=value"
    Audience audience = Audience::worker;
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

// What a model request may do beyond text, images and tools that the worker runs itself. Each lets the provider reach
// something on the worker's behalf, keep something, or cost more; a model skill opts in by name (ALLOW_FEATURES).
struct ModelFeature {
    std::string_view name; // url_sources
    std::string_view warning;
};
std::span<const ModelFeature> model_features();

} // namespace hone::skill
