// What models cost, per million tokens, for spans that do not say themselves. Built in for common models, replaced or
// extended by lines of text `model input output [cache_read cache_write]` in USD. Read-only after it is made: any
// thread.
#pragma once

#include "base/result.h"
#include "telemetry/span.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace hone::telemetry {

struct Price { // nano-USD per token = thousandths of USD per million
    int64_t input = 0;
    int64_t output = 0; // reasoning costs the same
    int64_t cache_read = 0;
    int64_t cache_write = 0;
};

class Prices {
public:
    static Prices built_in();
    // Later lines win; '#' starts a comment.
    Result<> add(std::string_view lines);

    // By exact name, else by the longest known name that is followed by a version: "gpt-4o" for "gpt-4o-2024-08-06".
    const Price* find(std::string_view model) const;

private:
    std::map<std::string, Price, std::less<>> m_prices;
};

int64_t cost_nano_usd(const Price& price, const Tokens& tokens);

} // namespace hone::telemetry
