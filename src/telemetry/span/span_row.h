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

// What decides whether a row's tokens and cost count, and where they are in it.
struct SpanRowUsage {
    std::string_view parent_id;
    SpanKind kind = SpanKind::unknown;
    Tokens tokens;
    int64_t cost_nano_usd = 0;
    int8_t cost_source = 0;
    std::string_view response_id;
    size_t tokens_at = 0;
    size_t newer_at = 0; // where the columns begin that earlier versions did not have
};
bool read_span_row_usage(std::string_view row, SpanRowUsage& usage);
// The chat session of a row with all columns; empty: it has none.
std::string_view read_span_row_session(std::string_view row);
// A row of an earlier version with the columns that it lacks, empty.
std::string complete_span_row(std::string_view row);
// The row with its usage in `repeated_usage` instead of the columns that are summed up.
std::string repeated_span_row(std::string_view row, const SpanRowUsage& usage);

// Texts up to this long are kept in the attribute index for fast filters.
constexpr size_t indexed_text_bytes = 256;

} // namespace hone::telemetry
