// `hone clickhouse setup --apply`: makes the users and rights with an administrator's credentials, and what a server
// makes at its start. Everything can be repeated. Blocks.
#pragma once

#include "base/result.h"
#include "telemetry/engine/clickhouse.h"

#include <functional>
#include <string>

namespace hone::telemetry {

struct StoreSetup {
    ClickHouseOptions server; // with the users and passwords that are made; without a reader's user: none
    std::string administrator;
    std::string administrator_password;
    std::function<void(const std::string& what)> made; // one line for each statement, without passwords
};

// A user that is there keeps its password. The error names the statement.
Result<> set_up_store(const StoreSetup& setup);

} // namespace hone::telemetry
