// Spans, traces, sessions, series and evals as the API shows them. Times are RFC 3339 with nanoseconds, durations whole
// nanoseconds, money whole micro-dollars, ids hexadecimal text.
#pragma once

#include "api/spans.h"
#include "json/json.h"

namespace hone::api {

struct TokenCounts {
    int64_t input = 0;
    int64_t cache_read = 0;
    int64_t cache_write = 0;
    int64_t output = 0;
    int64_t reasoning = 0;
    int64_t total = 0;
    static constexpr std::tuple fields{
        Field{"input", &TokenCounts::input, "Neither read from nor written to a cache."},
        Field{"cache_read", &TokenCounts::cache_read, ""},
        Field{"cache_write", &TokenCounts::cache_write, ""},
        Field{"output", &TokenCounts::output, "Without reasoning."},
        Field{"reasoning", &TokenCounts::reasoning, ""},
        Field{"total", &TokenCounts::total, "The sum of the others."},
    };
};

struct SpanRow {
    std::string trace_id;
    std::string span_id;
    std::string parent_id;
    std::string name;
    telemetry::SpanKind kind = telemetry::SpanKind::unknown;
    otlp::StatusCode status = otlp::StatusCode::unset;
    std::string status_message;
    Time start_time{};
    int64_t duration_ns = 0;
    std::string service;
    std::string model;
    std::string provider;
    TokenCounts tokens;
    int64_t cost_micro_usd = 0;
    std::string user_id;
    std::string session_id;
    std::string tool_name;
    std::string exception_type;
    static constexpr std::tuple fields{
        Field{"trace_id", &SpanRow::trace_id, "32 hexadecimal digits."},
        Field{"span_id", &SpanRow::span_id, "16 hexadecimal digits."},
        Field{"parent_id", &SpanRow::parent_id, "Empty for a root; the parent may be missing."},
        Field{"name", &SpanRow::name, ""},
        Field{"kind", &SpanRow::kind, ""},
        Field{"status", &SpanRow::status, ""},
        Field{"status_message", &SpanRow::status_message, ""},
        Field{"start_time", &SpanRow::start_time, ""},
        Field{"duration_ns", &SpanRow::duration_ns, ""},
        Field{"service", &SpanRow::service, ""},
        Field{"model", &SpanRow::model, ""},
        Field{"provider", &SpanRow::provider, ""},
        Field{"tokens", &SpanRow::tokens, ""},
        Field{"cost_micro_usd", &SpanRow::cost_micro_usd, ""},
        Field{"user_id", &SpanRow::user_id, ""},
        Field{"session_id", &SpanRow::session_id, "The chat session."},
        Field{"tool_name", &SpanRow::tool_name, ""},
        Field{"exception_type", &SpanRow::exception_type, ""},
    };
};

struct TraceRow {
    std::string trace_id;
    std::string root_name;
    std::string session_id;
    std::string user_id;
    Time start_time{};
    Time end_time{};
    int64_t duration_ns = 0;
    int64_t spans = 0;
    int64_t errors = 0;
    int64_t tokens = 0;
    int64_t cost_micro_usd = 0;
    static constexpr std::tuple fields{
        Field{"trace_id", &TraceRow::trace_id, "32 hexadecimal digits."},
        Field{"root_name", &TraceRow::root_name, "Name of the root, or of the earliest span."},
        Field{"session_id", &TraceRow::session_id, "The chat session."},
        Field{"user_id", &TraceRow::user_id, ""},
        Field{"start_time", &TraceRow::start_time, ""},
        Field{"end_time", &TraceRow::end_time, ""},
        Field{"duration_ns", &TraceRow::duration_ns, ""},
        Field{"spans", &TraceRow::spans, ""},
        Field{"errors", &TraceRow::errors, "Spans that failed."},
        Field{"tokens", &TraceRow::tokens, ""},
        Field{"cost_micro_usd", &TraceRow::cost_micro_usd, ""},
    };
};

struct SessionRow {
    std::string session_id;
    std::string user_id;
    Time start_time{};
    Time end_time{};
    int64_t duration_ns = 0;
    int64_t traces = 0;
    int64_t spans = 0;
    int64_t errors = 0;
    int64_t tokens = 0;
    int64_t cost_micro_usd = 0;
    static constexpr std::tuple fields{
        Field{"session_id", &SessionRow::session_id, ""},
        Field{"user_id", &SessionRow::user_id, ""},
        Field{"start_time", &SessionRow::start_time, ""},
        Field{"end_time", &SessionRow::end_time, ""},
        Field{"duration_ns", &SessionRow::duration_ns, ""},
        Field{"traces", &SessionRow::traces, ""},
        Field{"spans", &SessionRow::spans, ""},
        Field{"errors", &SessionRow::errors, "Spans that failed."},
        Field{"tokens", &SessionRow::tokens, ""},
        Field{"cost_micro_usd", &SessionRow::cost_micro_usd, ""},
    };
};

struct TraceSkeleton {
    std::vector<SpanRow> spans;
    bool is_cut = false;
    static constexpr std::tuple fields{
        Field{"spans", &TraceSkeleton::spans, "By start; parents may be missing."},
        Field{"is_cut", &TraceSkeleton::is_cut, "The trace has more spans than are shown."},
    };
};

struct SpanPayload {
    SpanRow span;
    std::string version;
    std::string finish_reason;
    std::string exception_message;
    std::string input;
    std::string input_mime;
    std::string output;
    std::string output_mime;
    json::Value attributes;
    json::Value resource;
    json::Value scope;
    json::Value events;
    json::Value links;
    telemetry::Conversation conversation;
    std::vector<std::string> truncated;
    static constexpr std::tuple fields{
        Field{"span", &SpanPayload::span, ""},
        Field{"version", &SpanPayload::version, "Of the service."},
        Field{"finish_reason", &SpanPayload::finish_reason, ""},
        Field{"exception_message", &SpanPayload::exception_message, ""},
        Field{"input", &SpanPayload::input, ""},
        Field{"input_mime", &SpanPayload::input_mime, ""},
        Field{"output", &SpanPayload::output, ""},
        Field{"output_mime", &SpanPayload::output_mime, ""},
        Field{"attributes", &SpanPayload::attributes, "As they were sent; a JSON text where a key is repeated."},
        Field{"resource", &SpanPayload::resource, "Attributes of the resource."},
        Field{"scope", &SpanPayload::scope, "Name, version and attributes of the instrumentation."},
        Field{"events", &SpanPayload::events, ""},
        Field{"links", &SpanPayload::links, ""},
        Field{"conversation", &SpanPayload::conversation, "Messages, tools and documents found in the attributes."},
        Field{"truncated", &SpanPayload::truncated, "Attributes that were cut to the limit."},
    };
};

struct SeriesBucket {
    Time time{};
    std::string group;
    std::vector<std::optional<double>> values;
    static constexpr std::tuple fields{
        Field{"time", &SeriesBucket::time, "Start of the bucket."},
        Field{"group", &SeriesBucket::group, "Empty without group_by."},
        Field{"values", &SeriesBucket::values, "One per metric, in their order; null where there is none."},
    };
};

struct SpanSeries {
    std::vector<std::string> metrics;
    int64_t bucket_ns = 0;
    std::vector<SeriesBucket> buckets;
    static constexpr std::tuple fields{
        Field{"metrics", &SpanSeries::metrics, "Latencies are nanoseconds, costs dollars, rates 0 to 1."},
        Field{"bucket_ns", &SpanSeries::bucket_ns, "Length of a bucket; 0: one for all."},
        Field{"buckets", &SpanSeries::buckets, "By time and group; empty buckets are left out."},
    };
};

struct FacetValue {
    std::string value;
    int64_t count = 0;
    static constexpr std::tuple fields{
        Field{"value", &FacetValue::value, ""},
        Field{"count", &FacetValue::count, "Spans."},
    };
};

struct AttributeKeyCount {
    std::string key;
    int64_t count = 0;
    static constexpr std::tuple fields{
        Field{"key", &AttributeKeyCount::key, ""},
        Field{"count", &AttributeKeyCount::count, "Spans."},
    };
};

struct FilterFieldInfo {
    std::string name;
    std::string type;
    std::string doc;
    static constexpr std::tuple fields{
        Field{"name", &FilterFieldInfo::name, ""},
        Field{"type", &FilterFieldInfo::type, "text, number, duration, money, time, flag, or the allowed words."},
        Field{"doc", &FilterFieldInfo::doc, ""},
    };
};

struct UseToday {
    int64_t spans = 0;
    int64_t bytes = 0;
    static constexpr std::tuple fields{
        Field{"spans", &UseToday::spans, "Counted only while there is a quota."},
        Field{"bytes", &UseToday::bytes, ""},
    };
};

struct ProjectTraceSettingsView {
    telemetry::ProjectTraceSettings settings;
    UseToday used_today;
    static constexpr std::tuple fields{
        Field{"settings", &ProjectTraceSettingsView::settings, ""},
        Field{"used_today", &ProjectTraceSettingsView::used_today, "Since midnight, UTC."},
    };
};

struct SpaceTraceSettingsView {
    telemetry::SpaceTraceSettings settings;
    UseToday used_today;
    static constexpr std::tuple fields{
        Field{"settings", &SpaceTraceSettingsView::settings, ""},
        Field{"used_today", &SpaceTraceSettingsView::used_today, "Since midnight, UTC."},
    };
};

struct ImportProblemView {
    int64_t line = 0;
    std::string reason;
    static constexpr std::tuple fields{
        Field{"line", &ImportProblemView::line, "From 1: the line, or the row of a Parquet file."},
        Field{"reason", &ImportProblemView::reason, ""},
    };
};

struct ImportReportView {
    int64_t accepted = 0;
    int64_t rejected = 0;
    std::vector<ImportProblemView> problems;
    bool has_more_problems = false;
    static constexpr std::tuple fields{
        Field{"accepted", &ImportReportView::accepted, "Spans on disk; repeated ones count in the ledger only."},
        Field{"rejected", &ImportReportView::rejected, ""},
        Field{"problems", &ImportReportView::problems, "The first hundred."},
        Field{"has_more_problems", &ImportReportView::has_more_problems, ""},
    };
};

struct LedgerView {
    int64_t received = 0;
    int64_t stored = 0;
    int64_t repeated = 0;
    int64_t pending = 0;
    int64_t rejected = 0;
    std::map<std::string, int64_t> rejected_by_reason;
    int64_t truncated = 0;
    int64_t redacted = 0;
    int64_t bytes = 0;
    static constexpr std::tuple fields{
        Field{"received", &LedgerView::received, "stored + repeated + pending + rejected, always."},
        Field{"stored", &LedgerView::stored, ""},
        Field{"repeated", &LedgerView::repeated, "Sent again, and left out."},
        Field{"pending", &LedgerView::pending, "On disk, on their way to the engine."},
        Field{"rejected", &LedgerView::rejected, ""},
        Field{"rejected_by_reason", &LedgerView::rejected_by_reason, ""},
        Field{"truncated", &LedgerView::truncated, "Spans with values cut to the limit."},
        Field{"redacted", &LedgerView::redacted, "Values replaced by redaction."},
        Field{"bytes", &LedgerView::bytes, "Bytes of rows written."},
    };
};

struct DiskView {
    int64_t spans = 0;
    int64_t bytes = 0;
    std::optional<Time> oldest;
    std::optional<Time> newest;
    int64_t retention_days = 0;
    static constexpr std::tuple fields{
        Field{"spans", &DiskView::spans, ""},
        Field{"bytes", &DiskView::bytes, "The project's share of the compressed parts."},
        Field{"oldest", &DiskView::oldest, "Start of the oldest span."},
        Field{"newest", &DiskView::newest, "Start of the newest span."},
        Field{"retention_days", &DiskView::retention_days, "0: for ever."},
    };
};

struct EvalNameView {
    telemetry::EvalTarget target = telemetry::EvalTarget::span;
    std::string name;
    int64_t count = 0;
    std::vector<std::string> labels;
    static constexpr std::tuple fields{
        Field{"target", &EvalNameView::target, ""},
        Field{"name", &EvalNameView::name, ""},
        Field{"count", &EvalNameView::count, "How many there are."},
        Field{"labels", &EvalNameView::labels, "The most frequent ones."},
    };
};

struct EvalView {
    std::string id;
    telemetry::EvalTarget target = telemetry::EvalTarget::span;
    std::string target_id;
    std::string name;
    std::string identifier;
    std::string annotator;
    telemetry::EvalKind kind = telemetry::EvalKind::human;
    std::string label;
    std::optional<double> score;
    std::string explanation;
    json::Value metadata;
    Time created_at{};
    Time updated_at{};
    bool deleted = false;
    static constexpr std::tuple fields{
        Field{"id", &EvalView::id, ""},
        Field{"target", &EvalView::target, ""},
        Field{"target_id", &EvalView::target_id, "Span id, trace id, or the chat session's name."},
        Field{"name", &EvalView::name, ""},
        Field{"identifier", &EvalView::identifier, "Tells several with one name apart."},
        Field{"annotator", &EvalView::annotator, "Who made it."},
        Field{"kind", &EvalView::kind, ""},
        Field{"label", &EvalView::label, ""},
        Field{"score", &EvalView::score, ""},
        Field{"explanation", &EvalView::explanation, ""},
        Field{"metadata", &EvalView::metadata, ""},
        Field{"created_at", &EvalView::created_at, ""},
        Field{"updated_at", &EvalView::updated_at, ""},
        Field{"deleted", &EvalView::deleted, "Only in the history."},
    };
};

struct MetricChange {
    std::string metric;
    std::optional<double> baseline;
    std::optional<double> current;
    std::optional<double> difference;
    std::optional<double> ratio;
    static constexpr std::tuple fields{
        Field{"metric", &MetricChange::metric, "Latencies are nanoseconds, costs dollars, rates 0 to 1."},
        Field{"baseline", &MetricChange::baseline, "Null where there is none."},
        Field{"current", &MetricChange::current, "Null where there is none."},
        Field{"difference", &MetricChange::difference, "current - baseline."},
        Field{"ratio", &MetricChange::ratio, "current / baseline; null when the baseline is 0."},
    };
};

struct GroupChange {
    std::string group;
    std::vector<MetricChange> metrics;
    static constexpr std::tuple fields{
        Field{"group", &GroupChange::group, "Empty for the whole."},
        Field{"metrics", &GroupChange::metrics, ""},
    };
};

struct ComparisonView {
    Time baseline_after{};
    Time baseline_before{};
    Time after{};
    Time before{};
    GroupChange all;
    std::vector<GroupChange> groups;
    bool is_cut = false;
    static constexpr std::tuple fields{
        Field{"baseline_after", &ComparisonView::baseline_after, ""},
        Field{"baseline_before", &ComparisonView::baseline_before, ""},
        Field{"after", &ComparisonView::after, ""},
        Field{"before", &ComparisonView::before, ""},
        Field{"all", &ComparisonView::all, "All spans."},
        Field{"groups", &ComparisonView::groups, "The largest first; none without group_by."},
        Field{"is_cut", &ComparisonView::is_cut, "There are more groups."},
    };
};

struct SearchHit {
    SpanRow span;
    std::string field;
    std::string snippet;
    static constexpr std::tuple fields{
        Field{"span", &SearchHit::span, ""},
        Field{"field", &SearchHit::field, "input or output."},
        Field{"snippet", &SearchHit::snippet, "The words around the first place."},
    };
};

SpanRow view_of(const telemetry::SpanRow& row);
TraceRow view_of(const telemetry::TraceRow& row);
SessionRow view_of(const telemetry::SessionRow& row);
SpanPayload view_of(telemetry::SpanPayload payload);
EvalView view_of(const telemetry::Eval& eval);
LedgerView view_of(const telemetry::LedgerCounts& counts);

} // namespace hone::api
