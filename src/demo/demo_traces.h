// The demo's application: a support agent with known faults, as its traces. Generated, always the same for the same
// `now`; about 20,000 spans over three days. Pure, any thread.
//
// Faults that a good investigation must find:
//   lookup_order times out, more and more in the last twelve hours
//   rank_articles became three times slower with version 1.9.0
//   search_articles finds nothing about warranties
//   parse_intent fails on responses that are not JSON
//   check_stock is called repeatedly with the same input
//   responses of the small model are cut off at the token limit
//   `answer` sends twice the tokens since version 1.9.0
#pragma once

#include "base/time.h"
#include "otlp/message.h"

#include <string_view>

namespace hone::demo {

constexpr std::string_view project_name = "support-agent";
constexpr size_t trace_count = 2900;

// Traces number `first` up to `last`, into one batch.
otlp::Batch make_traces(Time now, size_t first, size_t last);

} // namespace hone::demo
