// Which metrics become series: those about models, agents and coding assistants, by the names that their conventions
// use. Every other metric is counted and dropped. One line here makes another one known. Pure; any thread.
#pragma once

#include "base/fields.h"

#include <array>
#include <optional>
#include <string_view>

namespace hone::telemetry {

enum class MetricUse : uint8_t { tokens, cost, latency, usage };
constexpr auto enum_names(MetricUse) {
    return std::array{EnumName{MetricUse::tokens, "tokens"}, EnumName{MetricUse::cost, "cost"},
                      EnumName{MetricUse::latency, "latency"}, EnumName{MetricUse::usage, "usage"}};
}

// Nothing: the metric is dropped.
std::optional<MetricUse> metric_use(std::string_view name);

} // namespace hone::telemetry
