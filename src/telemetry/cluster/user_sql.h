// The users of an outside ClickHouse and their rights, as statements for its administrator. Pure functions, any thread.
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace hone::telemetry {

struct ClickHouseUsers {
    std::string user = "hone";
    std::string reader = "hone_reader"; // runs SQL of people; empty: none
    std::string cluster{};              // empty: one server
};

// In order, without the semicolon; passwords are placeholders. invalid: a name that ClickHouse would need quoted twice.
Result<std::vector<std::string>> user_statements(const ClickHouseUsers& users);

} // namespace hone::telemetry
