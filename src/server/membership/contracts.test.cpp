#include "server/membership/contracts.h"

#include "lease/servers.h"
#include "sql/testing.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::server;

namespace {

lease::ServerInfo named(const std::string& name, int64_t schema) {
    lease::ServerInfo info;
    info.name = name;
    info.version = "0.1";
    info.schema_version = schema;
    info.roles = "api";
    info.address = "http://" + name;
    return info;
}

} // namespace

TEST_CASE("a migration that removes something waits until no live server is older, and others do not wait") {
    const sql::Migration adds{61, "adds", "CREATE TABLE added (id TEXT PRIMARY KEY);"};
    const sql::Migration removes{62, "removes", "-- contract: unused since 0.1\nDROP TABLE added;"};
    const SystemClock clock;
    for (const sql::Engine engine : sql::testing::all_engines) {
        INFO("on ", sql::testing::engine_name(engine));
        sql::testing::FreshDatabase fresh(engine, sql::testing::Schema::migrated);
        sql::Database& database = fresh.database();
        CHECK(check_contracts(database, clock, {adds, removes}).ok()); // nobody is there
        lease::Servers older(database, clock, named("a", 61)), equal(database, clock, named("b", 62));
        REQUIRE(older.join().ok());
        REQUIRE(equal.join().ok());
        CHECK(check_contracts(database, clock, {}).ok());
        CHECK(check_contracts(database, clock, {adds}).ok());
        const auto refused = check_contracts(database, clock, {adds, removes});
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().code == Code::conflict);
        CHECK(refused.error().message ==
              "migration 62 (removes) removes what older servers use: stop them first: a (http://a, 0.1)");
        REQUIRE(older.leave().ok());
        CHECK(check_contracts(database, clock, {adds, removes}).ok());
    }
}
