// Skills, their folders and secrets.
#include "skill/skills.h"
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "skill/share.h"

#include <algorithm>

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ListSkills {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<skill::SkillType> type;
    std::optional<skill::SkillScope> scope;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &ListSkills::space, "Id or name of the space; the caller's first one if not given."},
        Field{"type", &ListSkills::type, "Only skills of this type."},
        Field{"scope", &ListSkills::scope, "installation: all skills of the installation, for its owners."},
        Field{"limit", &ListSkills::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListSkills::cursor, "next_cursor of the previous response."},
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
    static constexpr Pack fields{
        Field{"name", &CreateSkill::name, ""},
        Field{"type", &CreateSkill::type, ""},
        Field{"scope", &CreateSkill::scope,
              "space (default), or installation: for installation owners, can be shared."},
        Field{"description", &CreateSkill::description, ""},
        Field{"variables", &CreateSkill::variables, "Values of plain variables."},
        Field{"secrets", &CreateSkill::secrets, "Values of secrets; they are never shown again."},
        Field{"exposure", &CreateSkill::exposure, "brokered (default) or env, of each secret."},
        Field{"declared", &CreateSkill::declared, "Variables of a custom skill."},
        Field{"allow", &CreateSkill::allow, "Hosts of a custom skill that need no secret."},
        Field{"git", &CreateSkill::git, "Repository that contains a custom skill's folder."},
        Field{"env_text", &CreateSkill::env_text,
              "Text of a .env file; names that the skill does not have are ignored."},
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
    static constexpr Pack fields{
        Field{"name", &UpdateSkill::name, ""},
        Field{"description", &UpdateSkill::description, ""},
        Field{"variables", &UpdateSkill::variables, "Plain variables to set; null removes a value."},
        Field{"secrets", &UpdateSkill::secrets, "Secrets to set; others are unchanged."},
        Field{"exposure", &UpdateSkill::exposure, "A change to env needs the secret in the same request."},
        Field{"declared", &UpdateSkill::declared,
              "Replaces all variables. New hosts of a stored secret need the secret in the same request."},
        Field{"allow", &UpdateSkill::allow, "Replaces all hosts."},
        Field{"git", &UpdateSkill::git, "null removes it."},
        Field{"env_text", &UpdateSkill::env_text,
              "Text of a .env file; names that the skill does not have are ignored."},
    };
};

struct FetchSkillFolder {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    static constexpr Pack fields{
        Field{"space", &FetchSkillFolder::space,
              "For a skill of the installation: the space whose repository and credential fetch it."},
    };
};

struct DeleteSkill {
    static constexpr bool is_query = true;
    std::optional<std::string> confirm;
    static constexpr Pack fields{
        Field{"confirm", &DeleteSkill::confirm, "The name of the skill, to confirm."},
    };
};

struct SetSecret {
    std::string value;
    std::optional<skill::Exposure> exposure;
    static constexpr Pack fields{
        Field{"value", &SetSecret::value, "Never shown again."},
        Field{"exposure", &SetSecret::exposure, "brokered, or env: workers can read it."},
    };
};

struct PreviewEnv {
    std::optional<std::string> skill;
    std::optional<skill::SkillType> type;
    std::string text;
    static constexpr Pack fields{
        Field{"skill", &PreviewEnv::skill, "Id of a skill; or give a type."},
        Field{"type", &PreviewEnv::type, ""},
        Field{"text", &PreviewEnv::text, "Text of a .env file. Nothing is stored."},
    };
};

struct ReachQuery {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::vector<std::string> skill;
    static constexpr Pack fields{
        Field{"space", &ReachQuery::space, "Id or name of the space; the caller's first one if not given."},
        Field{"skill", &ReachQuery::skill, "Id of a skill; may be repeated."},
    };
};

struct SkillTypeVariable {
    std::string name;
    bool secret = false;
    bool required = false;
    std::string default_value;
    std::string help;
    std::vector<std::string> choices;
    static constexpr Pack fields{
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
    static constexpr Pack fields{
        Field{"type", &SkillTypeInfo::type, ""},
        Field{"title", &SkillTypeInfo::title, ""},
        Field{"summary", &SkillTypeInfo::summary, ""},
        Field{"help", &SkillTypeInfo::help, ""},
        Field{"variables", &SkillTypeInfo::variables, "Empty for custom, which declares its own."},
        Field{"hosts", &SkillTypeInfo::hosts, "Hosts that it can send requests to, with variables in braces."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

struct UploadedFile {
    std::string path;
    std::optional<std::string> text;
    std::optional<std::string> base64;
    json::Defaulted<bool> executable = false;
    static constexpr Pack fields{
        Field{"path", &UploadedFile::path, ""},
        Field{"text", &UploadedFile::text, ""},
        Field{"base64", &UploadedFile::base64, ""},
        Field{"executable", &UploadedFile::executable, ""},
    };
};

struct UploadedFolder {
    std::vector<UploadedFile> files;
    static constexpr Pack fields{Field{"files", &UploadedFolder::files, ""}};
};

Result<std::string> content_of(const UploadedFile& file) {
    if (file.text.has_value() == file.base64.has_value())
        return invalid("file \"" + std::string(truncate_utf8(file.path, 100)) + "\" needs text or base64");
    if (file.text) return *file.text;
    std::string code = *file.base64;
    std::replace(code.begin(), code.end(), '+', '-');
    std::replace(code.begin(), code.end(), '/', '_');
    while (code.ends_with('=')) code.pop_back();
    auto content = from_base64url(code);
    if (!content.ok()) return invalid("file \"" + std::string(truncate_utf8(file.path, 100)) + "\": base64 is broken");
    return content;
}

Result<std::vector<skill::FolderFile>> files_of_json(std::string_view body) {
    const auto folder = TRY(json::read<UploadedFolder>(body));
    if (folder.files.size() > skill::most_files) return too_large("a skill must have at most 256 files");
    std::vector<skill::FolderFile> files;
    for (const auto& file : folder.files) {
        auto content = TRY(content_of(file));
        files.push_back({file.path, std::move(content), file.executable});
    }
    return files;
}

void add_secrets(const std::map<std::string, std::string>& given, skill::Secrets& secrets) {
    for (const auto& [name, value] : given) secrets.insert_or_assign(name, crypto::SecretBytes(value));
}

} // namespace

Result<skill::SkillId> skill_in_path(const Call& call) {
    return parse_id<skill::SkillTag>(call.at("skill"));
}

Result<List<SkillTypeInfo>> list_skill_types(const Call&) {
    List<SkillTypeInfo> list;
    for (const auto& row : skill::type_table()) {
        SkillTypeInfo info{row.type, std::string(row.title), std::string(row.summary), std::string(row.help), {}, {}};
        for (const auto& variable : row.variables) {
            SkillTypeVariable shown{std::string(variable.name), variable.secret,
                                    variable.required,          std::string(variable.default_value),
                                    std::string(variable.help), {}};
            for (const auto choice : variable.choices) shown.choices.emplace_back(choice);
            info.variables.push_back(std::move(shown));
        }
        for (const auto& binding : row.bindings)
            if (std::find(info.hosts.begin(), info.hosts.end(), binding.url) == info.hosts.end())
                info.hosts.emplace_back(binding.url);
        list.data.push_back(std::move(info));
    }
    return list;
}

Result<List<skill::Skill>> list_skills(const Call& call, const ListSkills& query) {
    const auto page = TRY(page_of(query.limit, query.cursor));
    if (query.scope == skill::SkillScope::installation)
        return call.services.skills.list(call.caller, {}, query.type, page);
    const auto space = TRY(space_of(call, query.space));
    return call.services.skills.list(call.caller, space, query.type, page);
}

Result<One<skill::Skill>> create_skill(const Call& call, const InSpace& query, const CreateSkill& body) {
    std::optional<access::SpaceId> space;
    if (*body.scope == skill::SkillScope::space) space = TRY(space_of(call, query.space));
    skill::NewSkill wanted{body.name, body.type, body.description, {}};
    wanted.setup.variables = *body.variables;
    wanted.setup.exposure = *body.exposure;
    wanted.setup.declared = *body.declared;
    wanted.setup.allow = *body.allow;
    wanted.setup.git = body.git;
    skill::Secrets secrets;
    if (body.env_text)
        TRY(skill::Skills::take_env(body.type, wanted.setup, *body.env_text, wanted.setup.variables, secrets));
    add_secrets(*body.secrets, secrets);
    return One<skill::Skill>{TRY(call.services.skills.create(call.caller, space, wanted, secrets))};
}

Result<One<skill::Skill>> get_skill(const Call& call, const InSpace& query) {
    if (const auto id = skill_in_path(call); id.ok())
        return One<skill::Skill>{TRY(call.services.skills.find(call.caller, id.value()))};
    const auto space = TRY(space_of(call, query.space));
    return One<skill::Skill>{TRY(call.services.skills.find(call.caller, space, call.at("skill")))};
}

Result<One<skill::Skill>> update_skill(const Call& call, const UpdateSkill& body) {
    const auto id = TRY(skill_in_path(call));
    skill::SkillChange change{body.name,     body.description, *body.variables, *body.exposure,
                              body.declared, body.allow,       body.git};
    skill::Secrets secrets;
    if (body.env_text) {
        std::map<std::string, std::string> plain;
        TRY(call.services.skills.take_env(call.caller, id, *body.env_text, plain, secrets));
        for (const auto& [name, value] : plain) change.variables.insert_or_assign(name, value);
    }
    add_secrets(*body.secrets, secrets);
    return One<skill::Skill>{TRY(call.services.skills.update(call.caller, id, change, secrets))};
}

Result<Nothing> delete_skill(const Call& call, const DeleteSkill& query) {
    const auto id = TRY(skill_in_path(call));
    TRY(call.services.skills.remove(call.caller, id, query.confirm.value_or("")));
    return Nothing{};
}

Result<List<skill::SkillVersion>> list_skill_versions(const Call& call) {
    const auto id = TRY(skill_in_path(call));
    return List<skill::SkillVersion>{TRY(call.services.skills.versions(call.caller, id)), {}};
}

Result<List<skill::FileView>> list_skill_files(const Call& call) {
    const auto id = TRY(skill_in_path(call));
    return List<skill::FileView>{TRY(call.services.skills.files(call.caller, id)), {}};
}

Result<One<skill::Skill>> put_skill_folder(const Call& call, const RawBody& body) {
    const auto id = TRY(skill_in_path(call));
    const std::string_view type = call.head.header("Content-Type");
    // A gzip file begins with these two bytes, whatever the client calls it.
    const bool archive = body.bytes.starts_with("\x1f\x8b");
    if (!archive && type.find("json") == type.npos)
        return invalid("send a tar.gz, or JSON: {\"files\":[{\"path\":\"SKILL.md\",\"text\":\"…\"}]}");
    auto files = archive ? TRY(skill::read_tar_gz(body.bytes)) : TRY(files_of_json(body.bytes));
    return One<skill::Skill>{TRY(call.services.skills.put_folder(call.caller, id, std::move(files)))};
}

Result<One<skill::Skill>> fetch_skill_folder(const Call& call, const FetchSkillFolder& query) {
    const auto id = TRY(skill_in_path(call));
    std::optional<access::SpaceId> through;
    if (query.space) through = TRY(space_of(call, query.space));
    return One<skill::Skill>{TRY(call.services.skills.fetch_folder(call.caller, id, through))};
}

Result<One<skill::Skill>> share_skill(const Call& call) {
    const auto id = TRY(skill_in_path(call));
    const auto space = TRY(skill::space_to_share_with(call.access(), call.caller, call.at("space")));
    return One<skill::Skill>{TRY(call.services.skills.share(call.caller, id, space))};
}

Result<One<skill::Skill>> unshare_skill(const Call& call) {
    const auto id = TRY(skill_in_path(call));
    const auto space = TRY(skill::space_to_share_with(call.access(), call.caller, call.at("space")));
    return One<skill::Skill>{TRY(call.services.skills.unshare(call.caller, id, space))};
}

Result<One<skill::Skill>> set_skill_secret(const Call& call, const SetSecret& body) {
    const auto id = TRY(skill_in_path(call));
    const crypto::SecretBytes value(body.value);
    return One<skill::Skill>{
        TRY(call.services.skills.set_secret(call.caller, id, call.at("name"), value, body.exposure))};
}

Result<One<skill::Skill>> delete_skill_secret(const Call& call) {
    const auto id = TRY(skill_in_path(call));
    return One<skill::Skill>{TRY(call.services.skills.remove_secret(call.caller, id, call.at("name")))};
}

Result<One<skill::EnvPreview>> preview_env(const Call& call, const PreviewEnv& body) {
    if (body.skill.has_value() == body.type.has_value()) return invalid("give a skill or a type");
    std::optional<skill::SkillId> id;
    if (body.skill) id = TRY(parse_id<skill::SkillTag>(*body.skill));
    return One<skill::EnvPreview>{TRY(
        call.services.skills.preview_env(call.caller, id, body.type.value_or(skill::SkillType::custom), body.text))};
}

Result<List<skill::SecretRow>> list_secrets(const Call& call, const InSpace& query) {
    const auto space = TRY(space_of(call, query.space));
    return List<skill::SecretRow>{TRY(call.services.skills.secrets(call.caller, space)), {}};
}

Result<List<skill::Reach>> list_reach(const Call& call, const ReachQuery& query) {
    const auto space = TRY(space_of(call, query.space));
    return List<skill::Reach>{TRY(call.services.skills.reach(call.caller, space, query.skill)), {}};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route skills_table[] = {
    route<list_skill_types>("GET", "/v1/skill_types", login, "Types of skills: their variables and hosts."),
    route<list_skills>("GET", "/v1/skills", need(skill_read), "Skills of a space, its own and those shared with it."),
    route<create_skill>("POST", "/v1/skills", need(skill_write), "Create a skill; secrets need secret_write too."),
    route<get_skill>("GET", "/v1/skills/{skill}", need(skill_read), "A skill by id or name."),
    route<update_skill>("PATCH", "/v1/skills/{skill}", need(skill_write), "Change a skill; creates a version."),
    route<delete_skill>("DELETE", "/v1/skills/{skill}", need(skill_write), "Delete a skill with its secrets."),
    route<list_skill_versions>("GET", "/v1/skills/{skill}/versions", need(skill_read),
                               "Versions of a skill, newest first."),
    route<fetch_skill_folder>("POST", "/v1/skills/{skill}/fetch", need(skill_write),
                              "Fetch the folder of a custom skill from its git repository."),
    route<list_skill_files>("GET", "/v1/skills/{skill}/folder", need(skill_read), "Files of a custom skill."),
    route<put_skill_folder>("PUT", "/v1/skills/{skill}/folder", need(skill_write),
                            "Upload a custom skill's folder: tar.gz, or JSON with files.")
        .takes("application/json, application/gzip")
        .with_body_limit(8 << 20),
    route<set_skill_secret>("PUT", "/v1/skills/{skill}/secrets/{name}", need(secret_write),
                            "Set or replace a secret; it is never shown."),
    route<delete_skill_secret>("DELETE", "/v1/skills/{skill}/secrets/{name}", need(secret_write), "Delete a secret."),
    route<share_skill>("PUT", "/v1/skills/{skill}/shares/{space}", need(skill_share),
                       "Share a skill of the installation with a space."),
    route<unshare_skill>("DELETE", "/v1/skills/{skill}/shares/{space}", need(skill_share),
                         "Stop sharing a skill with a space."),
    route<preview_env>("POST", "/v1/skill_env", need(skill_write),
                       "Preview the variables that a .env file would set; nothing is stored."),
    route<list_secrets>("GET", "/v1/secrets", need(skill_read), "Names of secrets, their age and last use."),
    route<list_reach>("GET", "/v1/reach", need(skill_read), "Hosts that skills can reach, and with which secret."),
};

} // namespace

std::span<const Route> skills_routes() {
    return skills_table;
}

} // namespace hone::api
