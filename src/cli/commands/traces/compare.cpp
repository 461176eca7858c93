// Two windows of time side by side: did errors, latency, tokens or cost change, and for which spans or models?
#include "base/text.h"
#include "cli/remote/view.h"
#include "cli/terminal/display.h"
#include "cli/terminal/metric.h"
#include "cli/terminal/table.h"
#include "cli/toolkit/scope.h"

#include <array>

namespace hone::cli {

namespace {

using Cells = std::vector<std::string>;

constexpr std::array grouped_metrics{
    std::pair{"count", "SPANS"},     std::pair{"errors", "ERRORS"}, std::pair{"latency_p50", "P50"},
    std::pair{"latency_p95", "P95"}, std::pair{"tokens", "TOKENS"}, std::pair{"cost", "COST"},
};

const json::Array& array_at(const json::Value& object, std::string_view field) {
    static const json::Array none;
    const auto* value = object.is_object() ? object.get_object().if_contains(field) : nullptr;
    return value != nullptr && value->is_array() ? value->get_array() : none;
}

struct Difference {
    std::string metric;
    std::optional<double> baseline;
    std::optional<double> current;
};

std::optional<double> number_at(const json::Value& object, std::string_view field) {
    const auto* value = object.is_object() ? object.get_object().if_contains(field) : nullptr;
    if (value != nullptr && value->is_double()) return value->get_double();
    if (value != nullptr && value->is_int64()) return static_cast<double>(value->get_int64());
    return std::nullopt;
}

std::vector<Difference> differences_of(const json::Value& change) {
    std::vector<Difference> differences;
    for (const auto& metric : array_at(change, "metrics"))
        differences.push_back({text_of(metric, "metric"), number_at(metric, "baseline"), number_at(metric, "current")});
    return differences;
}

std::string value_text(const Difference& difference, std::optional<double> value) {
    return value ? metric_text(difference.metric, *value) : "-";
}

// The verdict is a word and not only a colour, so that it survives a pipe.
std::string verdict_text(const Difference& difference) {
    switch (change_verdict(difference.metric, difference.baseline, difference.current)) {
    case Verdict::better:
        return "better";
    case Verdict::worse:
        return "worse";
    case Verdict::same:
    case Verdict::other:
        return "";
    }
    return "";
}

void print_comparison(const Context& context, const std::vector<TableColumn>& columns, const std::vector<Cells>& rows) {
    const auto table = layout_table(columns, rows, context.console.width());
    context.console.print(context.console.paint(Style::bold, table.front()) + "\n");
    for (size_t i = 1; i < table.size(); ++i) {
        std::string_view line = table[i];
        while (line.ends_with(' ')) line.remove_suffix(1);
        if (line.ends_with("worse"))
            context.console.print(context.console.paint(Style::red, line));
        else if (line.ends_with("better"))
            context.console.print(context.console.paint(Style::green, line));
        else
            context.console.print(line);
        context.console.print("\n");
    }
}

void print_all(const Context& context, const json::Value& all) {
    std::vector<Cells> rows;
    for (const auto& difference : differences_of(all))
        rows.push_back({safe_line(difference.metric), value_text(difference, difference.baseline),
                        value_text(difference, difference.current),
                        change_text(difference.baseline, difference.current), verdict_text(difference)});
    print_comparison(
        context, {{"METRIC", true}, {"BEFORE", true, true}, {"NOW", true, true}, {"CHANGE", true, true}, {"", true}},
        rows);
}

// What it is now, and how that differs: "34 ms +12 %".
std::string now_text(const std::vector<Difference>& differences, std::string_view metric) {
    for (const auto& difference : differences) {
        if (difference.metric != metric) continue;
        const std::string change = change_text(difference.baseline, difference.current);
        const std::string value = value_text(difference, difference.current);
        return change.empty() || change == "same" ? value : value + " " + change;
    }
    return "-";
}

void print_groups(const Context& context, const json::Value& comparison) {
    std::vector<TableColumn> columns{{safe_line(context.value_or_empty("--group-by")), false}};
    for (const auto& [metric, title] : grouped_metrics) columns.push_back({title, true, true});
    std::vector<Cells> rows;
    for (const auto& group : array_at(comparison, "groups")) {
        const std::string name = text_of(group, "group");
        Cells row{name.empty() ? "(none)" : safe_line(name)};
        const auto differences = differences_of(group);
        for (const auto& [metric, title] : grouped_metrics) row.push_back(now_text(differences, metric));
        rows.push_back(std::move(row));
    }
    if (rows.empty()) return;
    context.console.print("\n");
    print_comparison(context, columns, rows);
    const auto* cut = comparison.get_object().if_contains("is_cut");
    if (cut != nullptr && cut->is_bool() && cut->get_bool())
        context.console.note("Smaller groups are not shown; --groups shows more.\n");
}

bool is_empty(const json::Value& all) {
    for (const auto& difference : differences_of(all))
        if (difference.metric == "count")
            return difference.baseline.value_or(0) == 0 && difference.current.value_or(0) == 0;
    return true;
}

void print_comparison(const Context& context, const json::Value& comparison) {
    if (!comparison.is_object() || !comparison.get_object().contains("all")) return;
    const auto& all = comparison.get_object().at("all");
    const auto window = [&](std::string_view after, std::string_view before) {
        return safe_line(text_of(comparison, after).substr(0, 19)) + " to " +
               safe_line(text_of(comparison, before).substr(0, 19));
    };
    context.console.print("Before: " + window("baseline_after", "baseline_before") +
                          "\nNow:    " + window("after", "before") + "\n");
    if (is_empty(all)) {
        context.console.print("No spans in either window.\n");
        return;
    }
    context.console.print("\n");
    print_all(context, all);
    print_groups(context, comparison);
}

// --ago moves the whole window; without it the server takes the window just before.
Result<> add_baseline(const Context& context, Query& query) {
    const auto ago = context.parsed.value("--ago");
    const std::string after = TRY(moment(context, "--baseline-after"));
    const std::string before = TRY(moment(context, "--baseline-before"));
    if (!ago) {
        query.emplace_back("baseline_after", after);
        query.emplace_back("baseline_before", before);
        return {};
    }
    if (!after.empty() || !before.empty())
        return context.usage("--ago already defines the other window: leave out --baseline-after and -before");
    const auto shift = parse_duration_ns(*ago);
    if (!shift.ok() || shift.value() <= 0) return context.usage("--ago must be a duration, such as 7d");
    Time end = context.clock.now();
    std::optional<Time> begin;
    for (const auto& [name, value] : query) {
        if (name == "before" && !value.empty()) end = TRY(parse_time(value));
        if (name == "after" && !value.empty()) begin = TRY(parse_time(value));
    }
    const Duration back = std::chrono::nanoseconds(shift.value());
    query.emplace_back("baseline_after", to_text(begin.value_or(end - std::chrono::hours(24)) - back));
    query.emplace_back("baseline_before", to_text(end - back));
    return {};
}

Result<> show_comparison(Context& context) {
    Query query = TRY(span_query(context));
    TRY(add_baseline(context, query));
    query.emplace_back("group_by", context.value_or_empty("--group-by"));
    query.emplace_back("groups", context.value_or_empty("--groups"));
    const json::Value comparison = TRY(context.remote.get(TRY(span_path(context, {"compare"})), std::move(query)));
    if (context.json())
        print_json(context, comparison);
    else
        print_comparison(context, comparison);
    return {};
}

} // namespace

std::vector<Command> compare_commands() {
    std::vector<Option> options = span_options();
    for (Option& option : options) {
        if (option.name == "--after")
            option.doc = "Start of the window: a time, or a duration before now such as 2h. Default: 24h.";
        if (option.name == "--before") option.doc = "End of the window. Default: now.";
    }
    options.insert(
        options.end(),
        {{.name = "--ago", .value = "DURATION", .doc = "Compare with the same window this much earlier: --ago 7d."},
         {.name = "--baseline-after",
          .value = "TIME",
          .doc = "Start of the window to compare with. Default: the same length as the other window."},
         {.name = "--baseline-before",
          .value = "TIME",
          .doc = "End of the window to compare with. Default: the start of the other window."},
         {.name = "--group-by",
          .value = "FIELD",
          .doc = "One row per value of this field: model, name, attributes[\"key\"]."},
         {.name = "--groups", .value = "NUMBER", .doc = "Number of groups, the largest first. Default: 20."}});
    return {{.path = "compare",
             .summary = "Compare errors, latency, tokens and cost of two time windows.",
             .options = std::move(options),
             .details = "hone compare -p shop --after 24h --ago 7d --group-by model",
             .topic = trace_topic,
             .run = show_comparison}};
}

} // namespace hone::cli
