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
// The same for a resource of traces: one that names no service may have a span that names a project (LangSmith).
std::string_view project_name(const otlp::Batch& batch, uint32_t resource);

} // namespace hone::telemetry
