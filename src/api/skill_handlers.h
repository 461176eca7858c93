// Handlers of the routes about skills, secrets and the keys that encrypt them.
#pragma once

#include "api/handlers.h"
#include "api/skill_requests.h"

namespace hone::api {

// skill_handlers.cpp
Result<List<SkillTypeInfo>> list_skill_types(const Call&);
Result<List<skill::Skill>> list_skills(const Call&, const ListSkills&);
Result<One<skill::Skill>> create_skill(const Call&, const InSpace&, const CreateSkill&);
Result<One<skill::Skill>> get_skill(const Call&, const InSpace&);
Result<One<skill::Skill>> update_skill(const Call&, const UpdateSkill&);
Result<Nothing> delete_skill(const Call&, const DeleteSkill&);
Result<List<skill::SkillVersion>> list_skill_versions(const Call&);
Result<List<skill::FileView>> list_skill_files(const Call&);
Result<One<skill::Skill>> put_skill_folder(const Call&, const RawBody&);
Result<One<skill::Skill>> fetch_skill_folder(const Call&, const FetchSkillFolder&);
Result<One<skill::Skill>> share_skill(const Call&);
Result<One<skill::Skill>> unshare_skill(const Call&);

// secret_handlers.cpp
Result<One<skill::Skill>> set_skill_secret(const Call&, const SetSecret&);
Result<One<skill::Skill>> delete_skill_secret(const Call&);
Result<One<skill::EnvPreview>> preview_env(const Call&, const PreviewEnv&);
Result<List<skill::SecretRow>> list_secrets(const Call&, const InSpace&);
Result<List<skill::Reach>> list_reach(const Call&, const ReachQuery&);
Result<One<secret::EncryptionState>> get_encryption(const Call&);
Result<One<secret::Rotation>> rotate_encryption(const Call&, const RotateEncryption&);

// unavailable where the server was built without them.
Result<skill::Skills*> skills_of(const Call& call);
Result<skill::SkillId> skill_in_path(const Call& call);

} // namespace hone::api
