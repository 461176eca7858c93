// A data directory of version 0.1 as that version made it: its spans stay, beside new ones, after merges too.
#include "telemetry/engine/schema.h"
#include "telemetry/store_fixture.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::telemetry;
using namespace hone::telemetry::testing;

namespace {

// Never changed: what is on the disks of those who have it.
constexpr std::string_view first_table = R"(CREATE TABLE hone.spans (
project LowCardinality(String) CODEC(ZSTD(1)), start_ns Int64 CODEC(Delta, ZSTD(1)),
trace_id FixedString(32) CODEC(ZSTD(1)), span_id FixedString(16) CODEC(ZSTD(1)), content_hash UInt64 CODEC(NONE),
received_ns Int64 CODEC(Delta, ZSTD(1)), parent_id String CODEC(ZSTD(1)), duration_ns Int64 CODEC(T64, ZSTD(1)),
name LowCardinality(String) CODEC(ZSTD(1)),
kind Enum8('unknown'=0,'llm'=1,'chain'=2,'tool'=3,'retriever'=4,'embedding'=5,'agent'=6,'reranker'=7,'guardrail'=8,'evaluator'=9) CODEC(ZSTD(1)),
otel_kind UInt8 CODEC(ZSTD(1)), status Enum8('unset'=0,'ok'=1,'error'=2) CODEC(ZSTD(1)),
status_message String CODEC(ZSTD(1)), service LowCardinality(String) CODEC(ZSTD(1)),
version LowCardinality(String) CODEC(ZSTD(1)), model LowCardinality(String) CODEC(ZSTD(1)),
provider LowCardinality(String) CODEC(ZSTD(1)), input_tokens Int64 CODEC(T64, ZSTD(1)),
cache_read_tokens Int64 CODEC(T64, ZSTD(1)), cache_write_tokens Int64 CODEC(T64, ZSTD(1)),
output_tokens Int64 CODEC(T64, ZSTD(1)), reasoning_tokens Int64 CODEC(T64, ZSTD(1)),
cost_nano_usd Int64 CODEC(T64, ZSTD(1)), cost_source Enum8('none'=0,'span'=1,'prices'=2) CODEC(ZSTD(1)),
repeated_usage Array(Int64) CODEC(ZSTD(1)), response_id String CODEC(ZSTD(1)),
first_token_ns Int64 CODEC(T64, ZSTD(1)), tags Array(LowCardinality(String)) CODEC(ZSTD(1)),
metadata Map(LowCardinality(String), String) CODEC(ZSTD(1)), user_id String CODEC(ZSTD(1)),
chat_session String CODEC(ZSTD(1)), tool_name LowCardinality(String) CODEC(ZSTD(1)),
finish_reason LowCardinality(String) CODEC(ZSTD(1)), documents UInt32 CODEC(T64, ZSTD(1)),
exception_type LowCardinality(String) CODEC(ZSTD(1)), exception_message String CODEC(ZSTD(1)),
truncated Array(LowCardinality(String)) CODEC(ZSTD(1)),
attribute_index Map(LowCardinality(String), String) CODEC(ZSTD(1)),
resource_index Map(LowCardinality(String), String) CODEC(ZSTD(1)), input String CODEC(ZSTD(1)),
input_mime LowCardinality(String) CODEC(ZSTD(1)), output String CODEC(ZSTD(1)),
output_mime LowCardinality(String) CODEC(ZSTD(1)), attributes String CODEC(ZSTD(1)),
resource String CODEC(ZSTD(1)), scope String CODEC(ZSTD(1)), events String CODEC(ZSTD(1)),
links String CODEC(ZSTD(1)), wire String CODEC(ZSTD(1)),
INDEX trace_index trace_id TYPE bloom_filter(0.001) GRANULARITY 1,
INDEX session_index chat_session TYPE bloom_filter(0.01) GRANULARITY 1,
INDEX input_index input TYPE text(tokenizer = 'splitByNonAlpha', preprocessor = lower(input)),
INDEX output_index output TYPE text(tokenizer = 'splitByNonAlpha', preprocessor = lower(output)))
ENGINE = MergeTree PARTITION BY intDiv(start_ns, 86400000000000) ORDER BY (project, start_ns)
SETTINGS min_bytes_for_wide_part = 10485760, parts_to_throw_insert = 3000,
ratio_of_defaults_for_sparse_serialization = 0.9, index_granularity = 1024, fsync_after_insert = 1,
fsync_part_directory = 1, old_parts_lifetime = 60, min_rows_to_fsync_after_merge = 1,
min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1)";
constexpr std::string_view first_trace_times = R"(CREATE TABLE hone.trace_times (
project LowCardinality(String), trace_id FixedString(32),
first_ns SimpleAggregateFunction(min, Int64), last_ns SimpleAggregateFunction(max, Int64))
ENGINE = AggregatingMergeTree ORDER BY (project, trace_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, old_parts_lifetime = 60,
min_rows_to_fsync_after_merge = 1)";

} // namespace

TEST_CASE("spans of a data directory of the first version are shown beside new ones, before and after a merge") {
    Fixture f;
    const auto run = [&](std::string sql) {
        ClickHouseQuery query(std::move(sql));
        if (query.sql.starts_with("CREATE DATABASE")) query.database.clear();
        auto done = f.telemetry->engine().query(query);
        REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.error().message));
        return std::move(done).value();
    };
    run("CREATE DATABASE hone");
    run(std::string(first_table));
    run(std::string(first_trace_times));
    const std::string text = "the blue order was shipped on Monday and will be at your door on Wednesday at noon";
    const std::string start = std::to_string(base_ns), trace = hex_number(7, 32);
    run("INSERT INTO hone.trace_times VALUES ('project_old_table', '" + trace + "', " + start + ", " + start + ")");
    run("INSERT INTO hone.spans (project, start_ns, trace_id, span_id, content_hash, received_ns, name, kind, "
        "chat_session, input, output, attributes, resource, scope, events, links, wire) VALUES ('project_old_table', " +
        start + ", '" + trace + "', '" + hex_number(1, 16) + "', 5, " + start + ", 'old', 'llm', 's1', '" + text +
        R"(', 'yes', '{"input.value":{"$column":"input"},"llm.input_messages.0.message.content":")" + text +
        R"(","output.value":{"$column":"output"}}', '{}', '{"name":"t","version":"","schema_url":"","attributes":{}}', )"
        R"('[]', '[]', '{}'))");

    const auto check = [&](size_t spans) {
        ListSpans list;
        list.scope = scope_of("old_table");
        auto all = f.store().list_spans(list);
        REQUIRE_MESSAGE(all.ok(), (all.ok() ? "" : all.error().message));
        CHECK(all.value().spans.size() == spans);
        list.scope = scope_of("old_table", "input ~ \"blue order\"");
        CHECK(f.store().list_spans(list).value().spans.size() == spans);
        ListTraces traces;
        traces.scope = scope_of("old_table");
        CHECK(f.store().list_traces(traces).value().traces.size() == spans);
        auto payload = f.store().span_payload("project_old_table", trace, hex_number(1, 16));
        REQUIRE(payload.ok());
        CHECK(payload.value().input == text);
        CHECK(payload.value().attributes.find(R"("llm.input_messages.0.message.content":")" + text) !=
              std::string::npos);
    };
    check(1);
    const std::string repeated =
        text_attribute("input.value", text) + "," + text_attribute("llm.input_messages.0.message.content", text);
    REQUIRE(f.send_json("old_table", request({{8, 2, 0, base_ns + 1000, 1, "new", repeated, 0}})).status == 200);
    f.wait();
    check(2);
    run("OPTIMIZE TABLE hone.spans FINAL");
    check(2);
    auto payload = f.store().span_payload("project_old_table", hex_number(8, 32), hex_number(2, 16));
    REQUIRE(payload.ok());
    CHECK(payload.value().attributes ==
          R"({"input.value":{"$column":"input"},"llm.input_messages.0.message.content":")" + text + "\"}");
    // The indexes of the first version give way to those of now, day by day, while everything can be read; a restart in
    // between changes nothing.
    const auto indexes = [&] {
        return run("SELECT name FROM system.data_skipping_indices WHERE database = 'hone' AND table = 'spans' AND name "
                   "LIKE '%put%' ORDER BY name FORMAT TSVRaw");
    };
    const auto size_of_indexes = [&] {
        return run(
            "SELECT sum(data_compressed_bytes) > 0 FROM system.data_skipping_indices WHERE database = 'hone' AND "
            "table = 'spans' AND name = 'input_words' FORMAT TSVRaw");
    };
    CHECK(indexes() == "input_index\noutput_index\n");
    const auto step = [&] {
        const auto more = f.telemetry->upgrade().step();
        REQUIRE_MESSAGE(more.ok(), (more.ok() ? "" : more.error().message + more.error().trail));
        check(2);
        return more.value();
    };
    for (int i = 0; i < 2; ++i) CHECK(step()); // times of sessions; then the old indexes go
    CHECK(indexes() == "input_words\noutput_words\n");
    f.open();
    check(2);
    for (int waits = 0; f.telemetry->upgrade().is_due() && waits < 5;)
        if (!step()) { // until the engine is done with what it was told before
            run("ALTER TABLE hone.spans DELETE WHERE 0 SETTINGS mutations_sync = 1");
            ++waits;
        }
    CHECK(!f.telemetry->upgrade().is_due());
    CHECK(indexes() == "input_words\noutput_words\n");
    CHECK(size_of_indexes() == "1\n");
    CHECK(
        run("SELECT countSubstrings(create_table_query, 'max_compress_block_size') FROM system.tables WHERE database = "
            "'hone' AND name = 'spans' FORMAT TSVRaw") == "3\n");
    check(2);
    // Opened once more, nothing is left to change.
    f.open();
    check(2);
}
