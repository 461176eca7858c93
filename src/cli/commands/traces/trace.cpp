// One trace in the terminal: its tree and waterfall, or one of its spans with what went in and came out.
#include "base/text.h"
#include "cli/remote/view.h"
#include "cli/terminal/amount.h"
#include "cli/terminal/display.h"
#include "cli/terminal/table.h"
#include "cli/terminal/waterfall.h"
#include "cli/toolkit/scope.h"

#include <algorithm>

namespace hone::cli {

namespace {

constexpr size_t bar_width = 32;
constexpr size_t narrow_terminal = 90; // below, bars would leave no room for names

std::vector<WaterfallSpan> spans_of(const json::Array& rows) {
    std::vector<WaterfallSpan> spans;
    for (const auto& row : rows) {
        const auto start = parse_time(text_of(row, "start_time"));
        spans.push_back({text_of(row, "span_id"), text_of(row, "parent_id"), text_of(row, "name"),
                         start.ok() ? to_ns(start.value()) : 0, std::max<int64_t>(0, number_of(row, "duration_ns"))});
    }
    return spans;
}

std::string amount_or_nothing(int64_t amount, std::string (*show)(int64_t)) {
    return amount == 0 ? "" : show(amount);
}

std::string title_line(const Context& context, const json::Array& rows, const Waterfall& waterfall) {
    int64_t errors = 0, tokens = 0, cost = 0;
    for (const auto& row : rows) {
        errors += text_of(row, "status") == "error";
        tokens += number_of(row, "tokens.total");
        cost += number_of(row, "cost_nano_usd");
    }
    std::string text = duration_text(waterfall.end_ns - waterfall.start_ns) + " · " + std::to_string(rows.size()) +
                       (rows.size() == 1 ? " span" : " spans");
    if (tokens > 0) text += " · " + count_text(tokens) + " tokens";
    if (cost > 0) text += " · " + money_text((cost + 500) / 1000);
    if (errors > 0)
        text +=
            " · " + context.console.paint(Style::red, std::to_string(errors) + (errors == 1 ? " error" : " errors"));
    return text;
}

std::string name_cell(const json::Value& row, const WaterfallRow& place) {
    std::string name = place.branch + (text_of(row, "status") == "error" ? "✗ " : "") + safe_line(text_of(row, "name"));
    if (place.hidden > 0) name += "  (+" + std::to_string(place.hidden) + ")";
    return name;
}

void draw(const Context& context, const json::Array& rows, size_t depth) {
    const auto spans = spans_of(rows);
    const Waterfall waterfall = arrange(spans, depth);
    const size_t width = context.console.width();
    const bool has_bars = width == 0 || width >= narrow_terminal;
    std::vector<TableColumn> columns{{"NAME"},
                                     {"KIND", true},
                                     {"DURATION", true, true},
                                     {"MODEL"},
                                     {"TOKENS", true, true},
                                     {"COST", true, true},
                                     {"SPAN", true},
                                     {"0 … " + duration_text(waterfall.end_ns - waterfall.start_ns), true}};
    if (!has_bars) columns.pop_back();
    std::vector<std::vector<std::string>> cells;
    for (const auto& place : waterfall.rows) {
        const json::Value& row = rows[place.span];
        cells.push_back(
            {name_cell(row, place), safe_line(text_of(row, "kind")), duration_text(number_of(row, "duration_ns")),
             safe_line(text_of(row, "model")), amount_or_nothing(number_of(row, "tokens.total"), count_text),
             amount_or_nothing(number_of(row, "cost_micro_usd"), money_text), safe_line(text_of(row, "span_id"))});
        if (has_bars) cells.back().push_back(waterfall_bar(waterfall, spans[place.span], bar_width));
    }
    const auto lines = layout_table(columns, cells, width);
    std::string text =
        title_line(context, rows, waterfall) + "\n\n" + context.console.paint(Style::bold, lines.front()) + "\n";
    for (size_t i = 1; i < lines.size(); ++i) {
        const bool failed = text_of(rows[waterfall.rows[i - 1].span], "status") == "error";
        text += (failed ? context.console.paint(Style::red, lines[i]) : lines[i]) + "\n";
    }
    context.console.print(text);
}

std::string pretty(const std::string& text) {
    const auto parsed = json::parse(text);
    if (!parsed.ok() || !(parsed.value().is_object() || parsed.value().is_array())) return text;
    std::string printed = json::print_pretty(parsed.value());
    printed.erase(printed.find_last_not_of('\n') + 1);
    return printed;
}

void print_part(const Context& context, std::string_view title, const std::string& text) {
    if (trim(text).empty()) return;
    context.console.print("\n" + context.console.paint(Style::bold, title) + "\n" + safe_block(text) + "\n");
}

Result<> show_span(const Context& context, const std::string& span) {
    const std::string path = TRY(span_path(context, {"traces", context.value_or_empty("TRACE"), "spans", span}));
    const json::Value payload = TRY(context.remote.get(path, space_query(context)));
    if (context.json()) return show_record(context, payload, {});
    TRY(show_record(context, payload,
                    {{.title = "name", .field = "span.name"},
                     {.title = "kind", .field = "span.kind"},
                     {.title = "status", .field = "span.status"},
                     {.title = "message", .field = "span.status_message"},
                     {.title = "start", .field = "span.start_time", .kind = Kind::time},
                     {.title = "duration", .field = "span.duration_ns", .kind = Kind::duration},
                     {.title = "model", .field = "span.model"},
                     {.title = "tokens", .field = "span.tokens.total", .kind = Kind::count},
                     {.title = "cost", .field = "span.cost_micro_usd", .kind = Kind::money},
                     {.title = "session", .field = "span.session_id"},
                     {.title = "user", .field = "span.user_id"}}));
    print_part(context, "Exception", text_of(payload, "exception_message"));
    print_part(context, "Input", pretty(text_of(payload, "input")));
    print_part(context, "Output", pretty(text_of(payload, "output")));
    const auto* attributes = payload.is_object() ? payload.get_object().if_contains("attributes") : nullptr;
    if (attributes != nullptr) print_part(context, "Attributes", pretty(json::print(*attributes)));
    return {};
}

Result<> show_trace(Context& context) {
    if (const auto span = context.parsed.value("--span")) return show_span(context, *span);
    const auto depth = TRY(context.integer("--depth", 0));
    const std::string path = TRY(span_path(context, {"traces", context.value_or_empty("TRACE"), "skeleton"}));
    const json::Value skeleton = TRY(context.remote.get(path, space_query(context)));
    if (context.json()) return show_record(context, skeleton, {});
    const auto* spans = skeleton.is_object() ? skeleton.get_object().if_contains("spans") : nullptr;
    if (spans == nullptr || !spans->is_array()) return corrupt("the response of the server has no spans");
    draw(context, spans->get_array(), depth ? static_cast<size_t>(*depth) : SIZE_MAX);
    const auto* is_cut = skeleton.get_object().if_contains("is_cut");
    if (is_cut != nullptr && is_cut->is_bool() && is_cut->get_bool())
        context.console.note("The trace has more spans than the server returns in one response.\n");
    return {};
}

} // namespace

std::vector<Command> trace_commands() {
    return {{.path = "trace",
             .summary = "Show a trace as a tree with a bar for each span, or show one span.",
             .arguments = {{.name = "TRACE", .doc = "Id of the trace: 32 hexadecimal digits."}},
             .options = {project_option(),
                         {.name = "--span", .value = "SPAN", .doc = "Show this span: input, output, attributes."},
                         {.name = "--depth",
                          .value = "NUMBER",
                          .doc = "Levels to show; root spans are level 0. Default: all."}},
             .topic = trace_topic,
             .run = show_trace}};
}

} // namespace hone::cli
