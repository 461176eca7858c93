// Puts the parts of a span (span_parts.h) together. Log records become events of their span, and fill in what the span
// lacks: messages and usage of GenAI's events, prompts and responses of Claude Code. Parts of a run are laid over one
// another in the order of arrival. Merging again changes nothing. Pure; any thread.
#pragma once

#include "base/result.h"
#include "otlp/message.h"

#include <string>
#include <vector>

namespace hone::telemetry {

// Gives the event of a log record its name, and its fields the form that span events have.
void shape_log_event(otlp::Batch& batch, otlp::Event& event);

// One span with its events, as the bytes of a part.
std::string encode_part(const otlp::Span& span, const otlp::Resource& resource, const otlp::Scope& scope);

// Adds the log records of `parts` to the span.
void add_log_parts(otlp::Batch& batch, otlp::Span& span, const std::vector<std::string>& parts,
                   const otlp::Limits& limits);

// The run that the parts describe, as a span of `batch` with its own resource and scope. An end that no part has yet
// is the start.
Result<> add_run(otlp::Batch& batch, const std::vector<std::string>& parts, const otlp::Limits& limits);

} // namespace hone::telemetry
