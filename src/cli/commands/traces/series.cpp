// Numbers over time as a line of small bars per group and metric.
#include "base/text.h"
#include "cli/remote/view.h"
#include "cli/terminal/amount.h"
#include "cli/terminal/display.h"
#include "cli/terminal/metric.h"
#include "cli/terminal/sparkline.h"
#include "cli/terminal/table.h"
#include "cli/toolkit/scope.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace hone::cli {

namespace {

constexpr int64_t second = 1'000'000'000;
constexpr int64_t most_bars = 60;
constexpr size_t most_columns = 2000; // of a series with a very short bucket

// The shortest usual length that gives at most `most_bars` of them.
int64_t bucket_for(int64_t range_ns) {
    constexpr int64_t usual[] = {1,    5,    10,    30,    60,    300,    600,    900,    1800,
                                 3600, 7200, 21600, 43200, 86400, 172800, 604800, 2592000};
    for (const int64_t seconds : usual)
        if (range_ns / (seconds * second) <= most_bars) return seconds * second;
    return usual[std::size(usual) - 1] * second;
}

bool adds_up(std::string_view metric) {
    return metric == "count" || metric == "errors" || metric == "tokens" || metric == "cost";
}

using Values = std::vector<std::optional<double>>;

std::optional<double> value_at(const json::Value& bucket, size_t metric) {
    const auto* values = bucket.is_object() ? bucket.get_object().if_contains("values") : nullptr;
    if (values == nullptr || !values->is_array() || metric >= values->get_array().size()) return std::nullopt;
    const json::Value& value = values->get_array()[metric];
    if (value.is_double()) return value.get_double();
    if (value.is_int64()) return static_cast<double>(value.get_int64());
    return std::nullopt;
}

struct Frame {
    int64_t start_ns = 0;
    int64_t bucket_ns = 0;
    size_t columns = 1;
};

// By group and metric, a value for each column.
std::map<std::string, std::vector<Values>> arrange_values(const json::Array& buckets, size_t metrics,
                                                          const Frame& frame) {
    std::map<std::string, std::vector<Values>> lines;
    for (const auto& bucket : buckets) {
        const auto time = parse_time(text_of(bucket, "time"));
        if (!time.ok()) continue;
        const int64_t since = to_ns(time.value()) - frame.start_ns;
        const int64_t column = frame.bucket_ns == 0 ? 0 : since / frame.bucket_ns;
        if (column < 0 || column >= static_cast<int64_t>(frame.columns)) continue;
        auto& line = lines[text_of(bucket, "group")];
        if (line.empty()) line.assign(metrics, Values(frame.columns));
        for (size_t i = 0; i < metrics; ++i) line[i][static_cast<size_t>(column)] = value_at(bucket, i);
    }
    return lines;
}

std::vector<std::string> summary(const std::string& metric, const Values& values) {
    double least = INFINITY, most = -INFINITY, sum = 0, last = NAN;
    for (const auto& value : values) {
        if (!value) continue;
        least = std::min(least, *value);
        most = std::max(most, *value);
        sum += *value;
        last = *value;
    }
    return {metric_text(metric, least), metric_text(metric, most), metric_text(metric, last),
            adds_up(metric) ? metric_text(metric, sum) : ""};
}

void print_series(const Context& context, const json::Value& series, const Frame& frame) {
    std::vector<std::string> metrics;
    const auto* names = series.is_object() ? series.get_object().if_contains("metrics") : nullptr;
    if (names != nullptr && names->is_array())
        for (const auto& name : names->get_array())
            metrics.push_back(name.is_string() ? std::string(name.get_string()) : "?");
    const auto* buckets = series.is_object() ? series.get_object().if_contains("buckets") : nullptr;
    if (buckets == nullptr || !buckets->is_array() || buckets->get_array().empty()) {
        context.console.print("No spans in this range.\n");
        return;
    }
    const auto lines = arrange_values(buckets->get_array(), metrics.size(), frame);
    const bool grouped = context.parsed.has("--group-by");
    std::vector<std::vector<std::string>> rows;
    for (const auto& [group, values] : lines)
        for (size_t i = 0; i < metrics.size(); ++i) {
            std::vector<std::string> row;
            if (grouped) row.push_back(group.empty() ? "(none)" : safe_line(group));
            row.push_back(safe_line(metrics[i]));
            row.push_back(sparkline(values[i]));
            for (auto& cell : summary(metrics[i], values[i])) row.push_back(std::move(cell));
            rows.push_back(std::move(row));
        }
    std::vector<TableColumn> columns{{"METRIC", true},     {"EACH " + duration_text(frame.bucket_ns), true},
                                     {"MIN", true, true},  {"MAX", true, true},
                                     {"LAST", true, true}, {"TOTAL", true, true}};
    if (grouped) columns.insert(columns.begin(), {"GROUP"});
    const auto table = layout_table(columns, rows, context.console.width());
    context.console.print(context.console.paint(Style::bold, table.front()) + "\n");
    for (size_t i = 1; i < table.size(); ++i) context.console.print(table[i] + "\n");
}

Result<> show_series(Context& context) {
    Query query = TRY(span_query(context));
    const int64_t now = to_ns(context.clock.now());
    int64_t from = now - 24 * 3600 * second, to = now;
    for (auto& [name, value] : query) {
        if (name == "after") {
            if (value.empty())
                value = to_text(from_ns(from));
            else
                from = to_ns(TRY(parse_time(value)));
        }
        if (name == "before" && !value.empty()) to = to_ns(TRY(parse_time(value)));
    }
    if (to <= from) return context.usage("--before must be later than --after");
    Frame frame;
    frame.bucket_ns = bucket_for(to - from);
    if (const auto bucket = context.parsed.value("--bucket")) {
        const auto length = parse_duration_ns(*bucket);
        if (!length.ok() || length.value() < second)
            return context.usage("--bucket must be a duration of at least 1s, such as 5m");
        frame.bucket_ns = length.value();
    }
    // Buckets start at multiples of their length.
    frame.start_ns = from / frame.bucket_ns * frame.bucket_ns;
    frame.columns = std::min(most_columns, static_cast<size_t>((to - 1 - frame.start_ns) / frame.bucket_ns + 1));
    query.emplace_back("bucket", std::to_string(frame.bucket_ns / second) + "s");
    query.emplace_back("metrics", context.parsed.value("--metrics").value_or("count,errors,latency_p95,tokens,cost"));
    query.emplace_back("group_by", context.value_or_empty("--group-by"));
    query.emplace_back("groups", context.value_or_empty("--groups"));
    query.emplace_back("eval_name", context.value_or_empty("--eval"));
    query.emplace_back("eval_label", context.value_or_empty("--eval-label"));
    query.emplace_back("eval_target", context.value_or_empty("--eval-target"));
    const json::Value series = TRY(context.remote.get(TRY(span_path(context, {"series"})), std::move(query)));
    if (context.json())
        print_json(context, series);
    else
        print_series(context, series, frame);
    return {};
}

} // namespace

std::vector<Command> series_commands() {
    std::vector<Option> options = span_options();
    for (Option& option : options)
        if (option.name == "--after")
            option.doc = "Start of the range: a time, or a duration before now such as 2h. Default: 24h.";
    options.insert(
        options.end(),
        {{.name = "--metrics",
          .value = "NAMES",
          .doc = "With commas: count, errors, error_rate, latency_p50, latency_p95, latency_p99, latency_mean, "
                 "first_token_p50, first_token_p95, tokens, cost, traces, eval_rate, eval_score. Default: "
                 "count,errors,latency_p95,tokens,cost."},
         {.name = "--bucket", .value = "DURATION", .doc = "Duration of one bar. Default: about 60 bars."},
         {.name = "--group-by",
          .value = "FIELD",
          .doc = "One row per value of this field: model, name, attributes[\"key\"]."},
         {.name = "--groups", .value = "NUMBER", .doc = "Number of groups, the largest first. Default: 20."},
         {.name = "--eval", .value = "NAME", .doc = "Name of the eval, for eval_rate and eval_score."},
         {.name = "--eval-label", .value = "LABEL", .doc = "Label of the eval, for eval_rate."},
         {.name = "--eval-target",
          .value = "TARGET",
          .doc = "Target of the eval: span, trace or chat_session. Default: span."}});
    return {{.path = "series",
             .summary = "Show metrics over time: counts, errors, latency, tokens, cost, evals.",
             .options = std::move(options),
             .details = "hone series -p shop --metrics latency_p95,error_rate --group-by model --after 7d",
             .topic = trace_topic,
             .run = show_series}};
}

} // namespace hone::cli
