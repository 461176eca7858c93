#include "api/broker_handlers.h"

#include "api/skill_handlers.h"

namespace hone::api {

Result<One<broker::Explanation>> explain_request(const Call& call, const ExplainQuery& query) {
    const auto space = TRY(call.access().spaces.choose(call.caller, query.space));
    TRY(call.caller.require(access::Permission::skill_read, space));
    if (!query.url) return invalid("url is missing");
    skill::Grant grant;
    if (!query.skill.empty()) grant = TRY(TRY(skills_of(call))->resolve(call.caller, space, query.skill));
    std::vector<broker::PolicyRule> rules;
    for (const std::string& host : query.allow) rules.push_back({TRY(broker::parse_host_rule(host)), false, "given"});
    const auto policy = TRY(broker::Policy::compile(query.mode.value_or(broker::EgressMode::allowlist),
                                                    std::move(grant), std::move(rules)));
    return One<broker::Explanation>{TRY(broker::explain(*policy, query.method.value_or("GET"), *query.url))};
}

} // namespace hone::api
