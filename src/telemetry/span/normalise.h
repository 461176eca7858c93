// Makes the one span model from an OTLP span in any convention. Pure: any thread. The result views into `batch`,
// which also receives texts that had to be made (hexadecimal ids, rendered messages).
#pragma once

#include "otlp/message.h"
#include "telemetry/span/prices.h"
#include "telemetry/span/span.h"

namespace hone::telemetry {

Span normalise(otlp::Batch& batch, const otlp::Span& raw, const Prices& prices);

// The project a span belongs to when no header names one: openinference.project.name of its resource, else
// service.name, else "default".
std::string_view project_name(const otlp::Resource& resource);

} // namespace hone::telemetry
