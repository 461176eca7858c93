#include "api/skill_handlers.h"

namespace hone::api {

namespace {

Result<secret::Vault*> vault_of(const Call& call) {
    if (call.services.vault == nullptr) return unavailable("this server keeps no secrets");
    return call.services.vault;
}

} // namespace

Result<One<skill::Skill>> set_skill_secret(const Call& call, const SetSecret& body) {
    auto* skills = TRY(skills_of(call));
    const auto id = TRY(skill_in_path(call));
    const crypto::SecretBytes value(body.value);
    return One<skill::Skill>{TRY(skills->set_secret(call.caller, id, call.at("name"), value, body.exposure))};
}

Result<One<skill::Skill>> delete_skill_secret(const Call& call) {
    auto* skills = TRY(skills_of(call));
    const auto id = TRY(skill_in_path(call));
    return One<skill::Skill>{TRY(skills->remove_secret(call.caller, id, call.at("name")))};
}

Result<One<skill::EnvPreview>> preview_env(const Call& call, const PreviewEnv& body) {
    auto* skills = TRY(skills_of(call));
    if (body.skill.has_value() == body.type.has_value()) return invalid("give a skill or a type");
    std::optional<skill::SkillId> id;
    if (body.skill) id = TRY(parse_id<skill::SkillTag>(*body.skill));
    return One<skill::EnvPreview>{
        TRY(skills->preview_env(call.caller, id, body.type.value_or(skill::SkillType::custom), body.text))};
}

Result<List<skill::SecretRow>> list_secrets(const Call& call, const InSpace& query) {
    auto* skills = TRY(skills_of(call));
    const auto space = TRY(call.access().spaces.choose(call.caller, query.space));
    return List<skill::SecretRow>{TRY(skills->secrets(call.caller, space)), {}};
}

Result<List<skill::Reach>> list_reach(const Call& call, const ReachQuery& query) {
    auto* skills = TRY(skills_of(call));
    const auto space = TRY(call.access().spaces.choose(call.caller, query.space));
    return List<skill::Reach>{TRY(skills->reach(call.caller, space, query.skill)), {}};
}

Result<One<secret::EncryptionState>> get_encryption(const Call& call) {
    auto* vault = TRY(vault_of(call));
    return One<secret::EncryptionState>{TRY(vault->key_state(call.caller))};
}

Result<One<secret::Rotation>> rotate_encryption(const Call& call, const RotateEncryption& body) {
    auto* vault = TRY(vault_of(call));
    if (body.what == RotateWhat::master) {
        if (body.space) return invalid("there is one master key: space belongs to data keys");
        return One<secret::Rotation>{TRY(vault->rotate_master(call.caller))};
    }
    std::optional<secret::Scope> scope;
    if (body.space) scope = secret::Scope{TRY(call.access().spaces.find(call.caller, *body.space)).id};
    return One<secret::Rotation>{TRY(vault->rotate_data(call.caller, scope))};
}

} // namespace hone::api
