#include "sql/away.h"

#include "sql/testing.h"

namespace hone::sql::testing {

TEST_CASE("work is repeated when PostgreSQL was away, and not when it may have been done") {
    const auto nowhere = Database::open({.url = "postgres:///hone?host=/nowhere&user=hone"});
    REQUIRE_FALSE(nowhere.ok());
    CHECK(is_away(nowhere.error()));
    CHECK_FALSE(is_outcome_unknown(nowhere.error()));
    const Error lost = unavailable("the connection to PostgreSQL was lost while saving; look whether it was done");
    CHECK_FALSE(is_away(lost));
    CHECK(is_outcome_unknown(lost));
    CHECK(is_away(unavailable("the connection to PostgreSQL was lost; try again")));
    for (const Error& error : {conflict("cannot reach PostgreSQL"), unavailable("the forge does not respond"),
                               unavailable("PostgreSQL is read-only: connect to the primary server")}) {
        CHECK_FALSE(is_away(error));
        CHECK_FALSE(is_outcome_unknown(error));
    }
}

} // namespace hone::sql::testing
