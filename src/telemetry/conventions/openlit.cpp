// OpenLIT: GenAI's keys. It sends a cost of 0 where it has no price.
#include "telemetry/span/convention.h"

namespace hone::telemetry {

namespace {

constexpr ConventionKey openlit_keys[] = {
    {"gen_ai.usage.cost", Fact::own},
    {"gen_ai.request.user", Fact::user},
    {"gen_ai.vectordb.search.query", Fact::input},
};

constexpr std::string_view openlit_scope = "openlit";

void complete_openlit(const KnownAttributes&, Draft& draft) {
    if (!draft.scope.starts_with(openlit_scope)) return;
    if (draft.cost && *draft.cost == 0) draft.cost.reset();
}

} // namespace

const Convention openlit_convention{"OpenLIT", openlit_keys, complete_openlit, openlit_scope};

} // namespace hone::telemetry
