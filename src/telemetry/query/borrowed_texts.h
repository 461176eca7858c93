// Input and output of a span that has none of its own: of an agent or chain those of the first and the last model call
// below it, else how it failed; of a model call those of the same call as another instrumentation saw it, those of the
// step around it, or those that Claude Code logged. For the page of one span; lists and exports show spans as they were
// sent.
#pragma once

#include "telemetry/engine/clickhouse.h"
#include "telemetry/query/span_store.h"

#include <string>

namespace hone::telemetry {

// Does nothing for a span with an input, and for a kind that has texts of its own or none.
Result<> borrow_texts(ClickHouse& engine, const std::string& project, SpanPayload& payload);

// The messages in the borrowed texts of a model call, where the conversation has none of its own.
void add_borrowed_messages(const SpanPayload& payload, Conversation& conversation);

// The words of the last message of that role in a JSON text of messages; else the text as it is.
std::string words_of(std::string_view text, std::string_view role);

} // namespace hone::telemetry
