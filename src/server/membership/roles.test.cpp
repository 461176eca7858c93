#include "server/membership/roles.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::server;

TEST_CASE("roles are a list of known names, in any order and once") {
    const Roles some = Roles::parse(" worker , api,api").value();
    CHECK(some.api);
    CHECK(some.worker);
    CHECK_FALSE(some.ingest);
    CHECK_FALSE(some.scheduler);
    CHECK(some.text() == "api,worker");
    CHECK(Roles::parse("api,ingest,scheduler,worker").value().text() == "api,ingest,scheduler,worker");
    for (const char* wrong : {"", "api,", "admin", "API", "api worker"}) {
        INFO(wrong);
        const auto refused = Roles::parse(wrong);
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().message.find("api, ingest, scheduler, worker") != std::string::npos);
    }
}
