// Queries over spans: series, comparison, search, facets, SQL; what happened to received spans.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/traces/span_views.h"
#include "telemetry/query/compare.h"
#include "telemetry/query/filter.h"

#include <cmath>

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct SeriesQuery : SpanRange {
    std::optional<std::string> metrics;
    std::optional<std::string> bucket;
    std::optional<std::string> group_by;
    std::optional<int64_t> groups;
    std::optional<std::string> eval_name;
    std::optional<std::string> eval_label;
    std::optional<telemetry::EvalTarget> eval_target;
    static constexpr auto fields = joined(
        span_range_fields(),
        Pack{
            Field{"metrics", &SeriesQuery::metrics,
                  "count, errors, error_rate, latency_p50, latency_p95, latency_p99, latency_mean, first_token_p50, "
                  "first_token_p95, tokens, cost, traces, eval_rate, eval_score; several, separated by commas; count "
                  "if not given."},
            Field{"bucket", &SeriesQuery::bucket, "Length of a bucket: 5m (if not given), 1h; 0s: one bucket."},
            Field{"group_by", &SeriesQuery::group_by,
                  "A filter field like model, attributes[\"key\"], or latency_bucket: spans by duration, each group "
                  "named by its shortest duration in nanoseconds, five groups per factor of ten."},
            Field{"groups", &SeriesQuery::groups, "Number of groups, the largest first, 1 to 200; 20 if not given."},
            Field{"eval_name", &SeriesQuery::eval_name, "For eval_rate and eval_score."},
            Field{"eval_label", &SeriesQuery::eval_label, "eval_rate: the share of this label."},
            Field{
                "eval_target", &SeriesQuery::eval_target,
                "Target of the eval: span (if not given), trace or chat_session; each target counts once in a bucket."},
        });
};

struct FacetsQuery : SpanRange {
    std::optional<std::string> field;
    std::optional<int64_t> limit;
    static constexpr auto fields = joined(
        span_range_fields(), Pack{
                                 Field{"field", &FacetsQuery::field,
                                       "A filter field like model, or attributes[\"key\"]; name if not given."},
                                 Field{"limit", &FacetsQuery::limit, "Number of values, 1 to 1000; 100 if not given."},
                             });
};

struct AttributeKeysQuery : SpanRange {
    std::optional<int64_t> limit;
    static constexpr auto fields =
        joined(span_range_fields(),
               Pack{
                   Field{"limit", &AttributeKeysQuery::limit, "Number of keys, 1 to 1000; 100 if not given."},
               });
};

enum class SqlFormat { json, json_lines, csv, arrow, parquet };
constexpr auto enum_names(SqlFormat) {
    return std::array{EnumName{SqlFormat::json, "json"}, EnumName{SqlFormat::json_lines, "json_lines"},
                      EnumName{SqlFormat::csv, "csv"}, EnumName{SqlFormat::arrow, "arrow"},
                      EnumName{SqlFormat::parquet, "parquet"}};
}

struct RunSql {
    std::string project;
    std::string sql;
    json::Defaulted<SqlFormat> format = SqlFormat::json;
    std::optional<int64_t> limit;
    static constexpr Pack fields{
        Field{"project", &RunSql::project, "Id or name of the project; the query reads only its data."},
        Field{"sql", &RunSql::sql, "One SELECT over spans, evals, traces, chat_sessions, logs and metric_points."},
        Field{"format", &RunSql::format, "json (default), json_lines, csv, arrow or parquet."},
        Field{"limit", &RunSql::limit, "Number of rows, at most 100000; 10000 if not given."},
    };
};

struct ComparisonQuery {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> filter;
    std::optional<Time> after;
    std::optional<Time> before;
    std::optional<Time> baseline_after;
    std::optional<Time> baseline_before;
    std::optional<std::string> group_by;
    std::optional<int64_t> groups;
    static constexpr Pack fields{
        Field{"space", &ComparisonQuery::space, "Id or name of the space; the caller's first one if not given."},
        Field{"filter", &ComparisonQuery::filter, "Only spans that match; GET /v1/filter_fields lists fields."},
        Field{"after", &ComparisonQuery::after, "Start of the window; a day before its end if not given."},
        Field{"before", &ComparisonQuery::before, "End of the window; now if not given."},
        Field{"baseline_after", &ComparisonQuery::baseline_after,
              "Start of the window to compare with; as long as the other window if not given."},
        Field{"baseline_before", &ComparisonQuery::baseline_before,
              "End of the window to compare with; the start of the other window if not given."},
        Field{"group_by", &ComparisonQuery::group_by, "A filter field like model or name, or attributes[\"key\"]."},
        Field{"groups", &ComparisonQuery::groups, "Number of groups, the largest first, 1 to 200; 20 if not given."},
    };
};

struct SearchQuery {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> text;
    std::optional<std::string> filter;
    std::optional<Time> after;
    std::optional<Time> before;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &SearchQuery::space, "Id or name of the space; the caller's first one if not given."},
        Field{"text", &SearchQuery::text, "Words in the input or the output; * at an end matches inside words."},
        Field{"filter", &SearchQuery::filter,
              "Only spans that also match this filter; GET /v1/filter_fields lists fields."},
        Field{"after", &SearchQuery::after, "Started at or after this time."},
        Field{"before", &SearchQuery::before, "Started before this time."},
        Field{"limit", &SearchQuery::limit,
              "Rows in one response, 1 to 1000; 100 if not given. Large spans can make a page shorter."},
        Field{"cursor", &SearchQuery::cursor, "next_cursor of the previous response."},
    };
};

struct SeriesBucket {
    Time time{};
    std::string group;
    std::vector<std::optional<double>> values;
    static constexpr Pack fields{
        Field{"time", &SeriesBucket::time, "Start of the bucket."},
        Field{"group", &SeriesBucket::group, "Empty without group_by."},
        Field{"values", &SeriesBucket::values, "One value per metric, in the same order; null: no value."},
    };
};

struct SpanSeries {
    std::vector<std::string> metrics;
    int64_t bucket_ns = 0;
    std::vector<SeriesBucket> buckets;
    static constexpr Pack fields{
        Field{"metrics", &SpanSeries::metrics,
              "Names of the metrics. Latencies are in nanoseconds, costs in dollars, rates 0 to 1."},
        Field{"bucket_ns", &SpanSeries::bucket_ns, "Length of a bucket; 0: one bucket."},
        Field{"buckets", &SpanSeries::buckets, "Sorted by time and group; empty buckets are omitted."},
    };
};

struct FacetValue {
    std::string value;
    int64_t count = 0;
    static constexpr Pack fields{
        Field{"value", &FacetValue::value, ""},
        Field{"count", &FacetValue::count, "Number of spans."},
    };
};

struct AttributeKeyCount {
    std::string key;
    int64_t count = 0;
    static constexpr Pack fields{
        Field{"key", &AttributeKeyCount::key, ""},
        Field{"count", &AttributeKeyCount::count, "Number of spans."},
    };
};

struct FilterFieldInfo {
    std::string name;
    std::string type;
    std::string doc;
    static constexpr Pack fields{
        Field{"name", &FilterFieldInfo::name, ""},
        Field{"type", &FilterFieldInfo::type, "text, number, duration, money, time, flag, or the allowed values."},
        Field{"doc", &FilterFieldInfo::doc, ""},
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
    int64_t log_records = 0;
    int64_t log_records_dropped = 0;
    int64_t metric_points = 0;
    int64_t metric_points_dropped = 0;
    std::map<std::string, int64_t> dropped_by_reason;
    static constexpr Pack fields{
        Field{"received", &LedgerView::received, "stored + repeated + pending + rejected, always."},
        Field{"stored", &LedgerView::stored, ""},
        Field{"repeated", &LedgerView::repeated, "Duplicates, which are not stored again."},
        Field{"pending", &LedgerView::pending, "Written to the span log, not stored yet."},
        Field{"rejected", &LedgerView::rejected, ""},
        Field{"rejected_by_reason", &LedgerView::rejected_by_reason, ""},
        Field{"truncated", &LedgerView::truncated, "Spans with values that were cut to the limit."},
        Field{"redacted", &LedgerView::redacted, "Values replaced by redaction."},
        Field{"bytes", &LedgerView::bytes, "Bytes of rows written."},
        Field{"log_records", &LedgerView::log_records,
              "Log records that were stored, on their span or to be searched."},
        Field{"log_records_dropped", &LedgerView::log_records_dropped, "Log records that were dropped."},
        Field{"metric_points", &LedgerView::metric_points, "Points of metrics that were received."},
        Field{"metric_points_dropped", &LedgerView::metric_points_dropped,
              "Of these, points of metrics that are not about models, or were rejected."},
        Field{"dropped_by_reason", &LedgerView::dropped_by_reason, "Dropped log records and points of metrics."},
    };
};

struct MetricChange {
    std::string metric;
    std::optional<double> baseline;
    std::optional<double> current;
    std::optional<double> difference;
    std::optional<double> ratio;
    static constexpr Pack fields{
        Field{"metric", &MetricChange::metric,
              "Name of the metric. Latencies are in nanoseconds, costs in dollars, rates 0 to 1."},
        Field{"baseline", &MetricChange::baseline, "Value in the window to compare with; null: none."},
        Field{"current", &MetricChange::current, "Value in the window; null: none."},
        Field{"difference", &MetricChange::difference, "current - baseline."},
        Field{"ratio", &MetricChange::ratio, "current / baseline; null when the baseline is 0."},
    };
};

struct GroupChange {
    std::string group;
    std::vector<MetricChange> metrics;
    static constexpr Pack fields{
        Field{"group", &GroupChange::group, "Empty for all spans."},
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
    static constexpr Pack fields{
        Field{"baseline_after", &ComparisonView::baseline_after, ""},
        Field{"baseline_before", &ComparisonView::baseline_before, ""},
        Field{"after", &ComparisonView::after, ""},
        Field{"before", &ComparisonView::before, ""},
        Field{"all", &ComparisonView::all, "Changes over all spans."},
        Field{"groups", &ComparisonView::groups, "Groups, the largest first; empty without group_by."},
        Field{"is_cut", &ComparisonView::is_cut, "There are more groups than shown."},
    };
};

struct SearchHit {
    SpanRow span;
    std::string field;
    std::string snippet;
    static constexpr Pack fields{
        Field{"span", &SearchHit::span, ""},
        Field{"field", &SearchHit::field, "input or output."},
        Field{"snippet", &SearchHit::snippet, "Text around the first match."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

LedgerView view_of(const telemetry::LedgerCounts& counts) {
    return {counts.received,
            counts.stored,
            counts.repeated,
            counts.pending(),
            counts.rejected_total(),
            counts.rejected,
            counts.truncated,
            counts.redacted,
            counts.bytes,
            counts.log_records,
            counts.log_records_dropped,
            counts.metric_points,
            counts.metric_points_dropped,
            counts.dropped};
}

namespace {

constexpr int64_t most_sql_rows = 100'000;

Result<size_t> limit_of(const std::optional<int64_t>& limit) {
    return static_cast<size_t>(TRY(page_of(limit, {})).limit);
}

std::string_view engine_format(SqlFormat format) {
    switch (format) {
    case SqlFormat::json:
        return "JSON";
    case SqlFormat::json_lines:
        return "JSONEachRow";
    case SqlFormat::csv:
        return "CSVWithNames";
    case SqlFormat::arrow:
        return "Arrow";
    case SqlFormat::parquet:
        return "Parquet";
    }
    return "JSON";
}

std::string_view content_type_of(SqlFormat format) {
    switch (format) {
    case SqlFormat::json:
        return "application/json";
    case SqlFormat::json_lines:
        return "application/x-ndjson";
    case SqlFormat::csv:
        return "text/csv; charset=utf-8";
    case SqlFormat::arrow:
        return "application/vnd.apache.arrow.file";
    case SqlFormat::parquet:
        return "application/vnd.apache.parquet";
    }
    return "application/json";
}

} // namespace

Result<One<SpanSeries>> get_series(const Call& call, const SeriesQuery& query) {
    telemetry::Series request;
    request.scope = TRY(scope_of(call, query));
    SpanSeries series;
    for (const auto name : split(query.metrics ? std::string_view(*query.metrics) : "count", ',')) {
        const auto metric = parse_enum<telemetry::Metric>(trim(name));
        if (!metric)
            return invalid("query parameter metrics must be of " + json::detail::enum_choices<telemetry::Metric>());
        request.metrics.push_back(*metric);
        series.metrics.emplace_back(name_of(*metric));
    }
    if (query.bucket) request.bucket = Duration(TRY(parse_duration_ns(*query.bucket)));
    request.group_by = query.group_by.value_or("");
    if (query.groups && (*query.groups < 1 || *query.groups > 200))
        return invalid("query parameter groups must be between 1 and 200");
    if (query.groups) request.groups = static_cast<size_t>(*query.groups);
    request.eval_name = query.eval_name.value_or("");
    request.eval_label = query.eval_label.value_or("");
    request.eval_target = query.eval_target.value_or(telemetry::EvalTarget::span);
    series.bucket_ns = request.bucket.count();
    telemetry::SpanStore* const store = TRY(call.services.spans.store());
    for (const auto& point : TRY(store->series(request))) {
        SeriesBucket bucket{from_ns(point.bucket_ns), point.group, {}};
        for (const double value : point.values)
            bucket.values.push_back(std::isfinite(value) ? std::optional(value) : std::nullopt);
        series.buckets.push_back(std::move(bucket));
    }
    return One<SpanSeries>{std::move(series)};
}

Result<List<FacetValue>> get_facets(const Call& call, const FacetsQuery& query) {
    const auto scope = TRY(scope_of(call, query));
    const size_t limit = TRY(limit_of(query.limit));
    List<FacetValue> list;
    telemetry::SpanStore* const store = TRY(call.services.spans.store());
    for (auto& facet : TRY(store->facet(scope, query.field.value_or("name"), limit)))
        list.data.push_back({std::move(facet.value), facet.count});
    return list;
}

Result<List<AttributeKeyCount>> get_attribute_keys(const Call& call, const AttributeKeysQuery& query) {
    const auto scope = TRY(scope_of(call, query));
    const size_t limit = TRY(limit_of(query.limit));
    List<AttributeKeyCount> list;
    telemetry::SpanStore* const store = TRY(call.services.spans.store());
    for (auto& key : TRY(store->attribute_keys(scope, limit))) list.data.push_back({std::move(key.key), key.count});
    return list;
}

Result<List<FilterFieldInfo>> get_filter_fields(const Call&) {
    List<FilterFieldInfo> list;
    for (const auto& field : telemetry::filter_fields())
        list.data.push_back({std::string(field.name), std::string(field.type), std::string(field.doc)});
    return list;
}

Result<net::Response> run_sql(const Call& call, const InSpace& query, const RunSql& body) {
    const auto project = TRY(find_project(call, query.space, body.project, access::Permission::project_read));
    if (body.limit && (*body.limit < 1 || *body.limit > most_sql_rows))
        return invalid("limit must be between 1 and " + std::to_string(most_sql_rows));
    TRY(call.services.spans.store());
    telemetry::SqlRequest request;
    request.project = project.id.text();
    request.sql = body.sql;
    request.format = engine_format(*body.format);
    if (body.limit) request.most_rows = static_cast<size_t>(*body.limit);
    request.cancel = call.head.gone;
    net::Response response;
    response.body = TRY(call.services.spans.sql.run(request));
    response.content_type = content_type_of(*body.format);
    return response;
}

Result<One<LedgerView>> get_ledger(const Call& call, const InSpace& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    const auto ledger = call.services.spans.telemetry.ledger();
    const auto found = ledger.find(project.id.text());
    return One<LedgerView>{found == ledger.end() ? LedgerView{} : view_of(found->second)};
}

Result<One<telemetry::BacklogView>> get_span_backlog(const Call& call) {
    return One<telemetry::BacklogView>{telemetry::view_of(TRY(call.services.spans.backlog(call.caller)))};
}

namespace {

constexpr size_t snippet_before = 80;
constexpr size_t snippet_bytes = 240;
constexpr Duration usual_window = std::chrono::hours(24);

std::optional<double> number_of(double value) {
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

GroupChange change_of(const telemetry::Change& change) {
    GroupChange view;
    view.group = change.group;
    const auto metrics = telemetry::compared_metrics();
    for (size_t i = 0; i < metrics.size(); ++i) {
        const double baseline = change.baseline[i], current = change.current[i];
        view.metrics.push_back({std::string(name_of(metrics[i])), number_of(baseline), number_of(current),
                                number_of(current - baseline),
                                baseline == 0 ? std::nullopt : number_of(current / baseline)});
    }
    return view;
}

// What is left out of the four times follows from the others.
ComparisonView windows_of(const ComparisonQuery& query, Time now) {
    ComparisonView view;
    view.before = query.before.value_or(now);
    view.after = query.after.value_or(view.before - usual_window);
    view.baseline_before = query.baseline_before.value_or(view.after);
    view.baseline_after = query.baseline_after.value_or(view.baseline_before - (view.before - view.after));
    return view;
}

// The text around the first place where one of the words stands; empty where none does.
std::string snippet_of(std::string_view text, std::string_view wanted) {
    const std::string low = lowercase_ascii(text);
    size_t place = low.npos;
    std::string word;
    const auto end_word = [&] {
        if (!word.empty()) place = std::min(place, low.find(word));
        word.clear();
    };
    for (const char letter : lowercase_ascii(wanted)) {
        const bool belongs = (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') ||
                             static_cast<unsigned char>(letter) >= 0x80;
        if (belongs)
            word += letter;
        else
            end_word();
    }
    end_word();
    if (place == low.npos) return {};
    size_t begin = place > snippet_before ? place - snippet_before : 0;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xc0) == 0x80) --begin; // not inside a letter
    return std::string(truncate_utf8(text.substr(begin), snippet_bytes));
}

std::string filter_of(const SearchQuery& query) {
    std::string quoted;
    for (const char letter : *query.text) {
        if (letter == '"' || letter == '\\') quoted += '\\';
        quoted += letter;
    }
    std::string filter = "text ~ \"" + quoted + "\"";
    if (query.filter && !trim(*query.filter).empty()) filter += " and (" + *query.filter + ")";
    return filter;
}

} // namespace

Result<One<ComparisonView>> get_comparison(const Call& call, const ComparisonQuery& query) {
    ComparisonView view = windows_of(query, call.services.clock.now());
    telemetry::CompareWindows request;
    request.scope = TRY(scope_of(call, query));
    request.baseline = {to_ns(view.baseline_after), to_ns(view.baseline_before)};
    request.current = {to_ns(view.after), to_ns(view.before)};
    request.group_by = query.group_by.value_or("");
    if (query.groups && (*query.groups < 1 || *query.groups > 200))
        return invalid("query parameter groups must be between 1 and 200");
    if (query.groups) request.groups = static_cast<size_t>(*query.groups);
    telemetry::SpanStore* const store = TRY(call.services.spans.store());
    const auto comparison = TRY(telemetry::compare(*store, request));
    view.all = change_of(comparison.all);
    for (const auto& group : comparison.groups) view.groups.push_back(change_of(group));
    view.is_cut = comparison.is_cut;
    return One<ComparisonView>{std::move(view)};
}

Result<List<SearchHit>> search_spans(const Call& call, const SearchQuery& query) {
    telemetry::ListSpans request;
    request.scope = TRY(scope_of(call, query));
    const auto page = TRY(page_of(query.limit, query.cursor));
    if (!query.text || trim(*query.text).empty()) return invalid("query parameter text must not be empty");
    request.scope.filter = filter_of(query);
    request.limit = static_cast<size_t>(page.limit);
    request.cursor = page.cursor.value_or("");
    const auto found = TRY(call.services.spans.payloads(std::move(request)));
    List<SearchHit> list;
    for (const auto& payload : found.spans) {
        SearchHit hit{view_of(payload.row), "output", snippet_of(payload.output, *query.text)};
        if (hit.snippet.empty()) hit = {std::move(hit.span), "input", snippet_of(payload.input, *query.text)};
        list.data.push_back(std::move(hit));
    }
    if (!found.next_cursor.empty()) list.next_cursor = found.next_cursor;
    return list;
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route queries_table[] = {
    route<get_series>("GET", "/v1/projects/{project}/series", need(project_read), "Metrics of spans over time.")
        .on(net::Lane::query),
    route<get_comparison>("GET", "/v1/projects/{project}/compare", need(project_read),
                          "Compare the metrics of two windows.")
        .on(net::Lane::query),
    route<search_spans>("GET", "/v1/projects/{project}/search", need(project_read),
                        "Spans whose input or output contains these words, newest first.")
        .on(net::Lane::query),
    route<get_facets>("GET", "/v1/projects/{project}/facets", need(project_read),
                      "The most frequent values of a field.")
        .on(net::Lane::query),
    route<get_attribute_keys>("GET", "/v1/projects/{project}/attribute_keys", need(project_read),
                              "Attribute keys of spans.")
        .on(net::Lane::query),
    route<get_filter_fields>("GET", "/v1/filter_fields", login, "Fields of filters."),
    route<run_sql>("POST", "/v1/sql", need(project_read), "Run an SQL query over one project.")
        .raw("application/json, application/x-ndjson, text/csv, application/vnd.apache.arrow.file, "
             "application/vnd.apache.parquet")
        .on(net::Lane::query),
    route<get_ledger>("GET", "/v1/projects/{project}/ledger", need(project_read),
                      "Counts of received spans: stored, duplicate, pending and rejected."),
    route<get_span_backlog>(
        "GET", "/v1/span_backlog", login,
        "Spans of the installation that were accepted and are not stored yet, and why; not for a run's key."),
};

} // namespace

std::span<const Route> queries_routes() {
    return queries_table;
}

} // namespace hone::api
