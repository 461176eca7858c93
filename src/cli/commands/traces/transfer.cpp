// Spans out of a project into a file, and back in. Both are streams: neither side holds more than a piece.
#include "cli/remote/download.h"
#include "cli/remote/progress.h"
#include "cli/remote/view.h"
#include "cli/terminal/amount.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/input.h"
#include "cli/toolkit/scope.h"

namespace hone::cli {

namespace {

constexpr size_t most_shown_problems = 20;

// By the name of the file, unless --format is given.
std::string format_of(const Context& context, const std::string& file) {
    if (const auto given = context.parsed.value("--format")) return *given;
    if (file.ends_with(".parquet")) return "parquet";
    if (file.ends_with(".pb")) return "otlp_proto";
    if (file.ends_with(".otlp.json")) return "otlp";
    return "jsonl";
}

Result<> export_spans(Context& context) {
    const std::string file = context.parsed.value("--output").value_or("-");
    const std::string format = format_of(context, file);
    const bool is_binary = format == "parquet" || format == "otlp_proto";
    if (is_binary && file == "-" && context.console.is_output_terminal())
        return context.usage(format + " is binary: give --output FILE or use a pipe");
    if (file == "-" && context.json())
        return context.usage(
            "--json cannot be used with -: the spans are written to standard output; give --output FILE");
    Call call;
    call.path = TRY(span_path(context, {"export"}));
    call.query = TRY(span_query(context));
    call.query.emplace_back("format", format);
    if (file == "-" && !is_binary) return download_to_console(context, call, "");
    return download_to_file(context, call, "", file);
}

// {"accepted","rejected","problems":[{"line","reason"}]}: what could not be taken, and why.
Result<> report(const Context& context, const json::Value& outcome) {
    const int64_t rejected = number_of(outcome, "rejected");
    if (context.json())
        print_json(context, outcome);
    else
        context.print("Imported " + std::to_string(number_of(outcome, "accepted")) + " spans" +
                      (rejected > 0 ? ", rejected " + std::to_string(rejected) + "." : "."));
    if (rejected == 0) return {};
    const auto* problems = outcome.is_object() ? outcome.get_object().if_contains("problems") : nullptr;
    if (problems != nullptr && problems->is_array() && !context.json()) {
        size_t shown = 0;
        for (const auto& problem : problems->get_array()) {
            if (shown++ == most_shown_problems) break;
            context.console.note("line " + std::to_string(number_of(problem, "line")) + ": " +
                                 safe_line(text_of(problem, "reason")) + "\n");
        }
    }
    return context.fail(Exit::refused, std::to_string(rejected) + " spans were rejected; the others were imported",
                        "correct them and import the file again: spans that are already stored are skipped");
}

Result<> import_spans(Context& context) {
    const std::string file = context.value_or_empty("FILE");
    Input input = TRY(Input::open(context, file));
    std::string path = TRY(span_path(context, {"import"}));
    Call call{.method = "POST", .path = std::move(path), .query = space_query(context)};
    call.query.emplace_back("format", format_of(context, file));
    call.headers.push_back({"Content-Type", "application/octet-stream"});
    Progress progress(context, "", bytes_text);
    progress.set_whole(input.size());
    auto reply = context.remote.upload(
        call,
        [&]() -> Result<std::string> {
            std::string piece = TRY(input.read());
            progress.add(piece.size());
            return piece;
        },
        input.size());
    progress.finish();
    if (!reply.ok()) return std::move(reply).error();
    return report(context, reply.value().data);
}

} // namespace

std::vector<Command> transfer_commands() {
    return {
        {.path = "export",
         .summary = "Write the spans of a project to a file, attributes and types unchanged.",
         .options =
             [] {
                 auto options = span_options();
                 options.push_back({.name = "--format",
                                    .value = "FORMAT",
                                    .doc = "Format of the file. Default: from the file name, or jsonl.",
                                    .choices = {"jsonl", "parquet", "otlp", "otlp_proto"}});
                 options.push_back({.name = "--output",
                                    .value = "FILE",
                                    .doc = "File to write. Default: standard output.",
                                    .short_name = "-o"});
                 return options;
             }(),
         .details = "hone export -p shop --after 24h -o shop.parquet",
         .topic = trace_topic,
         .run = export_spans},
        {.path = "import",
         .summary = "Import spans from a file into a project. Spans that are already stored are skipped.",
         .arguments = {{.name = "FILE", .doc = "File written by hone export or Phoenix; - is standard input."}},
         .options = {project_option(),
                     {.name = "--format",
                      .value = "FORMAT",
                      .doc = "Format of the file. Default: from the file name, or jsonl.",
                      .choices = {"jsonl", "parquet", "phoenix", "otlp", "otlp_proto"}}},
         .topic = trace_topic,
         .run = import_spans},
    };
}

} // namespace hone::cli
