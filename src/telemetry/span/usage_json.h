// Token counts inside JSON texts, in the spellings of the model providers and of frameworks. Internal to
// telemetry/span.
#pragma once

#include "telemetry/span/attribute_json.h"
#include "telemetry/span/usage.h"

#include <string_view>

namespace hone::telemetry {

// The usage object at the pointer `under`; empty pointer: the text itself.
ReportedUsage read_usage_json(const AttributeJson& json, std::string_view under = {});

inline bool has_counts(const ReportedUsage& usage) {
    return usage.input || usage.output || usage.total;
}

} // namespace hone::telemetry
