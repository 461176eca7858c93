// Bodies and query strings of the routes about skills and secrets. Values of secrets come in here and never go out.
#pragma once

#include "api/requests.h"
#include "skill/skills.h"

namespace hone::api {

struct ListSkills {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<skill::SkillType> type;
    std::optional<skill::SkillScope> scope;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr std::tuple fields{
        Field{"space", &ListSkills::space, "Id or name of the space; the caller's first one if not given."},
        Field{"type", &ListSkills::type, "Only skills of this type."},
        Field{"scope", &ListSkills::scope, "installation: all that belong to the installation, for its owners."},
        Field{"limit", &ListSkills::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListSkills::cursor, "next_cursor of the answer before."},
    };
};

struct CreateSkill {
    std::string name;
    skill::SkillType type = skill::SkillType::custom;
    json::Defaulted<skill::SkillScope> scope = skill::SkillScope::space;
    json::Defaulted<std::string> description;
    json::Defaulted<std::map<std::string, std::string>> variables;
    json::Defaulted<std::map<std::string, std::string>> secrets;
    json::Defaulted<std::map<std::string, skill::Exposure>> exposure;
    json::Defaulted<std::vector<skill::Declared>> declared;
    json::Defaulted<std::vector<skill::Host>> allow;
    std::optional<skill::GitSource> git;
    std::optional<std::string> env_text;
    static constexpr std::tuple fields{
        Field{"name", &CreateSkill::name, ""},
        Field{"type", &CreateSkill::type, ""},
        Field{"scope", &CreateSkill::scope, "space (default), or installation: by its owners, to be shared."},
        Field{"description", &CreateSkill::description, ""},
        Field{"variables", &CreateSkill::variables, "Values of plain variables."},
        Field{"secrets", &CreateSkill::secrets, "Values of secrets; they are never shown again."},
        Field{"exposure", &CreateSkill::exposure, "brokered (default) or env, of each secret."},
        Field{"declared", &CreateSkill::declared, "Variables of a custom skill."},
        Field{"allow", &CreateSkill::allow, "Hosts of a custom skill that need no secret."},
        Field{"git", &CreateSkill::git, "Repository that holds a custom skill's folder."},
        Field{"env_text", &CreateSkill::env_text, "A .env file; names that the skill does not have are left out."},
    };
};

struct UpdateSkill {
    std::optional<std::string> name;
    std::optional<std::string> description;
    json::Defaulted<std::map<std::string, std::optional<std::string>>> variables;
    json::Defaulted<std::map<std::string, std::string>> secrets;
    json::Defaulted<std::map<std::string, skill::Exposure>> exposure;
    std::optional<std::vector<skill::Declared>> declared;
    std::optional<std::vector<skill::Host>> allow;
    std::optional<std::optional<skill::GitSource>> git;
    std::optional<std::string> env_text;
    static constexpr std::tuple fields{
        Field{"name", &UpdateSkill::name, ""},
        Field{"description", &UpdateSkill::description, ""},
        Field{"variables", &UpdateSkill::variables, "Plain variables to set; null takes a value away."},
        Field{"secrets", &UpdateSkill::secrets, "Secrets to set; others stay."},
        Field{"exposure", &UpdateSkill::exposure, "To env only together with the secret itself."},
        Field{"declared", &UpdateSkill::declared, "Replaces all. New hosts of a stored secret need it again."},
        Field{"allow", &UpdateSkill::allow, "Replaces all."},
        Field{"git", &UpdateSkill::git, "null takes it away."},
        Field{"env_text", &UpdateSkill::env_text, "A .env file; names that the skill does not have are left out."},
    };
};

struct FetchSkillFolder {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    static constexpr std::tuple fields{
        Field{"space", &FetchSkillFolder::space,
              "For a skill of the installation: the space whose repository and credential fetch it."},
    };
};

struct DeleteSkill {
    static constexpr bool is_query = true;
    std::optional<std::string> confirm;
    static constexpr std::tuple fields{
        Field{"confirm", &DeleteSkill::confirm, "The name of the skill, to show that it is meant."},
    };
};

struct SetSecret {
    std::string value;
    std::optional<skill::Exposure> exposure;
    static constexpr std::tuple fields{
        Field{"value", &SetSecret::value, "Never shown again."},
        Field{"exposure", &SetSecret::exposure, "brokered, or env: workers can read it."},
    };
};

struct PreviewEnv {
    std::optional<std::string> skill;
    std::optional<skill::SkillType> type;
    std::string text;
    static constexpr std::tuple fields{
        Field{"skill", &PreviewEnv::skill, "Id of a skill; or give a type."},
        Field{"type", &PreviewEnv::type, ""},
        Field{"text", &PreviewEnv::text, "A .env file. Nothing is stored."},
    };
};

struct ReachQuery {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::vector<std::string> skill;
    static constexpr std::tuple fields{
        Field{"space", &ReachQuery::space, "Id or name of the space; the caller's first one if not given."},
        Field{"skill", &ReachQuery::skill, "Id of a skill; may be repeated."},
    };
};

enum class RotateWhat { master, data };
constexpr auto enum_names(RotateWhat) {
    return std::array{EnumName{RotateWhat::master, "master"}, EnumName{RotateWhat::data, "data"}};
}

struct RotateEncryption {
    RotateWhat what = RotateWhat::data;
    std::optional<std::string> space;
    static constexpr std::tuple fields{
        Field{"what", &RotateEncryption::what, "master: the key of keys; data: the keys that encrypt secrets."},
        Field{"space", &RotateEncryption::space, "data keys of this space only."},
    };
};

// --- the table of types, as answers --------------------------------------------------------------------------------

struct SkillTypeVariable {
    std::string name;
    bool secret = false;
    bool required = false;
    std::string default_value;
    std::string help;
    std::vector<std::string> choices;
    static constexpr std::tuple fields{
        Field{"name", &SkillTypeVariable::name, ""},
        Field{"secret", &SkillTypeVariable::secret, ""},
        Field{"required", &SkillTypeVariable::required, ""},
        Field{"default_value", &SkillTypeVariable::default_value, ""},
        Field{"help", &SkillTypeVariable::help, ""},
        Field{"choices", &SkillTypeVariable::choices, ""},
    };
};

struct SkillTypeInfo {
    skill::SkillType type = skill::SkillType::custom;
    std::string title;
    std::string summary;
    std::string help;
    std::vector<SkillTypeVariable> variables;
    std::vector<std::string> hosts;
    static constexpr std::tuple fields{
        Field{"type", &SkillTypeInfo::type, ""},
        Field{"title", &SkillTypeInfo::title, ""},
        Field{"summary", &SkillTypeInfo::summary, ""},
        Field{"help", &SkillTypeInfo::help, ""},
        Field{"variables", &SkillTypeInfo::variables, "Empty for custom, which declares its own."},
        Field{"hosts", &SkillTypeInfo::hosts, "Where it may go, with variables in braces."},
    };
};

} // namespace hone::api
