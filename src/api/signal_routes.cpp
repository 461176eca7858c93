// Signal and issues.
#include "api/routes.h"

namespace hone::api {

std::span<const Route> signal_routes() {
    return {};
}

} // namespace hone::api
