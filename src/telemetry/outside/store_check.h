// `hone clickhouse check`: what Hone needs of a ClickHouse elsewhere, verified at each of its addresses. Blocks.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "base/time.h"
#include "telemetry/engine/clickhouse.h"

#include <string>
#include <vector>

namespace hone::telemetry {

struct StoreFinding {
    std::string address; // empty: all of them together
    std::string name;
    std::string state; // ok, warning, problem
    std::string detail;
    std::string advice;
    static constexpr Pack fields{
        Field{"address", &StoreFinding::address, ""}, Field{"name", &StoreFinding::name, ""},
        Field{"state", &StoreFinding::state, ""},     Field{"detail", &StoreFinding::detail, ""},
        Field{"advice", &StoreFinding::advice, ""},
    };
};

bool has_problem(const std::vector<StoreFinding>& findings);

// With the users of the options. What it makes to try attacks is dropped again, also what an earlier check left that
// was killed more than an hour ago.
std::vector<StoreFinding> check_store(const ClickHouseOptions& options, const Clock& clock);

} // namespace hone::telemetry
