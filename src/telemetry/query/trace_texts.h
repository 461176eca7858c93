// What a trace is about, for lists and for the page of a chat session: a title, an input, an output, how it failed
// and the version that ran; and the input and output of spans, for lists of spans.
// The root's own words; where it has none, those of the first and the last model call below it, else how it failed.
// Thread-safe, blocking.
#pragma once

#include "telemetry/engine/clickhouse.h"
#include "telemetry/query/span_store.h"

#include <string>
#include <vector>

namespace hone::telemetry {

struct TraceText {
    std::string trace_id;
    std::string title; // the name that the application gave to the agent or the function; else the root's name
    std::string input; // cut to 2000 bytes, like the output
    std::string output;
    bool has_failed = false; // the root
    std::string error;       // first line of the failure that ended first, with its exception's type; empty: none
    std::string version;     // of the service
};

constexpr size_t most_trace_texts = 200;

// `trace_ids` in hexadecimal digits; traces that are not there are left out.
Result<std::vector<TraceText>> trace_texts(ClickHouse& engine, const Scope& scope,
                                           const std::vector<std::string>& trace_ids);

struct SpanText {
    std::string trace_id;
    std::string span_id;
    std::string input; // cut to 2000 bytes, like the output
    std::string output;
};

constexpr size_t most_span_texts = 200;

// The spans' own words. `span_ids` in hexadecimal digits; spans of several traces can have the same id: all in the time
// of the scope are returned. Spans without words are left out.
Result<std::vector<SpanText>> span_texts(ClickHouse& engine, const Scope& scope,
                                         const std::vector<std::string>& span_ids);

} // namespace hone::telemetry
