#include "telemetry/engine/schema.h"

#include "base/text.h"
#include "telemetry/engine/eval_row.h"
#include "telemetry/span/span_row.h"

#include <algorithm>
#include <string>
#include <vector>

namespace hone::telemetry {

namespace {

// Every table: a part is on disk before its insert is acknowledged, and a merged part before its sources are removed.
constexpr std::string_view sync_merges = "min_rows_to_fsync_after_merge = 1";
// So a part that was merged needs to stay only for queries that began before.
constexpr std::string_view remove_merged_soon = "old_parts_lifetime = 10";
const std::string durable = "fsync_after_insert = 1, fsync_part_directory = 1, " + std::string(remove_merged_soon) +
                            ", " + std::string(sync_merges);
const std::string durable_rows = "index_granularity = 1024, " + durable;
// For tables from which single ids are read, a granule each.
const std::string durable_ids = "index_granularity = 256, " + durable;

// A block that an attempt without a response, or a killed server, has stored is not stored again: its token is there.
// The embedded engine has one writer, and ends with it.
const std::string keep_tokens = "ALTER TABLE hone.spans MODIFY SETTING " + std::string(token_window);

// An insert that names a time in its log_comment is refused after it, by the clock of this server and when all of its
// rows are here: a server that was frozen before it sent them, or a network that kept them, does not store what another
// server has stored meanwhile (block_claims.h). Other inserts pass, such as those of earlier versions.
constexpr std::string_view arrival_in_time =
    "nowInBlock() <= toDateTime(toUInt32OrZero(substring(getSetting('log_comment'), "
    "7))) OR NOT startsWith(getSetting('log_comment'), 'until ')";
const std::string take_in_time =
    "ALTER TABLE hone.spans ADD CONSTRAINT IF NOT EXISTS arrives_in_time CHECK " + std::string(arrival_in_time);

// A day without new spans for an hour becomes one part: a query opens every part of its days.
constexpr std::string_view merge_old_days =
    "min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1";

// A part in one file is one file to sync: an insert waits for the disk once, not for each of 49 columns.
constexpr std::string_view few_files = "min_bytes_for_wide_part = 134217728";

// The embedded engine compresses a part by its size (engine_config.cpp): what is inserted quickly, what is merged well.
std::string codec_of(const Column& column, bool is_embedded) {
    std::string codec(column.codec);
    if (const size_t at = codec.find("ZSTD(1)"); is_embedded && at != codec.npos) codec.replace(at, 7, "Default");
    return codec;
}

// A conversation repeats its texts in each model call: a block holds more of them than the engine's megabyte. A granule
// of long texts has ten megabytes, so that reading one span takes no longer.
constexpr std::string_view columns_of_texts[] = {"input", "output", "attributes"};
constexpr std::string_view large_blocks = "max_compress_block_size = 4194304";

bool has_large_blocks(const Column& column, bool is_embedded) {
    return is_embedded && std::ranges::find(columns_of_texts, column.name) != std::end(columns_of_texts);
}

std::string create_spans(bool is_embedded) {
    std::string sql = "CREATE TABLE IF NOT EXISTS hone.spans (";
    for (const Column& column : span_columns()) {
        sql += std::string(column.name) + " " + std::string(column.type) + " " + codec_of(column, is_embedded);
        if (has_large_blocks(column, is_embedded)) sql += " SETTINGS (" + std::string(large_blocks) + ")";
        sql += ", ";
    }
    for (const std::string column : {"input", "output"}) sql += text_index(column, is_embedded) + ", ";
    return sql + R"(
INDEX trace_index trace_id TYPE bloom_filter(0.001) GRANULARITY 1,
INDEX session_index chat_session TYPE bloom_filter(0.01) GRANULARITY 1)
ENGINE = MergeTree PARTITION BY intDiv(start_ns, 86400000000000) ORDER BY (project, start_ns)
SETTINGS parts_to_throw_insert = 3000, ratio_of_defaults_for_sparse_serialization = 0.9, )" +
           std::string(few_files) + ", " + durable_rows + ", " + std::string(merge_old_days);
}

// A table of an earlier version: parts that are there stay as they are, new ones are made as in a new table.
Result<> use_codecs(ClickHouse& engine) {
    std::string found = TRY(engine.query(ClickHouseQuery("SELECT name, compression_codec FROM system.columns WHERE "
                                                         "database = 'hone' AND table = 'spans' FORMAT TSVRaw")));
    found.insert(0, "\n");
    std::string changes;
    for (const Column& column : span_columns()) {
        const std::string codec = codec_of(column, engine.is_embedded());
        if (found.find("\n" + std::string(column.name) + "\t" + codec + "\n") != found.npos) continue;
        changes += (changes.empty() ? " MODIFY COLUMN " : ", MODIFY COLUMN ") + std::string(column.name) + " " + codec;
    }
    if (changes.empty()) return {};
    return engine.define("ALTER TABLE hone.spans" + changes);
}

Result<> use_large_blocks(ClickHouse& engine) {
    if (!engine.is_embedded()) return {};
    const std::string made = TRY(engine.query(ClickHouseQuery(
        "SELECT create_table_query FROM system.tables WHERE database = 'hone' AND name = 'spans' FORMAT TSVRaw")));
    size_t there = 0;
    for (size_t at = made.find(large_blocks); at != made.npos; at = made.find(large_blocks, at + 1)) ++there;
    if (there == std::size(columns_of_texts)) return {};
    // One by one: after a comma the engine expects another setting.
    for (const std::string_view column : columns_of_texts)
        TRY(engine.define("ALTER TABLE hone.spans MODIFY COLUMN " + std::string(column) + " MODIFY SETTING " +
                          std::string(large_blocks)));
    return {};
}

// Columns that tables of earlier versions lack, each at its place: rows are written in the order of span_columns().
std::vector<std::string> add_newer_columns() {
    constexpr std::string_view newer[] = {"repeated_usage", "response_id", "first_token_ns", "tags", "metadata"};
    std::vector<std::string> statements;
    std::string_view before;
    for (const Column& column : span_columns()) {
        if (std::find(std::begin(newer), std::end(newer), column.name) != std::end(newer))
            statements.push_back("ALTER TABLE hone.spans ADD COLUMN IF NOT EXISTS " + std::string(column.name) + " " +
                                 std::string(column.type) + " " + std::string(column.codec) + " AFTER " +
                                 std::string(before));
        before = column.name;
    }
    return statements;
}

// The time range of a trace, so that reading one touches a few granules. Minimum and maximum: harmless to write twice.
std::string create_trace_times() {
    return R"(CREATE TABLE IF NOT EXISTS hone.trace_times (
project LowCardinality(String), trace_id FixedString(32),
first_ns SimpleAggregateFunction(min, Int64), last_ns SimpleAggregateFunction(max, Int64))
ENGINE = AggregatingMergeTree ORDER BY (project, trace_id)
SETTINGS )" +
           durable_ids;
}

// The rows of session times once more, by their start and by their end: a list finds the newest without reading all.
struct Projection {
    std::string_view name, content;
};
constexpr Projection session_projections[] = {
    {"by_first", "(SELECT project, first_ns, chat_session ORDER BY project, first_ns)"},
    {"by_last", "(SELECT project, last_ns, chat_session ORDER BY project, last_ns)"},
};
constexpr std::string_view merge_projections = "deduplicate_merge_projection_mode = 'rebuild'";

// The same of a chat session, so that a list of them reads no spans but those of its page. `last_ns` is not before the
// start of the last span, and at most an hour after it.
std::string create_session_times() {
    std::string sql = R"(CREATE TABLE IF NOT EXISTS hone.session_times (
project LowCardinality(String), chat_session String,
first_ns SimpleAggregateFunction(min, Int64), last_ns SimpleAggregateFunction(max, Int64))";
    for (const auto& [name, content] : session_projections)
        sql += ", PROJECTION " + std::string(name) + " " + std::string(content);
    return sql + ") ENGINE = AggregatingMergeTree ORDER BY (project, chat_session) SETTINGS " +
           std::string(merge_projections) + ", " + durable_ids;
}

// A table of an earlier version: the projections of its parts are made in the background, also after a restart. Until
// then lists read those parts as a whole.
Result<> use_session_projections(ClickHouse& engine) {
    const std::string made = TRY(engine.query(ClickHouseQuery(
        "SELECT name FROM system.projections WHERE database = 'hone' AND table = 'session_times' FORMAT TSVRaw")));
    for (const auto& [name, content] : session_projections) {
        if (("\n" + made).find("\n" + std::string(name) + "\n") != std::string::npos) continue;
        TRY(engine.define("ALTER TABLE hone.session_times MODIFY SETTING " + std::string(merge_projections)));
        TRY(engine.define("ALTER TABLE hone.session_times ADD PROJECTION IF NOT EXISTS " + std::string(name) + " " +
                          std::string(content)));
    }
    for (const auto& [name, content] : session_projections) {
        ClickHouseQuery missing("SELECT (SELECT count() FROM system.parts WHERE database = 'hone' AND table = "
                                "'session_times' AND active AND NOT has(projections, {name:String})) > 0 AND (SELECT "
                                "count() FROM system.mutations WHERE database = 'hone' AND table = 'session_times' AND "
                                "NOT is_done AND command LIKE concat('%MATERIALIZE PROJECTION%', {name:String}, '%')) "
                                "= 0 FORMAT TSVRaw");
        missing.bind("name", name);
        const std::string is_missing = TRY(engine.query(missing));
        if (trim(is_missing) != "1") continue;
        ClickHouseQuery make("ALTER TABLE hone.session_times MATERIALIZE PROJECTION " + std::string(name));
        make.set("mutations_sync", "0");
        TRY(engine.query(make));
    }
    return {};
}

// Which days a step of store_upgrade.h is done with.
std::string create_upgraded_days() {
    return "CREATE TABLE IF NOT EXISTS hone.upgraded_days (step LowCardinality(String), day Int64) ENGINE = "
           "ReplacingMergeTree ORDER BY (step, day) SETTINGS " +
           durable_ids;
}

std::string create_evals() {
    return "CREATE TABLE IF NOT EXISTS hone.evals (" + eval_table_columns() + R"()
ENGINE = ReplacingMergeTree(version, is_deleted) ORDER BY (project, target, name, target_id, identifier)
SETTINGS )" +
           durable_rows;
}

std::string create_eval_history() {
    return "CREATE TABLE IF NOT EXISTS hone.eval_history (" + eval_table_columns() + R"()
ENGINE = MergeTree ORDER BY (project, target, name, target_id, version)
SETTINGS )" +
           durable_rows;
}

// For SQL: what people call a trace and a session.
constexpr std::string_view create_traces =
    R"(CREATE VIEW IF NOT EXISTS hone.traces AS SELECT s.project AS project, s.trace_id AS trace_id,
argMin(s.name, (s.parent_id != '', s.start_ns)) AS root_name, anyIf(s.chat_session, s.chat_session != '') AS chat_session,
anyIf(s.user_id, s.user_id != '') AS user_id, min(s.start_ns) AS start_ns, max(s.start_ns + s.duration_ns) - min(s.start_ns) AS duration_ns,
count() AS spans, countIf(s.status = 'error') AS errors, sum(s.input_tokens + s.cache_read_tokens + s.cache_write_tokens + s.output_tokens +
s.reasoning_tokens) AS tokens, sum(s.cost_nano_usd) AS cost_nano_usd FROM hone.spans AS s GROUP BY s.project, s.trace_id)";

constexpr std::string_view create_chat_sessions =
    R"(CREATE OR REPLACE VIEW hone.chat_sessions AS SELECT t.project AS project, t.chat_session AS chat_session,
anyIf(t.user_id, t.user_id != '') AS user_id, min(t.start_ns) AS start_ns, max(t.start_ns + t.duration_ns) AS end_ns,
count() AS traces, sum(t.spans) AS spans, sum(t.errors) AS errors, sum(t.tokens) AS tokens,
sum(t.cost_nano_usd) AS cost_nano_usd FROM hone.traces AS t WHERE t.chat_session != '' GROUP BY t.project, t.chat_session)";

} // namespace

// Every server of the cluster has all rows: with several shards a query would find those of one.
Result<> check_cluster(ClickHouse& engine) {
    if (engine.cluster().empty()) return {};
    ClickHouseQuery query("SELECT uniqExact(shard_num) FROM system.clusters WHERE cluster = {cluster:String} "
                          "FORMAT TSVRaw");
    query.bind("cluster", engine.cluster());
    query.database.clear();
    const std::string found = TRY(engine.query(query));
    const std::string_view shards = trim(found);
    if (shards == "0")
        return unavailable("clickhouse_cluster is " + engine.cluster() +
                           ", which the server at "
                           "clickhouse_url does not have: see system.clusters there");
    if (shards != "1")
        return unavailable("clickhouse_cluster is " + engine.cluster() + ", which has " + std::string(shards) +
                           " shards: use a cluster of one shard with replicas");
    return {};
}

// A table of an installation without a cluster stays as it is, and would be on one server only.
Result<> check_replicated(ClickHouse& engine) {
    if (engine.cluster().empty()) return {};
    const ClickHouseQuery query("SELECT engine FROM system.tables WHERE database = 'hone' AND name = 'spans' "
                                "FORMAT TSVRaw");
    const std::string made_as = TRY(engine.query(query));
    if (trim(made_as).starts_with("Replicated")) return {};
    return unavailable("clickhouse_cluster is set, but hone.spans was created without it and is not replicated: unset "
                       "it, or use a ClickHouse without the database hone");
}

std::span<const std::string_view> schema_names() {
    static constexpr std::string_view names[] = {"spans", "trace_times",  "session_times", "upgraded_days",
                                                 "evals", "eval_history", "traces",        "chat_sessions"};
    return names;
}

std::string_view arrival_condition() {
    return arrival_in_time;
}

// Not `input_index`, which had another form.
std::string text_index(const std::string& column, bool is_embedded) {
    const std::string codec = is_embedded ? ", posting_list_codec = 'bitpacking'" : ""; // another server may be older
    return "INDEX " + column + "_words " + column + " TYPE text(tokenizer = 'splitByNonAlpha', preprocessor = lower(" +
           column + ")" + codec + ")";
}

Result<> create_schema(ClickHouse& engine) {
    const std::string statements[] = {"CREATE DATABASE IF NOT EXISTS hone",
                                      create_spans(engine.is_embedded()),
                                      "ALTER TABLE hone.spans MODIFY SETTING " + std::string(merge_old_days) + ", " +
                                          std::string(few_files),
                                      create_trace_times(),
                                      create_session_times(),
                                      create_upgraded_days(),
                                      create_evals(),
                                      create_eval_history(),
                                      std::string(create_traces),
                                      std::string(create_chat_sessions)};
    TRY(check_cluster(engine));
    for (const std::string& statement : statements) TRY(engine.define(statement));
    TRY(check_replicated(engine));
    // Tables of earlier versions.
    for (const std::string& statement : add_newer_columns()) TRY(engine.define(statement));
    for (const std::string table : {"evals", "eval_history"})
        for (const std::string& column : newer_eval_columns())
            TRY(engine.define("ALTER TABLE hone." + table + " ADD COLUMN IF NOT EXISTS " + column));
    for (const std::string_view table : {"spans", "trace_times", "evals", "eval_history"})
        TRY(engine.define("ALTER TABLE hone." + std::string(table) + " MODIFY SETTING " + std::string(sync_merges) +
                          ", " + std::string(remove_merged_soon)));
    // Replicated tables keep tokens by themselves.
    if (!engine.is_embedded() && engine.cluster().empty()) TRY(engine.define(keep_tokens));
    if (!engine.is_embedded()) TRY(engine.define(take_in_time));
    TRY(use_session_projections(engine));
    TRY(use_codecs(engine));
    return use_large_blocks(engine);
}

} // namespace hone::telemetry
