// SQL over one project's spans: a table for people, or the engine's own formats as they are.
#include "base/text.h"
#include "cli/remote/download.h"
#include "cli/remote/view.h"
#include "cli/terminal/amount.h"
#include "cli/terminal/display.h"
#include "cli/terminal/table.h"
#include "cli/toolkit/input.h"
#include "cli/toolkit/scope.h"

namespace hone::cli {

namespace {

constexpr size_t max_sql = 1 << 20;
constexpr size_t max_table = 64 << 20;

std::string_view type_of(std::string_view format) {
    if (format == "csv") return "text/csv";
    if (format == "json_lines") return "application/x-ndjson";
    if (format == "arrow") return "application/vnd.apache.arrow.file";
    if (format == "parquet") return "application/vnd.apache.parquet";
    return "application/json";
}

bool is_binary(std::string_view format) {
    return format == "arrow" || format == "parquet";
}

std::string cell_text(const json::Value* value) {
    if (value == nullptr || value->is_null()) return "NULL";
    if (value->is_double()) return decimal_text(value->get_double());
    return safe_line(value->is_string() ? std::string(value->get_string()) : json::print(*value));
}

// {"meta":[{"name","type"}],"data":[{…}],"rows":…}
Result<> print_result(const Context& context, const std::string& answer) {
    const json::Value parsed = TRY(json::parse(answer));
    const auto* meta = parsed.is_object() ? parsed.get_object().if_contains("meta") : nullptr;
    const auto* data = parsed.is_object() ? parsed.get_object().if_contains("data") : nullptr;
    if (meta == nullptr || !meta->is_array() || data == nullptr || !data->is_array())
        return corrupt("the response of the server is not a table");
    if (context.json()) {
        print_json(context, *data);
        return {};
    }
    std::vector<TableColumn> columns;
    std::vector<std::string> names;
    for (const auto& column : meta->get_array()) {
        const std::string type = text_of(column, "type");
        const bool is_number = type.find("Int") != std::string::npos || type.find("Float") != std::string::npos ||
                               type.find("Decimal") != std::string::npos;
        names.push_back(text_of(column, "name"));
        columns.push_back({safe_line(names.back()), is_number, is_number && !type.starts_with("Array")});
    }
    std::vector<std::vector<std::string>> rows;
    for (const auto& row : data->get_array()) {
        std::vector<std::string> cells;
        for (const auto& name : names)
            cells.push_back(cell_text(row.is_object() ? row.get_object().if_contains(name) : nullptr));
        rows.push_back(std::move(cells));
    }
    const auto lines = layout_table(columns, rows, context.console.width());
    for (size_t i = 0; i < lines.size(); ++i)
        context.console.print((i == 0 ? context.console.paint(Style::bold, lines[i]) : lines[i]) + "\n");
    const auto* cut = parsed.get_object().if_contains("rows_before_limit_at_least");
    const std::string count = std::to_string(rows.size()) + (rows.size() == 1 ? " row" : " rows");
    const bool more = cut != nullptr && cut->is_int64() && cut->get_int64() > static_cast<int64_t>(rows.size());
    context.console.note(context.console.paint_note(Style::dim, count + (more ? ", and more" : "") + "\n"));
    return {};
}

Result<std::string> sql_text(const Context& context) {
    if (auto given = context.parsed.value("QUERY"); given && *given != "-") return *given;
    Input input = TRY(Input::open(context, context.parsed.value("--file").value_or("-")));
    std::string text = TRY(input.read_all(max_sql));
    if (trim(text).empty())
        return context.usage("the query is missing: give it as an argument, with --file or on standard input");
    return text;
}

Result<> ask_sql(Context& context) {
    const std::string file = context.parsed.value("--output").value_or("-");
    const std::string format = context.parsed.value("--format").value_or(context.json() ? "json" : "table");
    const bool is_table = format == "table" || (format == "json" && file == "-");
    if (is_table && file != "-") return context.usage("--output needs a --format other than table");
    if (context.json() && format != "json" && file == "-")
        return context.usage("--json and --format contradict each other: leave out one of them");
    if (is_binary(format) && file == "-" && context.console.is_output_terminal())
        return context.usage(format + " is binary: give --output FILE or use a pipe");
    json::Object body;
    body["project"] = TRY(span_project(context));
    body["sql"] = TRY(sql_text(context));
    body["format"] = format == "table" ? "json" : format;
    if (const auto limit = TRY(context.integer("--limit", 1))) body["limit"] = *limit;
    const Call call{.method = "POST", .path = "/v1/sql", .query = space_query(context), .body = std::move(body)};
    if (!is_table && file != "-") return download_to_file(context, call, type_of(format), file);
    if (!is_table && is_binary(format)) return download_to_file(context, call, type_of(format), "-");
    if (!is_table) return download_to_console(context, call, type_of(format));
    std::string answer;
    TRY(context.remote.stream(call, "application/json", [&](std::string_view piece) -> Result<> {
        answer += piece;
        if (answer.size() > max_table) return too_large("the result is too long for a table; use --format json_lines");
        return {};
    }));
    if (format == "json" && !context.json()) {
        context.console.print(context.console.is_output_terminal() ? safe_json(answer) : answer);
        return {};
    }
    return print_result(context, answer);
}

} // namespace

std::vector<Command> sql_commands() {
    return {{.path = "sql",
             .summary = "Run one SELECT over spans, evals, traces, chat_sessions, logs and metric_points of a project.",
             .arguments = {{.name = "QUERY", .doc = "The query. Default: read from standard input.", .optional = true}},
             .options = {project_option(),
                         {.name = "--format",
                          .value = "FORMAT",
                          .doc = "Format of the result. Default: table.",
                          .choices = {"table", "csv", "json", "json_lines", "arrow", "parquet"}},
                         {.name = "--output",
                          .value = "FILE",
                          .doc = "File to write. Default: standard output.",
                          .short_name = "-o"},
                         {.name = "--file", .value = "FILE", .doc = "Read the query from this file."},
                         {.name = "--limit",
                          .value = "NUMBER",
                          .doc = "Maximum number of rows, up to 100000. Default: 10000."}},
             .details = "hone sql -p shop 'SELECT model, count() AS spans, sum(cost_nano_usd) / 1e9 AS usd FROM spans "
                        "GROUP BY model ORDER BY usd DESC'",
             .topic = trace_topic,
             .run = ask_sql}};
}

} // namespace hone::cli
