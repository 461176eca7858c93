// What models cost, per million tokens, for spans that do not say themselves and for calls through the gateway. Built
// in for common models, replaced or extended by lines of text `model input output [cache_read [cache_write]]
// [since YYYY-MM-DD]` in USD. Read-only after it is made: any thread.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "telemetry/span/span.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::telemetry {

struct Price { // nano-USD per token = thousandths of USD per million
    int64_t input = 0;
    int64_t output = 0; // reasoning costs the same
    int64_t cache_read = 0;
    int64_t cache_write = 0;
    std::string model = {}; // the name it is listed under
    Time since = {};        // the day (UTC) from which it counts; 1970: always

    // As a line of the table, to be kept with what was counted by it.
    std::string line() const;
};

class Prices {
public:
    static Prices built_in();
    // Later lines win; '#' starts a comment. A line without a day replaces every price of its model, one with a day
    // only those from that day on until the next.
    Result<> add(std::string_view lines);

    // By exact name, else by the longest known name that is followed by a version: "gpt-4o" for "gpt-4o-2024-08-06".
    // The price of that time; before the first day that is known, the first price. Null: tokens only.
    const Price* find(std::string_view model, Time at) const;

private:
    std::map<std::string, std::vector<Price>, std::less<>> m_prices; // each by day
};

int64_t cost_nano_usd(const Price& price, const Tokens& tokens);

} // namespace hone::telemetry
