// Whether a run could send a request.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "run/explain.h"
#include "run/run_services.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ExplainQuery {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> url;
    std::optional<std::string> method;
    std::optional<std::string> preset;
    std::optional<broker::EgressMode> mode;
    std::vector<std::string> skill;
    std::vector<std::string> allow;
    static constexpr Pack fields{
        Field{"space", &ExplainQuery::space, "Id or name of the space; the caller's first one if not given."},
        Field{"url", &ExplainQuery::url, "Address of the request; needed."},
        Field{"method", &ExplainQuery::method, "GET if not given."},
        Field{"preset", &ExplainQuery::preset, "Id or name of the run's preset; sets network, skills and hosts."},
        Field{"mode", &ExplainQuery::mode, "Network mode; that of the preset, or allowlist, if not given."},
        Field{"skill", &ExplainQuery::skill, "Id or name of a further skill that the run has; may be repeated."},
        Field{"allow", &ExplainQuery::allow, "A further host, as in a preset; may be repeated."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

Result<One<broker::Explanation>> explain_request(const Call& call, const ExplainQuery& query) {
    if (!query.url) return invalid("url is missing");
    const run::ExplainRequest request{
        query.method.value_or("GET"), *query.url, query.preset, query.mode, query.skill, query.allow};
    const auto space = TRY(space_of(call, query.space));
    return One<broker::Explanation>{
        TRY(run::explain(call.services.run.presets, call.services.skills, call.services.repos,
                         call.services.run.policies.mirrors(), call.caller, space, request))};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route egress_table[] = {
    route<explain_request>("GET", "/v1/broker/explain", need(skill_read),
                           "Explain whether a run can send a request, why, and with which secret."),
};

} // namespace

std::span<const Route> egress_routes() {
    return egress_table;
}

} // namespace hone::api
