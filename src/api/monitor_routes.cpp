// Monitors, destinations of notices.
#include "api/routes.h"

namespace hone::api {

std::span<const Route> monitor_routes() {
    return {};
}

} // namespace hone::api
