#include "telemetry/span/usage.h"

#include <algorithm>

namespace hone::telemetry {

namespace {

constexpr int64_t most = 1'000'000'000'000; // keeps sums of hostile numbers far from overflow

int64_t sane(const std::optional<int64_t>& number) {
    return std::clamp<int64_t>(number.value_or(0), 0, most);
}

} // namespace

Tokens to_buckets(const ReportedUsage& usage) {
    const int64_t input = sane(usage.input), output = sane(usage.output), total = sane(usage.total);
    const int64_t reasoning = sane(usage.reasoning);
    Tokens tokens{input, sane(usage.cache_read), sane(usage.cache_write), output, reasoning};
    const int64_t cached = tokens.cache_read + tokens.cache_write;

    if (!usage.input && !usage.output && total > 0) { // embeddings often report nothing else
        tokens.input = std::max<int64_t>(0, total - cached - reasoning);
        return tokens;
    }
    bool cache_inside = !usage.separate, reasoning_inside = !usage.separate;
    if (total > 0) {
        if (total == input + output)
            cache_inside = reasoning_inside = true;
        else if (total == tokens.total())
            cache_inside = reasoning_inside = false;
        else if (total == input + cached + output)
            cache_inside = false, reasoning_inside = true;
        else if (total == input + output + reasoning)
            cache_inside = true, reasoning_inside = false;
    }
    if (cache_inside && input >= cached) tokens.input = input - cached;
    if (reasoning_inside && output >= reasoning) tokens.output = output - reasoning;
    return tokens;
}

} // namespace hone::telemetry
