#include "api/span_handlers.h"
#include "telemetry/query/filter.h"

#include <cmath>

namespace hone::api {

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

Result<One<SpanSeries>> get_series(const Call& call, const AskSeries& query) {
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
    for (const auto& point : TRY(TRY(store_of(call))->series(request))) {
        SeriesBucket bucket{from_ns(point.bucket_ns), point.group, {}};
        for (const double value : point.values)
            bucket.values.push_back(std::isfinite(value) ? std::optional(value) : std::nullopt);
        series.buckets.push_back(std::move(bucket));
    }
    return One<SpanSeries>{std::move(series)};
}

Result<List<FacetValue>> get_facets(const Call& call, const AskFacets& query) {
    const auto scope = TRY(scope_of(call, query));
    const size_t limit = TRY(limit_of(query.limit));
    List<FacetValue> list;
    for (auto& facet : TRY(TRY(store_of(call))->facet(scope, query.field.value_or("name"), limit)))
        list.data.push_back({std::move(facet.value), facet.count});
    return list;
}

Result<List<AttributeKeyCount>> get_attribute_keys(const Call& call, const AskAttributeKeys& query) {
    const auto scope = TRY(scope_of(call, query));
    const size_t limit = TRY(limit_of(query.limit));
    List<AttributeKeyCount> list;
    for (auto& key : TRY(TRY(store_of(call))->attribute_keys(scope, limit)))
        list.data.push_back({std::move(key.key), key.count});
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
    TRY(store_of(call));
    telemetry::SqlRequest request;
    request.project = project.id.text();
    request.sql = body.sql;
    request.format = engine_format(*body.format);
    if (body.limit) request.most_rows = static_cast<size_t>(*body.limit);
    request.cancel = call.head.gone;
    net::Response response;
    response.body = TRY(TRY(spans_of(call))->sql.run(request));
    response.content_type = content_type_of(*body.format);
    return response;
}

Result<One<LedgerView>> get_ledger(const Call& call, const InSpace& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    const auto ledger = TRY(spans_of(call))->telemetry.ledger();
    const auto found = ledger.find(project.id.text());
    return One<LedgerView>{found == ledger.end() ? LedgerView{} : view_of(found->second)};
}

Result<One<telemetry::BacklogView>> get_span_backlog(const Call& call) {
    return One<telemetry::BacklogView>{telemetry::view_of(TRY(spans_of(call))->telemetry.backlog())};
}

Result<One<DiskView>> get_disk(const Call& call, const InSpace& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    TRY(store_of(call));
    Spans& spans = *TRY(spans_of(call));
    DiskView view;
    view.retention_days = project.retention_days.value_or(spans.projects.default_retention_days());
    for (const auto& use : TRY(spans.retention.disk_use())) {
        if (use.project != project.id.text()) continue;
        view.spans = use.spans;
        view.bytes = use.bytes;
        view.oldest = from_ns(use.oldest_ns);
        view.newest = from_ns(use.newest_ns);
    }
    return One<DiskView>{std::move(view)};
}

} // namespace hone::api
