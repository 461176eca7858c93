// Automations and their slots.
#include "api/routes.h"

namespace hone::api {

std::span<const Route> automation_routes() {
    return {};
}

} // namespace hone::api
