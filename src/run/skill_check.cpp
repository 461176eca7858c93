#include "run/skill_check.h"

#include "harness/catalog.h"

#include <fmt/format.h>

namespace hone::run {

Result<> SkillCheck::check(const access::Caller& caller, const access::SpaceId& space, const Settings& settings) {
    const skill::Grant grant = TRY(m_skills.resolve(caller, space, *settings.skills));
    const harness::Harness* harness = harness::find(settings.harness);
    if (harness == nullptr || harness->protocols.empty()) return {};
    for (const skill::ModelEndpoint& endpoint : grant.models)
        if (harness::speaks(*harness, endpoint.protocol)) return {};
    return invalid(
        fmt::format("harness {} needs a model skill with an endpoint of type {}: make one (the page Skills, or "
                    "hone skill create --type model) and add it to the skills",
                    harness->name, harness->protocols));
}

} // namespace hone::run
