// run::SettingsCheck over skills: the skills of a worker exist for the caller and give its harness a model that it can
// use. Thread-safe.
#pragma once

#include "run/presets.h"
#include "skill/skills.h"

namespace hone::run {

class SkillCheck final : public SettingsCheck {
public:
    explicit SkillCheck(const skill::Skills& skills) : m_skills(skills) {}
    Result<> check(const access::Caller& caller, const access::SpaceId& space, const Settings& settings) override;

private:
    const skill::Skills& m_skills;
};

} // namespace hone::run
