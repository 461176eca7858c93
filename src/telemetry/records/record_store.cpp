#include "telemetry/records/record_store.h"

#include "base/text.h"
#include "telemetry/engine/page_cursor.h"
#include "telemetry/records/record_rows.h"
#include "telemetry/records/record_tables.h"
#include "telemetry/span/binary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

namespace hone::telemetry {

namespace {

constexpr int64_t record_day_ns = 86'400'000'000'000;
constexpr size_t most_metric_points = 20'000;
constexpr std::string_view severity_order[] = {"trace", "debug", "info", "warn", "error", "fatal"};

std::vector<std::string> at_least(const std::string& severity) {
    const auto* const place = std::find(std::begin(severity_order), std::end(severity_order), severity);
    if (place == std::end(severity_order)) return {severity};
    return {place, std::end(severity_order)};
}

// A text that LIKE matches anywhere.
std::string like_pattern(std::string_view text) {
    std::string pattern = "%";
    for (const char letter : text) {
        if (letter == '%' || letter == '_' || letter == '\\') pattern += '\\';
        pattern += letter;
    }
    return pattern + "%";
}

// Points are grouped by a column or by an attribute, whose name is bound.
std::optional<std::string> point_group(const std::string& field, ClickHouseQuery& query) {
    if (field.empty()) return "''";
    for (const std::string_view column : {"service", "model", "provider", "type"})
        if (field == column) return "toString(" + field + ")";
    constexpr std::string_view before = "attributes[\"", after = "\"]";
    if (!field.starts_with(before) || !field.ends_with(after) || field.size() <= before.size() + after.size())
        return std::nullopt;
    query.bind("attribute", field.substr(before.size(), field.size() - before.size() - after.size()));
    return "attributes[{attribute:String}]";
}

// The value below which this share of a histogram's values lies, between the bounds of its bucket.
double bucket_quantile(const std::vector<double>& bounds, const std::vector<double>& counts, double share) {
    double total = 0;
    for (const double count : counts) total += count;
    if (bounds.empty() || counts.size() != bounds.size() + 1 || !(total > 0))
        return std::numeric_limits<double>::quiet_NaN();
    double below = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
        if (below + counts[i] < share * total) {
            below += counts[i];
            continue;
        }
        if (i == bounds.size()) return bounds.back(); // above every bound: at least the last one
        const double low = i == 0 ? std::min(0.0, bounds[0]) : bounds[i - 1];
        return counts[i] > 0 ? low + (bounds[i] - low) * (share * total - below) / counts[i] : bounds[i];
    }
    return bounds.back();
}

std::vector<double> read_reals(BinaryReader& reader) {
    std::vector<double> numbers;
    for (uint64_t left = reader.varint(); left > 0 && !reader.at_end(); --left)
        numbers.push_back(reader.number<double>());
    return numbers;
}

// A point's own part of a cumulative value; a smaller value than before means that the sender began again.
constexpr std::string_view series_points = R"(
SELECT time_ns, group_name, kind, bounds,
multiIf(is_cumulative = 0, value, previous_ns = 0, if(start_ns >= {known:Int64}, value, 0.), value < previous, value, value - previous) AS own_value,
multiIf(is_cumulative = 0, toFloat64(count), previous_ns = 0, if(start_ns >= {known:Int64}, toFloat64(count), 0.), count < previous_count, toFloat64(count), toFloat64(count - previous_count)) AS own_count,
multiIf(is_cumulative = 0, arrayMap(n -> toFloat64(n), buckets),
 previous_ns = 0, if(start_ns >= {known:Int64}, arrayMap(n -> toFloat64(n), buckets), CAST([], 'Array(Float64)')),
 length(buckets) != length(previous_buckets) OR count < previous_count, arrayMap(n -> toFloat64(n), buckets),
 arrayMap((now, before) -> if(now < before, 0., toFloat64(now - before)), buckets, arrayResize(previous_buckets, length(buckets)))) AS own_buckets
FROM (SELECT *, lagInFrame(value, 1, 0.) OVER earlier AS previous, lagInFrame(count, 1, toUInt64(0)) OVER earlier AS previous_count,
lagInFrame(buckets, 1, CAST([], 'Array(UInt64)')) OVER earlier AS previous_buckets, lagInFrame(time_ns, 1, toInt64(0)) OVER earlier AS previous_ns
FROM (SELECT time_ns, start_ns, series, toString(kind) AS kind, is_cumulative, value, count, bounds, buckets, GROUP AS group_name
FROM hone.metric_points WHERE project = {project:String} AND metric = {metric:String} AND time_ns >= {known:Int64} AND time_ns < {to:Int64}
ORDER BY series, start_ns, time_ns LIMIT 1 BY series, start_ns, time_ns)
WINDOW earlier AS (PARTITION BY series, start_ns ORDER BY time_ns ROWS BETWEEN 1 PRECEDING AND CURRENT ROW))
WHERE time_ns >= {from:Int64})";

// Equal rows are kept once: a record or a point that was sent again. A part is on disk before its insert is
// acknowledged. A day without new rows for an hour becomes one part.
std::string create_record_table(const std::string& name, std::span<const Column> columns, const std::string& order) {
    std::string sql = "CREATE TABLE IF NOT EXISTS " + name + " (";
    for (const Column& column : columns)
        sql += std::string(column.name) + " " + std::string(column.type) + " " + std::string(column.codec) +
               (&column == &columns.back() ? "" : ", ");
    return sql + ") ENGINE = ReplacingMergeTree PARTITION BY intDiv(time_ns, 86400000000000) ORDER BY (" + order +
           ") SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, "
           "old_parts_lifetime = 60, min_rows_to_fsync_after_merge = 1, min_age_to_force_merge_seconds = 3600, "
           "min_age_to_force_merge_on_partition_only = 1";
}

} // namespace

Result<> create_record_tables(ClickHouse& engine) {
    for (const std::string& statement : {create_record_table("hone.logs", log_columns(), "project, time_ns, id"),
                                         create_record_table("hone.metric_points", metric_point_columns(),
                                                             "project, metric, series, start_ns, time_ns")})
        TRY(engine.define(statement));
    return {};
}

Result<LogPage> RecordStore::logs(const ListLogs& request) {
    const size_t limit = std::clamp<size_t>(request.limit, 1, 1000);
    ClickHouseQuery query("");
    query.project = request.project;
    query.cancel = request.cancel.get();
    query.bind("project", request.project).bind("from", request.from_ns).bind("to", request.to_ns);
    std::string where = "project = {project:String} AND time_ns >= {from:Int64} AND time_ns < {to:Int64}";
    if (!request.text.empty()) {
        query.bind("text", like_pattern(request.text));
        where += " AND (body ILIKE {text:String} OR name ILIKE {text:String} OR attributes ILIKE {text:String})";
    }
    if (!request.severity.empty()) {
        query.bind("severities", at_least(request.severity));
        where += " AND severity IN {severities:Array(String)}";
    }
    if (!request.service.empty()) query.bind("service", request.service), where += " AND service = {service:String}";
    if (!request.trace_id.empty()) query.bind("trace", request.trace_id), where += " AND trace_id = {trace:String}";
    if (!request.cursor.empty()) {
        const Cursor place = TRY(decode_cursor(request.cursor));
        const auto id = parse_integer(place.id); // the number in 64 bits
        if (!id.ok()) return invalid("the cursor is not valid for this list");
        query.bind("place", place.number).bind("place_id", id.value());
        where += " AND (time_ns < {place:Int64} OR (time_ns = {place:Int64} AND id < "
                 "reinterpretAsUInt64({place_id:Int64})))";
    }
    query.sql = "SELECT time_ns, reinterpretAsInt64(id), toString(severity), toString(name), body, toString(service), "
                "toString(scope), trace_id, span_id, attributes FROM hone.logs WHERE " +
                where + " ORDER BY time_ns DESC, id DESC LIMIT 1 BY time_ns, id LIMIT " + std::to_string(limit + 1) +
                " FORMAT RowBinary";
    const std::string bytes = TRY(m_engine.query(query));
    LogPage page;
    std::vector<int64_t> ids;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        LogEntry entry;
        entry.time_ns = reader.number<int64_t>();
        ids.push_back(reader.number<int64_t>());
        for (std::string* text : {&entry.severity, &entry.name, &entry.body, &entry.service, &entry.scope,
                                  &entry.trace_id, &entry.span_id, &entry.attributes})
            *text = reader.text();
        page.entries.push_back(std::move(entry));
    }
    if (page.entries.size() > limit) {
        page.entries.resize(limit);
        page.next_cursor = encode_cursor(page.entries.back().time_ns, std::to_string(ids[limit - 1]));
    }
    return page;
}

Result<std::vector<KnownSeries>> RecordStore::metrics(const std::string& project, int64_t from_ns, int64_t to_ns) {
    ClickHouseQuery query(
        "SELECT toString(metric) AS metric_name, toString(any(use)), toString(any(unit)), "
        "toString(any(kind)), count(), max(time_ns), arraySort(groupUniqArray(20)(toString(service))) "
        "FROM hone.metric_points WHERE project = {project:String} AND time_ns >= {from:Int64} AND "
        "time_ns < {to:Int64} GROUP BY metric_name ORDER BY metric_name LIMIT 500 FORMAT RowBinary");
    query.project = project;
    query.bind("project", project).bind("from", from_ns).bind("to", to_ns);
    const std::string bytes = TRY(m_engine.query(query));
    std::vector<KnownSeries> all;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        KnownSeries series;
        for (std::string* text : {&series.metric, &series.use, &series.unit, &series.kind}) *text = reader.text();
        series.points = static_cast<int64_t>(reader.number<uint64_t>());
        series.last_ns = reader.number<int64_t>();
        for (uint64_t left = reader.varint(); left > 0 && !reader.failed(); --left)
            if (const auto service = reader.text(); !service.empty()) series.services.emplace_back(service);
        all.push_back(std::move(series));
    }
    return all;
}

Result<MetricResult> RecordStore::series(const MetricSeries& request) {
    if (request.bucket.count() < 0) return invalid("a bucket is not negative");
    MetricResult result;
    for (const KnownSeries& known : TRY(metrics(request.project, request.from_ns, request.to_ns)))
        if (known.metric == request.metric)
            result.metric = known.metric, result.use = known.use, result.unit = known.unit, result.kind = known.kind;
    if (result.metric.empty()) {
        result.metric = request.metric;
        return result;
    }
    ClickHouseQuery query("");
    query.project = request.project;
    query.cancel = request.cancel.get();
    const auto group = point_group(request.group_by, query);
    if (!group)
        return invalid("metrics cannot be grouped by \"" + request.group_by +
                       "\"; use service, model, provider, type or attributes[\"key\"]");
    query.bind("project", request.project).bind("metric", request.metric);
    query.bind("from", request.from_ns).bind("to", request.to_ns);
    query.bind("known", std::max<int64_t>(0, request.from_ns - record_day_ns)); // the points before the range
    const std::string bucket =
        request.bucket.count() == 0 ? "{from:Int64}" : "intDiv(time_ns, {bucket:Int64}) * {bucket:Int64}";
    if (request.bucket.count() > 0) query.bind("bucket", request.bucket.count());
    std::string points(series_points);
    points.replace(points.find("GROUP AS"), 5, *group);
    query.sql =
        "SELECT toInt64(" + bucket +
        ") AS bucket_ns, group_name, any(kind), if(any(kind) = 'gauge', avg(own_value), sum(own_value)), "
        "sum(own_count), any(bounds), sumForEachIf(own_buckets, length(own_buckets) = length(bounds) + 1) FROM (" +
        points + ") GROUP BY bucket_ns, group_name ORDER BY bucket_ns, group_name LIMIT " +
        std::to_string(most_metric_points) + " FORMAT RowBinary";
    const std::string bytes = TRY(m_engine.query(query));
    std::map<std::string, double> weights;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        MetricBucket made;
        made.time_ns = reader.number<int64_t>();
        made.group = reader.text();
        reader.text(); // the kind
        made.sum = reader.number<double>();
        made.count = reader.number<double>();
        const auto bounds = read_reals(reader), counts = read_reals(reader);
        made.p50 = bucket_quantile(bounds, counts, 0.5);
        made.p95 = bucket_quantile(bounds, counts, 0.95);
        weights[made.group] += std::abs(made.sum);
        result.buckets.push_back(std::move(made));
    }
    const size_t most = std::clamp<size_t>(request.groups, 1, 200);
    if (weights.size() <= most) return result;
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [name, weight] : weights) order.emplace_back(weight, name);
    std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(most), order.end(), std::greater<>());
    std::set<std::string> kept;
    for (size_t i = 0; i < most; ++i) kept.insert(order[i].second);
    std::erase_if(result.buckets, [&](const MetricBucket& one) { return !kept.contains(one.group); });
    return result;
}

// --- retention -----------------------------------------------------------------------------------------------------

// A day whose rows are all old is dropped as a whole, which frees the disk immediately.
Result<int64_t> RecordStore::apply(const std::string& table, const std::map<std::string, int64_t>& days,
                                   int64_t default_days) {
    const auto read = [&](const std::string& sql) {
        ClickHouseQuery query(sql);
        query.deadline = std::chrono::minutes(5);
        return m_engine.query(query);
    };
    const std::string bytes =
        TRY(read("SELECT intDiv(time_ns, 86400000000000) AS day, toString(project) AS name FROM " + table +
                 " GROUP BY day, name FORMAT RowBinary"));
    std::map<int64_t, std::set<std::string>> present;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        const auto day = reader.number<int64_t>();
        present[day].insert(std::string(reader.text()));
    }
    const int64_t today = to_ns(m_clock.now()) / record_day_ns;
    int64_t dropped = 0;
    for (const auto& [day, projects] : present) {
        std::vector<std::string> old;
        for (const std::string& project : projects) {
            const auto own = days.find(project);
            const int64_t keep = own == days.end() ? default_days : own->second;
            if (keep > 0 ? day < today - keep : keep < 0) old.push_back(project);
        }
        if (old.empty()) continue;
        if (old.size() == projects.size()) {
            TRY(read("ALTER TABLE " + table + " DROP PARTITION " + std::to_string(day)));
            ++dropped;
            continue;
        }
        ClickHouseQuery rows("ALTER TABLE " + table + " DELETE WHERE project IN {old:Array(String)} AND time_ns >= " +
                             std::to_string(day * record_day_ns) + " AND time_ns < " +
                             std::to_string((day + 1) * record_day_ns));
        rows.bind("old", old).set("mutations_sync", "1");
        rows.deadline = std::chrono::minutes(5);
        TRY(m_engine.query(rows));
    }
    return dropped;
}

Result<int64_t> RecordStore::apply(const RecordRetention& policy) {
    const int64_t logs = TRY(apply("hone.logs", policy.log_days, policy.default_log_days));
    const int64_t points = TRY(apply("hone.metric_points", policy.metric_days, policy.default_metric_days));
    return logs + points;
}

Result<> RecordStore::delete_project(const std::string& project) {
    for (const char* table : {"logs", "metric_points"}) {
        ClickHouseQuery query(std::string("ALTER TABLE hone.") + table + " DELETE WHERE project = {project:String}");
        query.bind("project", project).set("mutations_sync", "1");
        query.deadline = std::chrono::minutes(5);
        TRY(m_engine.query(query));
    }
    return {};
}

} // namespace hone::telemetry
