// Log records of a project, and the metrics that its senders measured themselves.
#include "base/text.h"
#include "cli/remote/view.h"
#include "cli/terminal/amount.h"
#include "cli/terminal/display.h"
#include "cli/terminal/sparkline.h"
#include "cli/terminal/table.h"
#include "cli/toolkit/scope.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace hone::cli {

namespace {

constexpr int64_t metric_bars = 60;
constexpr int64_t metric_second = 1'000'000'000;

Result<> list_logs(Context& context) {
    Query query = space_query(context);
    query.emplace_back("after", TRY(moment(context, "--after")));
    query.emplace_back("before", TRY(moment(context, "--before")));
    query.emplace_back("text", context.value_or_empty("--text"));
    query.emplace_back("severity", context.value_or_empty("--severity"));
    query.emplace_back("service", context.value_or_empty("--service"));
    query.emplace_back("trace_id", context.value_or_empty("--trace"));
    return show_list(
        context, TRY(span_path(context, {"logs"})), std::move(query),
        {{.title = "time", .field = "time", .kind = Kind::time},
         {.title = "severity", .field = "severity"},
         {.title = "service", .field = "service"},
         {.title = "name", .field = "name"},
         {.title = "message", .field = "body"},
         {.title = "trace", .field = "trace_id", .kind = Kind::id}},
        "No log records match. docs/send-traces.md describes which log records are kept, and for how long.");
}

// What a bucket shows: the mean of a latency, else the increase.
std::optional<double> shown_value(const json::Value& bucket, bool is_latency) {
    const json::Value* value = member(bucket, is_latency ? "mean" : "sum");
    if (value == nullptr) return std::nullopt;
    if (value->is_double()) return value->get_double();
    return value->is_int64() ? std::optional(static_cast<double>(value->get_int64())) : std::nullopt;
}

std::string amount_text(double value, const std::string& unit) {
    if (!std::isfinite(value)) return "-";
    if (unit == "USD") return money_text(static_cast<int64_t>(std::llround(value * 1e6)));
    if (unit == "s") return duration_text(static_cast<int64_t>(value * 1e9));
    if (unit == "ms") return duration_text(static_cast<int64_t>(value * 1e6));
    if (value == std::floor(value) && std::abs(value) < 1e15) return count_text(static_cast<int64_t>(value));
    std::string text = std::to_string(value);
    text.resize(std::min(text.size(), text.find('.') + 4));
    return text;
}

void print_metric(const Context& context, const json::Value& series, int64_t from_ns, int64_t bucket_ns,
                  size_t columns) {
    const json::Value* buckets = member(series, "buckets");
    if (buckets == nullptr || !buckets->is_array() || buckets->get_array().empty()) {
        context.console.print("No points of this metric in this range. hone metrics lists those that arrived.\n");
        return;
    }
    const bool is_latency = text_of(series, "use") == "latency";
    const std::string unit = text_of(series, "unit");
    std::map<std::string, std::vector<std::optional<double>>> lines;
    for (const auto& bucket : buckets->get_array()) {
        const auto time = parse_time(text_of(bucket, "time"));
        if (!time.ok()) continue;
        const int64_t column = (to_ns(time.value()) - from_ns) / bucket_ns;
        if (column < 0 || column >= static_cast<int64_t>(columns)) continue;
        auto& line = lines[text_of(bucket, "group")];
        line.resize(columns);
        line[static_cast<size_t>(column)] = shown_value(bucket, is_latency);
    }
    std::vector<std::vector<std::string>> rows;
    for (const auto& [group, values] : lines) {
        double most = -INFINITY, sum = 0, last = NAN;
        int64_t known = 0;
        for (const auto& value : values) {
            if (!value) continue;
            most = std::max(most, *value), sum += *value, last = *value;
            ++known;
        }
        rows.push_back({group.empty() ? "(all)" : safe_line(group), sparkline(values), amount_text(most, unit),
                        amount_text(last, unit),
                        amount_text(is_latency ? sum / static_cast<double>(std::max<int64_t>(1, known)) : sum, unit)});
    }
    const std::vector<TableColumn> titles{{"GROUP"},
                                          {"EACH " + duration_text(bucket_ns), true},
                                          {"MAX", true, true},
                                          {"LAST", true, true},
                                          {is_latency ? "MEAN" : "TOTAL", true, true}};
    const auto table = layout_table(titles, rows, context.console.width());
    context.console.print(context.console.paint(Style::bold, table.front()) + "\n");
    for (size_t i = 1; i < table.size(); ++i) context.console.print(table[i] + "\n");
}

Result<> show_metrics(Context& context) {
    Query query = space_query(context);
    const int64_t now = to_ns(context.clock.now());
    const std::string after = TRY(moment(context, "--after")), before = TRY(moment(context, "--before"));
    int64_t from = now - 24 * 3600 * metric_second, to = now;
    if (!after.empty()) from = to_ns(TRY(parse_time(after)));
    if (!before.empty()) to = to_ns(TRY(parse_time(before)));
    if (to <= from) return context.usage("--before must be later than --after");
    query.emplace_back("after", to_text(from_ns(from)));
    query.emplace_back("before", to_text(from_ns(to)));
    const std::string metric = context.value_or_empty("METRIC");
    if (metric.empty())
        return show_list(
            context, TRY(span_path(context, {"metrics"})), std::move(query),
            {{.title = "metric", .field = "metric", .kind = Kind::id},
             {.title = "use", .field = "use"},
             {.title = "unit", .field = "unit"},
             {.title = "points", .field = "points", .kind = Kind::count},
             {.title = "last", .field = "last_time", .kind = Kind::time},
             {.title = "services", .field = "services", .kind = Kind::list}},
            "No metrics in this range. Metrics about models that an application sends over OTLP appear here.");
    const int64_t bucket = std::max<int64_t>(1, (to - from) / metric_bars / metric_second) * metric_second;
    query.emplace_back("metric", metric);
    query.emplace_back("bucket", std::to_string(bucket / metric_second) + "s");
    query.emplace_back("group_by", context.value_or_empty("--group-by"));
    const json::Value series =
        TRY(context.remote.get(TRY(span_path(context, {"metrics", "series"})), std::move(query)));
    const int64_t start = from / bucket * bucket;
    if (context.json())
        print_json(context, series);
    else
        print_metric(context, series, start, bucket, static_cast<size_t>((to - 1 - start) / bucket + 1));
    return {};
}

} // namespace

std::vector<Command> log_commands() {
    const Option after{
        .name = "--after", .value = "TIME", .doc = "Start of the range: a time, or a duration before now such as 2h."};
    const Option before{.name = "--before", .value = "TIME", .doc = "End of the range. Default: now."};
    return {{.path = "logs",
             .summary = "List log records, newest first.",
             .options = {project_option(),
                         {.name = "--text",
                          .value = "TEXT",
                          .doc = "Part of the message, the name or the attributes, in any case."},
                         {.name = "--severity",
                          .value = "LEVEL",
                          .doc = "This level or worse.",
                          .choices = {"trace", "debug", "info", "warn", "error", "fatal"}},
                         {.name = "--service", .value = "NAME", .doc = "Only records of this service."},
                         {.name = "--trace", .value = "TRACE", .doc = "Only records that name a span of this trace."},
                         after,
                         before},
             .details = "Events of model calls are on their spans instead: hone trace shows them.\n"
                        "Example: hone logs -p shop --severity warn --after 2h",
             .lists = true,
             .topic = trace_topic,
             .run = list_logs},
            {.path = "metrics",
             .summary = "List the metrics that senders measured, or show one over time.",
             .arguments = {{.name = "METRIC", .doc = "Name of a metric, to show it over time.", .optional = true}},
             .options = {project_option(),
                         {.name = "--group-by",
                          .value = "FIELD",
                          .doc = "One row per value: service, model, provider, type or attributes[\"key\"]."},
                         after,
                         before},
             .details = "The range is the last 24 hours if not given. hone series shows metrics of spans.\n"
                        "Example: hone metrics claude_code.token.usage -p shop --group-by type --after 7d",
             .topic = trace_topic,
             .run = show_metrics}};
}

} // namespace hone::cli
