// Spans out of a project into a file: a stream, of which neither side holds more than a piece.
#include "cli/remote/download.h"
#include "cli/toolkit/scope.h"

namespace hone::cli {

namespace {

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
    };
}

} // namespace hone::cli
