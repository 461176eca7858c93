// The users of an outside ClickHouse and their rights: statements for its administrator, and what `hone clickhouse
// check` compares. Pure functions, any thread.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace hone::telemetry {

struct ClickHouseUsers {
    std::string user = "hone";
    std::string reader = "hone_reader"; // runs SQL of people; empty: none
    std::string cluster{};              // empty: one server
};

// The words after IDENTIFIED in the statements that create the users.
struct UserCredentials {
    std::string user = "BY 'PASSWORD'"; // a placeholder that people replace
    std::string reader = "BY 'PASSWORD'";
};

// So that ClickHouse stores this password; the statement contains its hash with this salt, and not the password.
std::string identified_by(const std::string& password, const std::string& salt);

// In order, without the semicolon. invalid: a name that ClickHouse would need quoted twice.
Result<std::vector<std::string>> user_statements(const ClickHouseUsers& users, const UserCredentials& credentials = {});

struct ClickHouseGrant {
    std::string rights;              // as they are granted, groups too
    std::string on;                  // "hone.*"; empty for engines of tables
    std::vector<std::string> checks; // each alone, for CHECK GRANT: `SELECT ON hone.*`
    std::string statement;           // GRANT … TO
};
// What the server's own user needs.
std::vector<ClickHouseGrant> grants_of_user(const ClickHouseUsers& users);

// From the response of SHOW GRANTS, a statement on each line: those that give the reader more than the views of
// projects. What cannot be read counts as more.
std::vector<std::string> excess_of_reader(std::string_view shown);
// Those that give the server's user rights beyond its databases.
std::vector<std::string> excess_of_user(std::string_view shown);

} // namespace hone::telemetry
