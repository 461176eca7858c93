// The messages, tool calls and documents of a stored span. Pure; any thread.
#pragma once

#include "telemetry/query/span_store.h"

namespace hone::telemetry {

// With the messages that the span borrowed from those below it.
Conversation conversation_of(const SpanPayload& payload);

} // namespace hone::telemetry
