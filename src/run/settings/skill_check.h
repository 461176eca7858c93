// run::SettingsCheck of a server: the skills of a worker exist for the caller and give its harness a model that it can
// use, the policy of the space allows the settings, this installation has the provider, and this machine the tier.
// Thread-safe.
#pragma once

#include "run/settings/presets.h"
#include "run/settings/space_policy.h"
#include "sandbox/provider/provider.h"
#include "skill/skills.h"

#include <functional>
#include <map>

namespace hone::run {

class SkillCheck final : public SettingsCheck {
public:
    // `provider`: null where this machine cannot isolate; then no tier is checked.
    SkillCheck(const skill::Skills& skills, const SpacePolicies& policies, const Providers& providers,
               sandbox::Provider* provider)
        : m_skills(skills),
          m_policies(policies),
          m_providers(providers),
          m_provider(provider) {}
    // What a provider adds to both, once, before requests come.
    struct ProviderRules {
        std::function<Result<>(const access::SpaceId&, const Settings&, const skill::Grant&)> check;
        std::function<std::vector<std::string>(const Settings&, const skill::Grant&)> warnings;
    };
    void set_rules(RunProvider provider, ProviderRules rules) { m_rules[provider] = std::move(rules); }

    Result<> check(const access::Caller& caller, const access::SpaceId& space, const Settings& settings) override;
    Result<Budget> budget_of(const access::SpaceId& space, const Budget& budget) override;
    std::vector<std::string> warnings(const access::SpaceId& space, const Settings& settings) const override;

private:
    Result<> check_tier(const Settings& settings) const;

    const skill::Skills& m_skills;
    const SpacePolicies& m_policies;
    const Providers& m_providers;
    sandbox::Provider* m_provider;
    std::map<RunProvider, ProviderRules> m_rules;
};

} // namespace hone::run
