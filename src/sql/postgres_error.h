// PostgreSQL's SQLSTATE codes as our errors. Internal to sql/.
#pragma once

#include "base/result.h"

#include <string_view>

namespace hone::sql {

struct PostgresFailure {
    Error error;
    bool connection_lost = false;
    bool may_run_again = false; // the server rolled back: collision, deadlock, outdated plan
};

PostgresFailure postgres_failure(std::string_view sqlstate, std::string trail);

} // namespace hone::sql
