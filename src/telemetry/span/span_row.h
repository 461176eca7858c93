// A span as a row of the engine's table `spans` in RowBinary. The columns of the table are declared once, in
// span_row.cpp, with their type and with what writes them. Pure; any thread.
#pragma once

#include "telemetry/span/span.h"

#include <span>
#include <string>
#include <string_view>

namespace hone::telemetry {

struct Column {
    std::string_view name;
    std::string_view type;
    std::string_view codec;
    std::string_view doc; // shown to people who write SQL
};

// In the order of the table and of a row.
std::span<const Column> span_columns();

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
