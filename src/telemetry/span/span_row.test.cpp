#include "telemetry/span/span_row.h"

#include "telemetry/span/binary.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::telemetry;

namespace {

std::string row_of(const Span& span) {
    std::string row;
    append_span_row(row, span, "project_rows", 5);
    return row;
}

struct RowSpan {
    otlp::Span raw;
    otlp::Resource resource;
    otlp::Scope scope;
    Span span;

    RowSpan() {
        span.trace_id = "00000000000000000000000000000001";
        span.span_id = "0000000000000002";
        span.parent_id = "0000000000000001";
        span.kind = SpanKind::llm;
        span.model = "gpt-4o";
        span.tokens = {1, 2, 3, 4, 5};
        span.cost_nano_usd = 6;
        span.cost_source = CostSource::prices;
        span.input = "text";
        span.raw = &raw;
        span.resource = &resource;
        span.scope = &scope;
    }
};

constexpr size_t empty_newer_columns = 12; // no usage, no response, eight bytes of a number, no tags, no metadata

} // namespace

TEST_CASE("what decides about a row's usage is read back from its bytes") {
    RowSpan made;
    made.span.response_id = "answer-1";
    const std::string row = row_of(made.span);
    SpanRowUsage usage;
    REQUIRE(read_span_row_usage(row, usage));
    CHECK(usage.parent_id == "0000000000000001");
    CHECK(usage.kind == SpanKind::llm);
    CHECK(usage.tokens == made.span.tokens);
    CHECK(usage.cost_nano_usd == 6);
    CHECK(usage.response_id == "answer-1");
    CHECK(!read_span_row_usage(std::string_view(row).substr(0, 150), usage));
}

TEST_CASE("a row of an earlier version gets the columns that it lacks") {
    const RowSpan made;
    const std::string row = row_of(made.span);
    SpanRowUsage usage;
    REQUIRE(read_span_row_usage(row, usage));
    const std::string earlier = row.substr(0, usage.newer_at) + row.substr(usage.newer_at + empty_newer_columns);
    CHECK(complete_span_row(earlier) == row);
}

TEST_CASE("a row that repeats calls keeps its numbers beside the columns that are summed up") {
    const RowSpan made;
    const std::string row = row_of(made.span);
    SpanRowUsage usage;
    REQUIRE(read_span_row_usage(row, usage));
    const std::string repeated = repeated_span_row(row, usage);
    BinaryReader reader(std::string_view(repeated).substr(usage.tokens_at));
    for (int i = 0; i < 6; ++i) CHECK(reader.number<int64_t>() == 0);
    CHECK(reader.number<int8_t>() == 0);
    REQUIRE(reader.varint() == 7);
    for (const int64_t number : {1, 2, 3, 4, 5, 6, 2}) CHECK(reader.number<int64_t>() == number);
    CHECK(repeated.substr(usage.newer_at + 1 + 7 * 8) == row.substr(usage.newer_at + 1));
}
