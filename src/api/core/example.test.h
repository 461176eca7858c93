// One example request per route, for the tests that are made from the route table. They stand beside their family, in
// FAMILY.examples.test.h; a route without one fails the tests. `{space}`, `{project}`, … in query and body are filled
// in as in the path, each with a thing made for this request.
#pragma once

#include "access/permission.h"

#include <optional>
#include <string_view>

namespace hone::api::testing {

struct Example {
    std::string_view route; // method and path as in the table
    std::string_view query = "";
    std::string_view body = "";
    // What the domain requires beyond the table's permission, and the status without it.
    std::optional<access::Permission> also{};
    int without = 403;
    bool people_only = false;     // an API key is refused
    bool no_service_keys = false; // a service key is refused, a personal key is not
    bool not_for_runs = false;    // the key of a run is refused
    int allowed = 200;            // the status for callers who may
};

} // namespace hone::api::testing
