#include "api/skill_handlers.h"

#include <algorithm>

namespace hone::api {

namespace {

struct UploadedFile {
    std::string path;
    std::optional<std::string> text;
    std::optional<std::string> base64;
    json::Defaulted<bool> executable = false;
    static constexpr std::tuple fields{
        Field{"path", &UploadedFile::path, ""},
        Field{"text", &UploadedFile::text, ""},
        Field{"base64", &UploadedFile::base64, ""},
        Field{"executable", &UploadedFile::executable, ""},
    };
};
struct UploadedFolder {
    std::vector<UploadedFile> files;
    static constexpr std::tuple fields{Field{"files", &UploadedFolder::files, ""}};
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

// Whoever may share can name any space of the installation: an API key works in one only.
Result<access::Space> space_to_share_with(const Call& call) {
    auto found = call.access().spaces.find(call.caller, call.at("space"));
    if (found.ok() || !call.caller.require(access::Permission::skill_share).ok()) return found;
    return call.access().spaces.find(access::Caller::system(), call.at("space"));
}

} // namespace

Result<skill::Skills*> skills_of(const Call& call) {
    if (call.services.skills == nullptr) return unavailable("this server has no skills");
    return call.services.skills;
}

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
    auto* skills = TRY(skills_of(call));
    const auto page = TRY(page_of(query.limit, query.cursor));
    if (query.scope == skill::SkillScope::installation) return skills->list(call.caller, {}, query.type, page);
    const auto space = TRY(call.access().spaces.choose(call.caller, query.space));
    return skills->list(call.caller, space, query.type, page);
}

Result<One<skill::Skill>> create_skill(const Call& call, const InSpace& query, const CreateSkill& body) {
    auto* skills = TRY(skills_of(call));
    std::optional<access::SpaceId> space;
    if (*body.scope == skill::SkillScope::space) space = TRY(call.access().spaces.choose(call.caller, query.space));
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
    return One<skill::Skill>{TRY(skills->create(call.caller, space, wanted, secrets))};
}

Result<One<skill::Skill>> get_skill(const Call& call, const InSpace& query) {
    auto* skills = TRY(skills_of(call));
    if (const auto id = skill_in_path(call); id.ok())
        return One<skill::Skill>{TRY(skills->find(call.caller, id.value()))};
    const auto space = TRY(call.access().spaces.choose(call.caller, query.space));
    return One<skill::Skill>{TRY(skills->find(call.caller, space, call.at("skill")))};
}

Result<One<skill::Skill>> update_skill(const Call& call, const UpdateSkill& body) {
    auto* skills = TRY(skills_of(call));
    const auto id = TRY(skill_in_path(call));
    skill::SkillChange change{body.name,     body.description, *body.variables, *body.exposure,
                              body.declared, body.allow,       body.git};
    skill::Secrets secrets;
    if (body.env_text) {
        std::map<std::string, std::string> plain;
        TRY(skills->take_env(call.caller, id, *body.env_text, plain, secrets));
        for (const auto& [name, value] : plain) change.variables.insert_or_assign(name, value);
    }
    add_secrets(*body.secrets, secrets);
    return One<skill::Skill>{TRY(skills->update(call.caller, id, change, secrets))};
}

Result<Nothing> delete_skill(const Call& call, const DeleteSkill& query) {
    auto* skills = TRY(skills_of(call));
    const auto id = TRY(skill_in_path(call));
    TRY(skills->remove(call.caller, id, query.confirm.value_or("")));
    return Nothing{};
}

Result<List<skill::SkillVersion>> list_skill_versions(const Call& call) {
    auto* skills = TRY(skills_of(call));
    const auto id = TRY(skill_in_path(call));
    return List<skill::SkillVersion>{TRY(skills->versions(call.caller, id)), {}};
}

Result<List<skill::FileView>> list_skill_files(const Call& call) {
    auto* skills = TRY(skills_of(call));
    const auto id = TRY(skill_in_path(call));
    return List<skill::FileView>{TRY(skills->files(call.caller, id)), {}};
}

Result<One<skill::Skill>> put_skill_folder(const Call& call, const RawBody& body) {
    auto* skills = TRY(skills_of(call));
    const auto id = TRY(skill_in_path(call));
    const std::string_view type = call.head.header("Content-Type");
    // A gzip file begins with these two bytes, whatever the client calls it.
    const bool archive = body.bytes.starts_with("\x1f\x8b");
    if (!archive && type.find("json") == type.npos)
        return invalid("send a tar.gz, or JSON: {\"files\":[{\"path\":\"SKILL.md\",\"text\":\"…\"}]}");
    auto files = archive ? TRY(skill::read_tar_gz(body.bytes)) : TRY(files_of_json(body.bytes));
    return One<skill::Skill>{TRY(skills->put_folder(call.caller, id, std::move(files)))};
}

Result<One<skill::Skill>> fetch_skill_folder(const Call& call, const FetchSkillFolder& query) {
    auto* skills = TRY(skills_of(call));
    const auto id = TRY(skill_in_path(call));
    std::optional<access::SpaceId> through;
    if (query.space) through = TRY(call.access().spaces.choose(call.caller, query.space));
    return One<skill::Skill>{TRY(skills->fetch_folder(call.caller, id, through))};
}

Result<One<skill::Skill>> share_skill(const Call& call) {
    auto* skills = TRY(skills_of(call));
    const auto id = TRY(skill_in_path(call));
    const auto space = TRY(space_to_share_with(call));
    return One<skill::Skill>{TRY(skills->share(call.caller, id, space.id))};
}

Result<One<skill::Skill>> unshare_skill(const Call& call) {
    auto* skills = TRY(skills_of(call));
    const auto id = TRY(skill_in_path(call));
    const auto space = TRY(space_to_share_with(call));
    return One<skill::Skill>{TRY(skills->unshare(call.caller, id, space.id))};
}

} // namespace hone::api
