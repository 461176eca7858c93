// Queries of spans: typed requests with a time bound, row and byte caps, a deadline and cancellation. A list or
// a tree never reads payloads. Used by api/, monitors and detectors; thread-safe, blocking.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "telemetry/engine/clickhouse.h"
#include "telemetry/engine/recent_spans.h"
#include "telemetry/query/evals.h"
#include "telemetry/query/span_conditions.h"
#include "telemetry/span/conversation.h"
#include "telemetry/span/span.h"

#include <optional>
#include <string>
#include <vector>

namespace hone::telemetry {

class StoreUpgrade;

// What every query has.
struct Scope {
    std::string project;
    int64_t from_ns = 0;       // inclusive
    int64_t to_ns = INT64_MAX; // exclusive
    std::string filter;        // filter.h
    Duration deadline{10'000'000'000};
    std::shared_ptr<net::Cancel> cancel{}; // shared: a stream outlives its request
    // When they were received, for those who follow.
    int64_t received_from_ns = 0;       // inclusive
    int64_t received_to_ns = INT64_MAX; // exclusive
};

// A span without its payload.
struct SpanRow {
    std::string trace_id;
    std::string span_id;
    std::string parent_id;
    int64_t start_ns = 0;
    int64_t duration_ns = 0;
    std::string name;
    SpanKind kind = SpanKind::unknown;
    otlp::StatusCode status = otlp::StatusCode::unset;
    std::string status_message;
    std::string service;
    std::string model;
    std::string provider;
    Tokens tokens;
    int64_t cost_nano_usd = 0;
    CostSource cost_source = CostSource::none;
    std::string user_id;
    std::string chat_session;
    std::string tool_name;
    std::string exception_type;
    uint32_t documents = 0;
    uint8_t otel_kind = 0; // OTLP's number
};

struct ListSpans {
    Scope scope;
    std::optional<std::string> trace_id;
    std::vector<std::string> span_ids;
    SpanConditions conditions;
    size_t limit = 50; // at most 1000
    bool oldest_first = false;
    std::string cursor; // next_cursor of the page before
};
struct SpanPage {
    std::vector<SpanRow> spans;
    std::string next_cursor; // empty: no more
};

struct TraceSkeleton {
    std::vector<SpanRow> spans; // by start; parents may be missing
    bool is_cut = false;        // more than the cap
};

// Everything about one span.
struct SpanPayload {
    SpanRow row;
    std::string version;
    std::string finish_reason;
    std::string exception_message;
    int64_t first_token_ns = 0; // from the start to the first token; 0: not known
    std::vector<std::string> truncated;
    std::string input, input_mime, output, output_mime;
    std::string attributes, resource, scope, events, links, wire; // JSON texts, lossless
};

// Whole spans, page by page; for exports and for lists that show everything.
struct PayloadPage {
    std::vector<SpanPayload> spans;
    std::string next_cursor; // empty: no more
};

struct TraceRow {
    std::string trace_id;
    std::string root_name;
    std::string chat_session;
    std::string user_id;
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    int64_t spans = 0;
    int64_t errors = 0;
    int64_t tokens = 0;
    int64_t cost_nano_usd = 0;
};
struct ListTraces {
    Scope scope; // its filter must match a span of the trace
    std::optional<std::string> chat_session;
    size_t limit = 50;
    std::string cursor;
};
struct TracePage {
    std::vector<TraceRow> traces;
    std::string next_cursor;
};

struct SessionRow {
    std::string chat_session;
    std::string user_id;
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    int64_t traces = 0;
    int64_t spans = 0;
    int64_t errors = 0;
    int64_t tokens = 0;
    int64_t cost_nano_usd = 0;
};
struct SessionPage {
    std::vector<SessionRow> sessions;
    std::string next_cursor;
};

enum class Metric {
    count,
    errors,
    error_rate,
    latency_p50,
    latency_p95,
    latency_p99,
    latency_mean,
    first_token_p50,
    first_token_p95,
    tokens,
    cost,
    traces,
    eval_rate,
    eval_score
};
constexpr auto enum_names(Metric) {
    return std::array{EnumName{Metric::count, "count"},
                      EnumName{Metric::errors, "errors"},
                      EnumName{Metric::error_rate, "error_rate"},
                      EnumName{Metric::latency_p50, "latency_p50"},
                      EnumName{Metric::latency_p95, "latency_p95"},
                      EnumName{Metric::latency_p99, "latency_p99"},
                      EnumName{Metric::latency_mean, "latency_mean"},
                      EnumName{Metric::first_token_p50, "first_token_p50"},
                      EnumName{Metric::first_token_p95, "first_token_p95"},
                      EnumName{Metric::tokens, "tokens"},
                      EnumName{Metric::cost, "cost"},
                      EnumName{Metric::traces, "traces"},
                      EnumName{Metric::eval_rate, "eval_rate"},
                      EnumName{Metric::eval_score, "eval_score"}};
}

// Nanoseconds, which people write in milliseconds and seconds.
constexpr bool is_duration(Metric metric) {
    using enum Metric;
    return metric == latency_p50 || metric == latency_p95 || metric == latency_p99 || metric == latency_mean ||
           metric == first_token_p50 || metric == first_token_p95;
}

struct Series {
    Scope scope;
    std::vector<Metric> metrics;
    Duration bucket{300'000'000'000};          // zero: one bucket for all
    std::string group_by;                      // a filter field, latency_bucket or attributes["key"]; empty: one group
    size_t groups = 20;                        // the largest ones; the rest is left out
    std::string eval_name;                     // for eval_rate and eval_score
    std::string eval_label;                    // eval_rate: the share of this label
    EvalTarget eval_target = EvalTarget::span; // of a trace or a chat session: each counts once in a bucket
};
struct SeriesPoint {
    int64_t bucket_ns = 0;
    std::string group;
    std::vector<double> values; // one per metric; not a number when there is none
};

struct Facet {
    std::string value;
    int64_t count = 0;
};

struct AttributeKey {
    std::string key;
    int64_t count = 0;
};

class SpanStore {
public:
    // `recent`: what the loader put in lately; `upgrade`: whether the times of sessions are there; null: not known.
    explicit SpanStore(ClickHouse& engine, const RecentSpans* recent = nullptr, const StoreUpgrade* upgrade = nullptr)
        : m_engine(engine),
          m_recent(recent),
          m_upgrade(upgrade) {}

    Result<SpanPage> list_spans(const ListSpans& request);
    // As list_spans, with payloads; too_large when they are more than `most_bytes`: request fewer.
    Result<PayloadPage> list_payloads(const ListSpans& request, size_t most_bytes = 64 << 20);
    Result<TraceSkeleton> trace_skeleton(const std::string& project, const std::string& trace_id,
                                         size_t limit = 100'000);
    // A span without texts shows those of the spans below it.
    Result<SpanPayload> span_payload(const std::string& project, const std::string& trace_id,
                                     const std::string& span_id);
    Result<TracePage> list_traces(const ListTraces& request);
    // Newest first by their start: of the whole session without a filter, else of its first span that matches.
    Result<SessionPage> list_sessions(const Scope& scope, size_t limit, const std::string& cursor);
    Result<std::vector<SeriesPoint>> series(const Series& request);
    Result<std::vector<Facet>> facet(const Scope& scope, const std::string& field, size_t limit);
    Result<std::vector<AttributeKey>> attribute_keys(const Scope& scope, size_t limit);

    // "SELECT columns FROM hone.spans WHERE …" with the scope's conditions bound; for exports.
    static Result<ClickHouseQuery> select(const Scope& scope, std::string_view columns);

    // Where ranges begin, up to `to_ns`, that may hold that many of the newest spans; the shortest first. Hints.
    std::vector<int64_t> recent_starts(const Scope& scope, int64_t to_ns, size_t spans, bool is_filtered) const;

private:
    ClickHouse& m_engine;
    const RecentSpans* m_recent;
    const StoreUpgrade* m_upgrade;
};

// The span's attributes as JSON text with the texts that `input` and `output` stand for.
std::string attributes_in_full(const SpanPayload& payload);
// The span as it was sent, for export; texts live in `batch`.
Result<otlp::Batch> to_otlp(const std::vector<SpanPayload>& spans);

} // namespace hone::telemetry
