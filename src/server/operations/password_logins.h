// The setting password_logins: which accounts can log in with a password, and what would lock out the owners of an
// installation that enforces single sign-on. For the start of the server, `hone check` and `hone doctor`. Any thread.
#pragma once

#include "config/config.h"
#include "sql/sql.h"

namespace hone::server {

// Null: all accounts.
Result<std::optional<std::vector<std::string>>> password_accounts(const std::string& setting);

// Separated by semicolons. Empty if single sign-on works for others and an owner has a way in without it, or if
// passwords work for all.
std::string password_login_problems(sql::Database& database, const config::Config& config);

constexpr const char* password_logins_advice =
    "name an owner in password_logins and give the account a password; hone provider create (docs/accounts.md)";

} // namespace hone::server
