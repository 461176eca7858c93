// run::SettingsCheck of a server: the skills of a worker exist for the caller and give its harness a model that it can
// use, the policy of the space allows the settings, and this machine has the sandbox tier. Thread-safe.
#pragma once

#include "run/settings/presets.h"
#include "run/settings/space_policy.h"
#include "sandbox/provider/provider.h"
#include "skill/skills.h"

namespace hone::run {

class SkillCheck final : public SettingsCheck {
public:
    // `provider`: null where this machine cannot isolate; then no tier is checked.
    SkillCheck(const skill::Skills& skills, const SpacePolicies& policies, sandbox::Provider* provider)
        : m_skills(skills),
          m_policies(policies),
          m_provider(provider) {}
    Result<> check(const access::Caller& caller, const access::SpaceId& space, const Settings& settings) override;
    Result<Budget> budget_of(const access::SpaceId& space, const Budget& budget) override;
    std::vector<std::string> warnings(const access::SpaceId& space, const Settings& settings) const override;

private:
    Result<> check_tier(sandbox::Tier tier) const;

    const skill::Skills& m_skills;
    const SpacePolicies& m_policies;
    sandbox::Provider* m_provider;
};

} // namespace hone::run
