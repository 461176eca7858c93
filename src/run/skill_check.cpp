#include "run/skill_check.h"

#include "harness/catalog.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::run {

Result<> SkillCheck::check(const access::Caller& caller, const access::SpaceId& space, const Settings& settings) {
    const skill::Grant grant = TRY(m_skills.resolve(caller, space, *settings.skills));
    TRY(m_policies.check(space, settings, grant));
    TRY(check_tier(*settings.sandbox.value.minimum_tier));
    const harness::Harness* harness = harness::find(settings.harness);
    if (harness == nullptr || harness->protocols.empty()) return {};
    for (const skill::ModelEndpoint& endpoint : grant.models)
        if (harness::speaks(*harness, endpoint.protocol)) return {};
    return invalid(
        fmt::format("harness {} needs a model skill with an endpoint of type {}: make one (the page Skills, or "
                    "hone skill create --type model) and add it to the skills",
                    harness->name, harness->protocols));
}

Result<Budget> SkillCheck::budget_of(const access::SpaceId& space, const Budget& budget) {
    return m_policies.budget_of(space, budget);
}

// A tier that this machine does not have would make every run of the preset fail.
Result<> SkillCheck::check_tier(sandbox::Tier tier) const {
    if (m_provider == nullptr) return {};
    const auto tiers = m_provider->capabilities().tiers;
    if (std::find(tiers.begin(), tiers.end(), tier) != tiers.end()) return {};
    return invalid(fmt::format("sandbox.minimum_tier {} cannot run on this server: hone check shows what is missing",
                               name_of(tier)));
}

} // namespace hone::run
