#include "api/broker_handlers.h"

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
    if (query.preset) {
        const auto preset = TRY(TRY(runs_of(call))->presets.find(call.caller, space, *query.preset));
        mode = *preset.settings.sandbox.value.network;
        skills = *preset.settings.skills;
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
    skill::Grant grant;
    if (!skills.empty()) grant = TRY(TRY(skills_of(call))->resolve(call.caller, space, skills));
    const auto policy = TRY(broker::Policy::compile(query.mode.value_or(mode), std::move(grant), std::move(rules)));
    return One<broker::Explanation>{TRY(broker::explain(*policy, query.method.value_or("GET"), *query.url))};
}

} // namespace hone::api
