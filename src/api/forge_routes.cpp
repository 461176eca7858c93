// Repositories and pull requests.
#include "api/routes.h"

namespace hone::api {

std::span<const Route> forge_routes() {
    return {};
}

} // namespace hone::api
