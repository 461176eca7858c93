// Spans out of a project into a file: a stream, of which neither side holds more than a piece.
#include "cli/remote/download.h"
#include "cli/remote/view.h"
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

// Into the object store of the server: no byte of it passes through this machine.
Result<> export_to_store(Context& context, const std::string& format) {
    const std::string path = TRY(span_path(context, {"exports"}));
    Query query = TRY(span_query(context));
    query.emplace_back("format", format);
    const json::Value made = TRY(context.remote.perform(path, std::move(query)));
    return show_done(context, made,
                     "Export " + text_of(made, "name") +
                         " is in the object store. Read it with: hone exports download " + text_of(made, "name"));
}

Result<> list_exports(Context& context) {
    return show_list(context, TRY(span_path(context, {"exports"})), space_query(context),
                     {{"name", "name"},
                      {"size", "bytes", Kind::bytes},
                      {"created", "created_at", Kind::time},
                      {"expires", "expires_at", Kind::time}},
                     "No export of the project is in the object store. Write one with: hone export --output store:");
}

Result<> download_export(Context& context) {
    const std::string name = context.value_or_empty("NAME");
    Call call;
    call.path = TRY(span_path(context, {"exports", name, "content"}));
    call.query = space_query(context);
    return download_to_file(context, call, "", context.parsed.value("--output").value_or(name));
}

Result<> delete_export(Context& context) {
    const std::string name = context.value_or_empty("NAME");
    const std::string path = TRY(span_path(context, {"exports", name}));
    TRY(context.confirm("This deletes the export " + name + " from the object store.", name));
    TRY(context.remote.remove(path, space_query(context)));
    return show_done(context, json::Object{{"name", name}}, "Export " + name + " deleted.");
}

Result<> export_spans(Context& context) {
    const std::string file = context.parsed.value("--output").value_or("-");
    const std::string format = format_of(context, file);
    if (file == "store:") return export_to_store(context, format);
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
                                    .doc = "File to write, or store: for the object store of the server "
                                           "(docs/object-store.md). Default: standard output.",
                                    .short_name = "-o"});
                 return options;
             }(),
         .details = "hone export -p shop --after 24h -o shop.parquet",
         .topic = trace_topic,
         .run = export_spans},
        {.path = "exports",
         .summary = "List the exports of a project in the object store.",
         .options = {project_option()},
         .details = "hone export --output store: writes one. The server deletes them after export_lifetime.",
         .lists = true,
         .topic = trace_topic,
         .run = list_exports},
        {.path = "exports download",
         .summary = "Read an export in the object store into a file.",
         .arguments = {{.name = "NAME", .doc = "Name of the export, as hone exports shows it."}},
         .options = {project_option(),
                     {.name = "--output",
                      .value = "FILE",
                      .doc = "File to write. Default: the name of the export.",
                      .short_name = "-o"}},
         .run = download_export},
        {.path = "exports delete",
         .summary = "Delete an export from the object store.",
         .arguments = {{.name = "NAME", .doc = "Name of the export, as hone exports shows it."}},
         .options = {project_option()},
         .destructive = true,
         .run = delete_export},
    };
}

} // namespace hone::cli
