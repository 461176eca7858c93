// What presets, sessions and automations of a space may request at most.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "run/run_services.h"

namespace hone::api {

Result<One<run::SpacePolicyView>> get_space_policy(const Call& call) {
    const auto space = TRY(space_of(call, call.at("space")));
    return One<run::SpacePolicyView>{TRY(call.services.run.policies.find(call.caller, space))};
}

Result<One<run::SpacePolicyView>> put_space_policy(const Call& call, const run::SpacePolicy& body) {
    const auto space = TRY(space_of(call, call.at("space")));
    return One<run::SpacePolicyView>{TRY(call.services.run.policies.set(call.caller, space, body))};
}

struct ConsentTo {
    std::string base_url;
    static constexpr Pack fields{
        Field{"base_url", &ConsentTo::base_url, "Base URL of the model skill: https://api.anthropic.com."},
    };
};

Result<One<run::ManagedConsentView>> get_managed_consent(const Call& call) {
    const auto space = TRY(space_of(call, call.at("space")));
    return One<run::ManagedConsentView>{TRY(call.services.run.consents.find(call.caller, space))};
}

Result<One<run::ManagedConsentView>> give_managed_consent(const Call& call, const ConsentTo& body) {
    const auto space = TRY(space_of(call, call.at("space")));
    return One<run::ManagedConsentView>{TRY(call.services.run.consents.give(call.caller, space, body.base_url))};
}

Result<One<run::ManagedConsentView>> withdraw_managed_consent(const Call& call, const ConsentTo& body) {
    const auto space = TRY(space_of(call, call.at("space")));
    return One<run::ManagedConsentView>{TRY(call.services.run.consents.withdraw(call.caller, space, body.base_url))};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route space_policies_table[] = {
    route<get_space_policy>("GET", "/v1/spaces/{space}/policy", need(space_read),
                            "Limits of presets, sessions and automations of a space."),
    route<put_space_policy>("PUT", "/v1/spaces/{space}/policy", need(space_update),
                            "Replace the policy of a space; it applies to every run that starts later."),
    route<get_managed_consent>("GET", "/v1/spaces/{space}/managed-consent", need(space_read),
                               "What leaves this server with provider claude-managed, and who consented to it."),
    route<give_managed_consent>("POST", "/v1/spaces/{space}/managed-consent", need(space_delete),
                                "Consent, as an owner, that data of the space is sent to this address."),
    route<withdraw_managed_consent>("POST", "/v1/spaces/{space}/managed-consent/withdraw", need(space_delete),
                                    "Withdraw the consent; sessions that use it end."),
};

} // namespace

std::span<const Route> space_policies_routes() {
    return space_policies_table;
}

} // namespace hone::api
