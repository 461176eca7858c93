// A span as a row of the engine's table `spans` in RowBinary. schema.cpp declares the same columns in the same order;
// a test compares them. Pure; any thread.
#pragma once

#include "telemetry/span/span.h"

#include <string>
#include <string_view>

namespace hone::telemetry {

void append_span_row(std::string& out, const Span& span, std::string_view project, int64_t received_ns);

// What identifies a row, read back from its first columns.
struct SpanRowHead {
    std::string_view project;
    int64_t start_ns = 0;
    std::string_view trace_id;
    std::string_view span_id;
    uint64_t content_hash = 0; // equal for a span that is sent again unchanged
    int64_t received_ns = 0;
};
bool read_span_row_head(std::string_view row, SpanRowHead& head);

// Texts up to this long are kept in the attribute index for fast filters.
constexpr size_t indexed_text_bytes = 256;

} // namespace hone::telemetry
