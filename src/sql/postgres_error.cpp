#include "sql/postgres_error.h"

#include "sql/connection.h"

namespace hone::sql {

namespace {
PostgresFailure plain(Error error) {
    return {std::move(error), false, false};
}
PostgresFailure lost(std::string trail) {
    return {{Code::unavailable, "the connection to PostgreSQL was lost; try again", std::move(trail)}, true, true};
}
PostgresFailure collision(std::string trail) {
    return {{Code::busy, "too many changes at the same time; try again", std::move(trail)}, false, true};
}
} // namespace

PostgresFailure postgres_failure(std::string_view sqlstate, std::string trail) {
    const std::string_view state_class = sqlstate.substr(0, 2);
    // Integrity rules.
    // Also what loses CREATE TABLE IF NOT EXISTS to another server: it sees the row, the type or the table first.
    if (sqlstate == "23505" || sqlstate == "42710" || sqlstate == "42P07")
        return plain(already_exists(std::move(trail)));
    if (sqlstate == "23503") return plain(broken_reference(std::move(trail)));
    if (sqlstate == "23514" || sqlstate == "23502") return plain(broken_rule(std::move(trail)));
    if (sqlstate == "22003") return plain({Code::invalid, "a number is out of range", std::move(trail)});
    // Others at the same time.
    if (sqlstate == "40001" || sqlstate == "40P01") return collision(std::move(trail));
    if (sqlstate == "55P03") return plain({Code::busy, "the database is busy; try again", std::move(trail)});
    if (sqlstate == "57014") return plain(took_too_long(std::move(trail)));
    if (sqlstate == "53300")
        return plain({Code::busy, "PostgreSQL has no free connection; try again", std::move(trail)});
    // The server.
    if (sqlstate.empty() || state_class == "08" || sqlstate == "57P01" || sqlstate == "57P02" || sqlstate == "57P03" ||
        sqlstate == "25P03")
        return lost(std::move(trail));
    if (sqlstate == "53100")
        return plain(
            {Code::unavailable, "the disk of PostgreSQL is full: free some space, then try again", std::move(trail)});
    if (state_class == "53") return plain({Code::unavailable, "PostgreSQL is out of resources", std::move(trail)});
    if (sqlstate == "25006")
        return plain({Code::unavailable, "PostgreSQL is read-only: connect to the primary server", std::move(trail)});
    if (state_class == "28" || sqlstate == "3D000")
        return plain({Code::unavailable, "PostgreSQL refused the connection: check user, password and database name",
                      std::move(trail)});
    if (sqlstate == "XX001" || sqlstate == "XX002")
        return plain({Code::corrupt, "the PostgreSQL database is damaged: restore a backup", std::move(trail)});
    return plain(internal("the database refused a statement", std::move(trail)));
}

} // namespace hone::sql
