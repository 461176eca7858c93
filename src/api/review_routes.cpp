// Reviews of branches.
#include "api/routes.h"

namespace hone::api {

std::span<const Route> review_routes() {
    return {};
}

} // namespace hone::api
