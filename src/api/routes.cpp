#include "api/routes.h"

namespace hone::api {

std::span<const Route> routes() {
    static const std::vector<Route> all = [] {
        std::vector<Route> joined;
        for (const auto area :
             {access_routes(), trace_routes(), phoenix_routes(), run_routes(), skill_routes(), automation_routes(),
              monitor_routes(), signal_routes(), forge_routes(), review_routes()})
            joined.insert(joined.end(), area.begin(), area.end());
        return joined;
    }();
    return all;
}

} // namespace hone::api
