#include "api/broker_handlers.h"

#include "api/forge_handlers.h"
#include "api/run_handlers.h"
#include "api/skill_handlers.h"

#include <algorithm>

namespace hone::api {

Result<One<broker::Explanation>> explain_request(const Call& call, const ExplainQuery& query) {
    const auto space = TRY(call.access().spaces.choose(call.caller, query.space));
    TRY(call.caller.require(access::Permission::skill_read, space));
    if (!query.url) return invalid("url is missing");
    auto mode = broker::EgressMode::allowlist;
    std::vector<std::string> skills;
    std::vector<broker::PolicyRule> rules;
    std::vector<std::string> repositories;
    if (query.preset) {
        const auto preset = TRY(TRY(runs_of(call))->presets.find(call.caller, space, *query.preset));
        mode = *preset.settings.sandbox.value.network;
        skills = *preset.settings.skills;
        for (const auto& repo : *preset.settings.repos) repositories.push_back(repo.url);
        for (const std::string& host : *preset.settings.sandbox.value.allow_hosts) {
            auto rule = TRY(run::parse_allowed_host(host));
            rules.push_back({std::move(rule), false, "preset"});
        }
    }
    for (const std::string& name : query.skill)
        skills.push_back(TRY(TRY(skills_of(call))->find(call.caller, space, name)).id.text());
    for (const std::string& host : query.allow) {
        auto rule = TRY(broker::parse_host_rule(host));
        rules.push_back({std::move(rule), false, "given"});
    }
    std::sort(skills.begin(), skills.end());
    skills.erase(std::unique(skills.begin(), skills.end()), skills.end());
    std::vector<std::string> guarded = repositories;
    if (call.services.forge != nullptr)
        for (auto& url : TRY(call.services.forge->repos.guarded_urls(space))) guarded.push_back(std::move(url));
    skill::GrantUse use;
    if (query.preset)
        use.repositories = std::move(repositories);
    else
        use.repositories.reset(); // whichever a run would name
    skill::Grant grant;
    if (!skills.empty()) grant = TRY(TRY(skills_of(call))->resolve(call.caller, space, skills, use));
    const auto policy = TRY(broker::Policy::compile(query.mode.value_or(mode), std::move(grant), std::move(rules),
                                                    broker::forge_hosts(guarded)));
    return One<broker::Explanation>{TRY(broker::explain(*policy, query.method.value_or("GET"), *query.url))};
}

} // namespace hone::api
