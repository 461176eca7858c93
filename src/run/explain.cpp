#include "run/explain.h"

#include <algorithm>

namespace hone::run {

Result<broker::Explanation> explain(const Presets& presets, const skill::Skills& skills, const forge::Catalog& repos,
                                    const broker::PackageMirrors& mirrors, const access::Caller& caller,
                                    const access::SpaceId& space, const ExplainRequest& request) {
    TRY(caller.require(access::Permission::skill_read, space));
    auto mode = broker::EgressMode::allowlist;
    std::vector<std::string> ids;
    std::vector<broker::PolicyRule> rules;
    std::vector<std::string> repositories;
    if (request.preset) {
        const Preset preset = TRY(presets.find(caller, space, *request.preset));
        mode = *preset.settings.sandbox.value.network;
        ids = *preset.settings.skills;
        for (const auto& repo : *preset.settings.repos) repositories.push_back(repo.url);
        for (const std::string& host : *preset.settings.sandbox.value.allow_hosts) {
            auto rule = TRY(parse_allowed_host(host));
            rules.push_back({std::move(rule), false, "preset"});
        }
        for (broker::PolicyRule& rule : TRY(mirrors.rules(*preset.settings.sandbox.value.packages)))
            rules.push_back(std::move(rule));
    }
    for (const std::string& name : request.skills) {
        const skill::Skill found = TRY(skills.find(caller, space, name));
        ids.push_back(found.id.text());
    }
    for (const std::string& host : request.allow) {
        auto rule = TRY(broker::parse_host_rule(host));
        rules.push_back({std::move(rule), false, "given"});
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    std::vector<std::string> guarded = TRY(repos.guarded_urls(space));
    guarded.insert(guarded.end(), repositories.begin(), repositories.end());
    const auto forges = broker::forge_hosts(guarded, request.preset ? repositories : guarded);
    skill::GrantUse use;
    if (request.preset)
        use.repositories = std::move(repositories);
    else
        use.repositories.reset(); // any that a run would name
    skill::Grant grant;
    if (!ids.empty()) grant = TRY(skills.resolve(caller, space, ids, use));
    const auto policy =
        TRY(broker::Policy::compile(request.mode.value_or(mode), std::move(grant), std::move(rules), forges));
    return broker::explain(*policy, request.method, request.url);
}

} // namespace hone::run
