// Claude Code logs what it does also when it sends no traces: each prompt, model call and tool call is a log record. A
// record that names no span becomes one here; the records of a prompt are one trace. Pure; any thread.
#pragma once

#include "otlp/message.h"

namespace hone::telemetry {

struct RunParts;

// Adds the spans that the record stands for; false when it is not one of Claude Code's, or stands for none.
bool add_claude_code_spans(otlp::Batch& batch, const otlp::Span& record, RunParts& runs);

} // namespace hone::telemetry
