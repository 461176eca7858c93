// Log records and the series of metrics that senders measured themselves.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/traces/span_views.h"

#include <cmath>

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct LogsQuery {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> text;
    std::optional<std::string> severity;
    std::optional<std::string> service;
    std::optional<std::string> trace_id;
    std::optional<Time> after;
    std::optional<Time> before;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &LogsQuery::space, "Id or name of the space; the caller's first one if not given."},
        Field{"text", &LogsQuery::text, "Part of the message, the name or the attributes, in any case."},
        Field{"severity", &LogsQuery::severity, "trace, debug, info, warn, error or fatal: this one or worse."},
        Field{"service", &LogsQuery::service, "service.name of the sender."},
        Field{"trace_id", &LogsQuery::trace_id, "Only records that name a span of this trace."},
        Field{"after", &LogsQuery::after, "At or after this time."},
        Field{"before", &LogsQuery::before, "Before this time."},
        Field{"limit", &LogsQuery::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &LogsQuery::cursor, "next_cursor of the previous response."},
    };
};

struct LogRecordView {
    Time time{};
    std::string severity;
    std::string name;
    std::string body;
    std::string service;
    std::string scope;
    std::string trace_id;
    std::string span_id;
    json::Value attributes;
    static constexpr Pack fields{
        Field{"time", &LogRecordView::time, "When it happened."},
        Field{"severity", &LogRecordView::severity, "trace, debug, info, warn, error, fatal; empty if not sent."},
        Field{"name", &LogRecordView::name, "Name of the event; log if it has none."},
        Field{"body", &LogRecordView::body, "The message."},
        Field{"service", &LogRecordView::service, "service.name of the sender."},
        Field{"scope", &LogRecordView::scope, "The logger or the instrumentation."},
        Field{"trace_id", &LogRecordView::trace_id, "Trace of the span that it names; empty if none."},
        Field{"span_id", &LogRecordView::span_id, "Span that it names; empty if none."},
        Field{"attributes", &LogRecordView::attributes, ""},
    };
};

struct MetricsQuery {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<Time> after;
    std::optional<Time> before;
    static constexpr Pack fields{
        Field{"space", &MetricsQuery::space, "Id or name of the space; the caller's first one if not given."},
        Field{"after", &MetricsQuery::after, "With points at or after this time; a day before the end if not given."},
        Field{"before", &MetricsQuery::before, "With points before this time; now if not given."},
    };
};

struct MetricView {
    std::string metric;
    std::string use;
    std::string unit;
    std::string kind;
    int64_t points = 0;
    Time last_time{};
    std::vector<std::string> services;
    static constexpr Pack fields{
        Field{"metric", &MetricView::metric, "Name of the metric."},
        Field{"use", &MetricView::use, "tokens, cost, latency or usage."},
        Field{"unit", &MetricView::unit, "Unit, as sent."},
        Field{"kind", &MetricView::kind, "gauge, sum or histogram."},
        Field{"points", &MetricView::points, "Points in the range."},
        Field{"last_time", &MetricView::last_time, "Time of the last point."},
        Field{"services", &MetricView::services, "Senders, at most 20."},
    };
};

struct MetricSeriesQuery {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> metric;
    std::optional<Time> after;
    std::optional<Time> before;
    std::optional<std::string> bucket;
    std::optional<std::string> group_by;
    std::optional<int64_t> groups;
    static constexpr Pack fields{
        Field{"space", &MetricSeriesQuery::space, "Id or name of the space; the caller's first one if not given."},
        Field{"metric", &MetricSeriesQuery::metric, "Name of the metric; GET …/metrics lists them."},
        Field{"after", &MetricSeriesQuery::after, "Start of the range; a day before its end if not given."},
        Field{"before", &MetricSeriesQuery::before, "End of the range; now if not given."},
        Field{"bucket", &MetricSeriesQuery::bucket, "Length of a bucket: 5m (if not given), 1h; 0s: one bucket."},
        Field{"group_by", &MetricSeriesQuery::group_by,
              "service, model, provider, type or attributes[\"key\"]; one group if not given."},
        Field{"groups", &MetricSeriesQuery::groups, "Number of groups, the largest first, 1 to 200; 20 if not given."},
    };
};

struct MetricBucketView {
    Time time{};
    std::string group;
    double sum = 0;
    double count = 0;
    std::optional<double> mean;
    std::optional<double> p50;
    std::optional<double> p95;
    static constexpr Pack fields{
        Field{"time", &MetricBucketView::time, "Start of the bucket."},
        Field{"group", &MetricBucketView::group, "Empty without group_by."},
        Field{"sum", &MetricBucketView::sum, "Increase in the bucket; of a gauge the mean of its points."},
        Field{"count", &MetricBucketView::count, "Values of a histogram; otherwise points."},
        Field{"mean", &MetricBucketView::mean, "Of a histogram: sum / count."},
        Field{"p50", &MetricBucketView::p50, "Of a histogram, estimated from its buckets."},
        Field{"p95", &MetricBucketView::p95, "Of a histogram, estimated from its buckets."},
    };
};

struct MetricSeriesView {
    std::string metric;
    std::string use;
    std::string unit;
    std::string kind;
    int64_t bucket_ns = 0;
    std::vector<MetricBucketView> buckets;
    static constexpr Pack fields{
        Field{"metric", &MetricSeriesView::metric, "Name of the metric."},
        Field{"use", &MetricSeriesView::use, "tokens, cost, latency or usage; empty: no point in the range."},
        Field{"unit", &MetricSeriesView::unit, "Unit, as sent."},
        Field{"kind", &MetricSeriesView::kind, "gauge, sum or histogram."},
        Field{"bucket_ns", &MetricSeriesView::bucket_ns, ""},
        Field{"buckets", &MetricSeriesView::buckets, "By time, then by group; buckets without points are left out."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

constexpr Duration measured_window = std::chrono::hours(24);

std::optional<double> finite(double value) {
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

template <class Query>
std::pair<int64_t, int64_t> range_of(const Call& call, const Query& query) {
    const Time before = query.before.value_or(call.services.clock.now());
    return {to_ns(query.after.value_or(before - measured_window)), to_ns(before)};
}

} // namespace

Result<List<LogRecordView>> list_logs(const Call& call, const LogsQuery& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    const auto page = TRY(page_of(query.limit, query.cursor));
    telemetry::ListLogs request;
    request.project = project.id.text();
    if (query.after) request.from_ns = to_ns(*query.after);
    if (query.before) request.to_ns = to_ns(*query.before);
    request.text = query.text.value_or("");
    request.severity = query.severity.value_or("");
    request.service = query.service.value_or("");
    request.trace_id = query.trace_id.value_or("");
    request.limit = static_cast<size_t>(page.limit);
    request.cursor = page.cursor.value_or("");
    request.cancel = call.head.gone;
    TRY(call.services.spans.store());
    auto found = TRY(call.services.spans.records.logs(request));
    List<LogRecordView> list;
    for (telemetry::LogEntry& entry : found.entries)
        list.data.push_back({from_ns(entry.time_ns), std::move(entry.severity), std::move(entry.name),
                             std::move(entry.body), std::move(entry.service), std::move(entry.scope),
                             std::move(entry.trace_id), std::move(entry.span_id), tree_of(entry.attributes)});
    if (!found.next_cursor.empty()) list.next_cursor = found.next_cursor;
    return list;
}

Result<List<MetricView>> list_metrics(const Call& call, const MetricsQuery& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    const auto [from_time, to_time] = range_of(call, query);
    TRY(call.services.spans.store());
    List<MetricView> list;
    for (telemetry::KnownSeries& known :
         TRY(call.services.spans.records.metrics(project.id.text(), from_time, to_time)))
        list.data.push_back({std::move(known.metric), std::move(known.use), std::move(known.unit),
                             std::move(known.kind), known.points, from_ns(known.last_ns), std::move(known.services)});
    return list;
}

Result<One<MetricSeriesView>> get_metric_series(const Call& call, const MetricSeriesQuery& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    if (!query.metric || trim(*query.metric).empty()) return invalid("query parameter metric must not be empty");
    if (query.groups && (*query.groups < 1 || *query.groups > 200))
        return invalid("query parameter groups must be between 1 and 200");
    telemetry::MetricSeries request;
    request.project = project.id.text();
    request.metric = *query.metric;
    std::tie(request.from_ns, request.to_ns) = range_of(call, query);
    if (query.bucket) request.bucket = Duration(TRY(parse_duration_ns(*query.bucket)));
    request.group_by = query.group_by.value_or("");
    if (query.groups) request.groups = static_cast<size_t>(*query.groups);
    request.cancel = call.head.gone;
    TRY(call.services.spans.store());
    auto series = TRY(call.services.spans.records.series(request));
    MetricSeriesView view{std::move(series.metric), std::move(series.use),  std::move(series.unit),
                          std::move(series.kind),   request.bucket.count(), {}};
    const bool is_histogram = view.kind == "histogram";
    for (telemetry::MetricBucket& bucket : series.buckets)
        view.buckets.push_back({from_ns(bucket.time_ns), std::move(bucket.group), bucket.sum, bucket.count,
                                is_histogram ? finite(bucket.sum / bucket.count) : std::nullopt, finite(bucket.p50),
                                finite(bucket.p95)});
    return One<MetricSeriesView>{std::move(view)};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route logs_table[] = {
    route<list_logs>("GET", "/v1/projects/{project}/logs", need(project_read),
                     "Log records, newest first. Events of model calls are on their spans instead.")
        .on(net::Lane::query),
    route<list_metrics>("GET", "/v1/projects/{project}/metrics", need(project_read),
                        "Metrics about models that senders measured themselves.")
        .on(net::Lane::query),
    route<get_metric_series>("GET", "/v1/projects/{project}/metrics/series", need(project_read),
                             "One of these metrics over time.")
        .on(net::Lane::query),
};

} // namespace

std::span<const Route> logs_routes() {
    return logs_table;
}

} // namespace hone::api
