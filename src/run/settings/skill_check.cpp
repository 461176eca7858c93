#include "run/settings/skill_check.h"

#include "broker/egress/forge.h"
#include "harness/catalog.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::run {

namespace {

std::vector<std::string> urls_of(const Settings& settings) {
    std::vector<std::string> urls;
    for (const auto& repo : *settings.repos) urls.push_back(repo.url);
    return urls;
}

} // namespace

Result<> SkillCheck::check(const access::Caller& caller, const access::SpaceId& space, const Settings& settings) {
    TRY(m_providers.check(settings));
    const skill::GrantUse use{skill::Audience::worker, urls_of(settings)};
    const skill::Grant grant = TRY(m_skills.resolve(caller, space, *settings.skills, use));
    TRY(m_policies.check(space, settings, grant));
    TRY(check_tier(settings));
    if (const auto rules = m_rules.find(*settings.provider); rules != m_rules.end())
        TRY(rules->second.check(space, settings, grant));
    const harness::Harness* harness = harness::find(settings.harness);
    if (harness == nullptr || harness->protocols.empty()) return {};
    for (const skill::ModelEndpoint& endpoint : grant.models)
        if (harness::supports(*harness, endpoint.protocol)) return {};
    return invalid(
        fmt::format("harness {} needs a model skill with an endpoint of type {}: make one (the page Skills, or "
                    "hone skill create --type model) and add it to the skills",
                    harness->name, harness->protocols));
}

Result<Budget> SkillCheck::budget_of(const access::SpaceId& space, const Budget& budget) {
    return m_policies.budget_of(space, budget);
}

// A tier that this machine does not have would make every run of the preset fail.
Result<> SkillCheck::check_tier(const Settings& settings) const {
    if (m_provider == nullptr || *settings.provider != RunProvider::local) return {};
    const sandbox::Tier tier = *settings.sandbox.value.minimum_tier;
    const auto tiers = m_provider->capabilities().tiers;
    if (std::find(tiers.begin(), tiers.end(), tier) != tiers.end()) return {};
    return invalid(fmt::format("sandbox.minimum_tier {} cannot run on this server: hone check shows what is missing",
                               name_of(tier)));
}

// The warnings of the skills, and rules for writing to a forge, which the broker does not open.
std::vector<std::string> SkillCheck::warnings(const access::SpaceId& space, const Settings& settings) const {
    const auto forges = broker::forge_hosts(urls_of(settings));
    const auto is_forge = [&](const std::string& host) { return broker::find_forge(forges, host) != nullptr; };
    const std::string closed =
        ", a forge of this preset's repositories: workers read there, and Hone delivers their branches after review. A "
        "rule opens only issues, comments and labels, when it names POST and their path.";
    std::vector<std::string> found;
    if (const auto rules = m_rules.find(*settings.provider); rules != m_rules.end()) {
        const skill::GrantUse use{skill::Audience::worker, urls_of(settings)};
        const auto grant = m_skills.resolve(access::Caller::system(), space, *settings.skills, use);
        if (grant.ok()) found = rules->second.warnings(settings, grant.value());
    }
    for (const std::string& host : *settings.sandbox.value.allow_hosts)
        if (const auto rule = parse_allowed_host(host); rule.ok() && is_forge(rule.value().host))
            found.push_back("allow_hosts names " + host + closed);
    for (const std::string& id : *settings.skills) {
        const auto skill = m_skills.find(access::Caller::system(), space, id);
        if (!skill.ok()) continue;
        for (const std::string& warning : skill.value().warnings) found.push_back(skill.value().name + ": " + warning);
        if (skill.value().type == skill::SkillType::github) continue;
        for (const auto& variable : skill.value().variables)
            for (const auto& way : variable.ways)
                for (const auto& host : way.hosts)
                    if (is_forge(host.host)) found.push_back(skill.value().name + " names " + host.host + closed);
    }
    return found;
}

} // namespace hone::run
