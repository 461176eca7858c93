// Routes about the broker's rules. Handlers as in handlers.h.
#pragma once

#include "api/handlers.h"
#include "broker/egress/explain.h"

namespace hone::api {

struct ExplainQuery {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> url;
    std::optional<std::string> method;
    std::optional<std::string> preset;
    std::optional<broker::EgressMode> mode;
    std::vector<std::string> skill;
    std::vector<std::string> allow;
    static constexpr std::tuple fields{
        Field{"space", &ExplainQuery::space, "Id or name of the space; the caller's first one if not given."},
        Field{"url", &ExplainQuery::url, "Where the request would go; needed."},
        Field{"method", &ExplainQuery::method, "GET if not given."},
        Field{"preset", &ExplainQuery::preset, "Id or name of the run's preset: its network, skills and hosts."},
        Field{"mode", &ExplainQuery::mode, "Of the preset, or allowlist, if not given."},
        Field{"skill", &ExplainQuery::skill, "Id or name of a further skill that the run has; may be repeated."},
        Field{"allow", &ExplainQuery::allow, "A further host, as in a preset; may be repeated."},
    };
};

// broker_handlers.cpp
Result<One<broker::Explanation>> explain_request(const Call&, const ExplainQuery&);

} // namespace hone::api
