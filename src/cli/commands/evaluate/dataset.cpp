// Datasets: examples with versions, out of files and spans and back into files.
#include "base/text.h"
#include "cli/commands/evaluate/foreign_datasets.h"
#include "cli/remote/download.h"
#include "cli/remote/progress.h"
#include "cli/remote/view.h"
#include "cli/terminal/amount.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/input.h"
#include "cli/toolkit/scope.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::cli {

namespace {

const Argument dataset_argument{.name = "DATASET", .doc = "Id or name of the dataset."};
const Option version_option{.name = "--version", .value = "VERSION", .doc = "Number or id. Default: the newest."};

Columns dataset_columns() {
    return {
        {.title = "name", .field = "name"},
        {.title = "examples", .field = "example_count", .kind = Kind::count},
        {.title = "version", .field = "version", .kind = Kind::number},
        {.title = "updated", .field = "updated_at", .kind = Kind::time},
        {.title = "created", .field = "created_at", .kind = Kind::time, .only_single = true},
        {.title = "description", .field = "description"},
        {.title = "id", .field = "id", .only_single = true},
    };
}

Columns dataset_version_columns() {
    return {
        {.title = "version", .field = "number", .kind = Kind::number},
        {.title = "examples", .field = "example_count", .kind = Kind::count},
        {.title = "added", .field = "created", .kind = Kind::count},
        {.title = "changed", .field = "patched", .kind = Kind::count},
        {.title = "deleted", .field = "deleted", .kind = Kind::count},
        {.title = "source", .field = "source"},
        {.title = "by", .field = "created_by"},
        {.title = "created", .field = "created_at", .kind = Kind::time},
        {.title = "note", .field = "description"},
    };
}

std::string dataset_path(const Context& context, std::vector<std::string> rest = {}) {
    rest.insert(rest.begin(), context.value_or_empty("DATASET"));
    return path_of("/v1/datasets", rest);
}

Query with_version(const Context& context) {
    Query query = space_query(context);
    query.emplace_back("version_id", context.value_or_empty("--version"));
    return query;
}

Result<> list_datasets(Context& context) {
    return show_list(context, "/v1/datasets", space_query(context), dataset_columns(),
                     "No datasets. Import a file:\n  hone dataset push shop-tickets tickets.csv");
}

Result<> show_dataset(Context& context) {
    return show_record(context, TRY(context.remote.get(dataset_path(context), space_query(context))),
                       dataset_columns());
}

Result<> list_dataset_versions(Context& context) {
    return show_list(context, dataset_path(context, {"versions"}), space_query(context), dataset_version_columns(),
                     "No versions.");
}

Result<> show_uploaded(const Context& context, const json::Value& done) {
    const int64_t redacted = number_of(done, "num_redacted_texts");
    return show_done(
        context, done,
        fmt::format("Added {}, changed {}, deleted {} examples.{}", number_of(done, "num_created_examples"),
                    number_of(done, "num_updated_examples"), number_of(done, "num_deleted_examples"),
                    redacted == 0 ? "" : fmt::format(" Credentials were removed from {} texts.", redacted)));
}

Result<> push_dataset(Context& context) {
    const std::string file = context.value_or_empty("FILE");
    std::string plain = file;
    const bool is_packed = plain.ends_with(".gz");
    if (is_packed) plain.resize(plain.size() - 3);
    const std::string format = context.parsed.value("--format").value_or(plain.ends_with(".csv") ? "csv" : "jsonl");
    Input input = TRY(Input::open(context, file));
    Call call{.method = "POST", .path = "/v1/datasets/import", .query = space_query(context)};
    call.query.emplace_back("name", context.value_or_empty("NAME"));
    call.query.emplace_back("action", context.parsed.value("--action").value_or("append"));
    call.query.emplace_back("format", format);
    call.headers.push_back({"Content-Type", "application/octet-stream"});
    if (is_packed) call.headers.push_back({"Content-Encoding", "gzip"});
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
    return show_uploaded(context, reply.value().data);
}

constexpr size_t largest_foreign_file = 256 << 20;

Result<> import_dataset(Context& context) {
    const auto format = parse_enum<ForeignFormat>(context.value_or_empty("--from"));
    if (!format)
        return context.usage(
            "give the tool that wrote the file: --from promptfoo, openai-evals, langfuse or langsmith");
    Input input = TRY(Input::open(context, context.value_or_empty("FILE")));
    const auto read = read_foreign(*format, TRY(input.read_all(largest_foreign_file)));
    if (!read.ok()) return context.fail(Exit::refused, context.value_or_empty("FILE") + ": " + read.error().message);
    const ForeignRows& found = read.value();
    if (context.parsed.has("--dry-run")) {
        json::Array shown;
        for (const json::Object& row : found.rows) shown.push_back(row);
        if (context.json()) {
            print_json(context, shown);
            return {};
        }
        context.print(fmt::format("{} examples; nothing was stored.", found.rows.size()));
        for (const std::string& note : found.notes) context.print("Note: " + note + ".");
        for (size_t i = 0; i < std::min<size_t>(found.rows.size(), 3); ++i)
            context.print(safe_line(std::string(truncate_utf8(json::print(found.rows[i]), 500))));
        return {};
    }
    Call call{.method = "POST", .path = "/v1/datasets/import", .query = space_query(context)};
    call.query.emplace_back("name", context.value_or_empty("NAME"));
    call.query.emplace_back("action", context.parsed.value("--action").value_or("append"));
    call.query.emplace_back("format", "jsonl");
    call.headers.push_back({"Content-Type", "application/octet-stream"});
    size_t next = 0;
    const auto reply = context.remote.upload(
        call,
        [&]() -> Result<std::string> {
            std::string piece;
            while (next < found.rows.size() && piece.size() < (256 << 10))
                piece += json::print(found.rows[next++]) + "\n";
            return piece;
        },
        std::nullopt);
    if (!reply.ok()) return reply.error();
    TRY(show_uploaded(context, reply.value().data));
    for (const std::string& note : found.notes) context.print("Note: " + note + ".");
    return {};
}

// Shows the schema, or sets it from a file.
Result<> dataset_schema(Context& context) {
    const std::string path = dataset_path(context, {"schema"});
    if (!context.parsed.value("FILE") && !context.parsed.has("--clear")) {
        print_json(context, TRY(context.remote.get(path, space_query(context))));
        return {};
    }
    json::Object body;
    if (context.parsed.has("--clear")) {
        body["schema"] = nullptr;
    } else {
        Input input = TRY(Input::open(context, context.value_or_empty("FILE")));
        auto schema = json::parse(TRY(input.read_all(1 << 20)));
        if (!schema.ok())
            return context.fail(Exit::refused, context.value_or_empty("FILE") + ": " + schema.error().message);
        body["schema"] = std::move(schema).value();
    }
    const Reply reply = TRY(context.remote.call(
        {.method = "PUT", .path = path, .query = space_query(context), .body = json::Value(std::move(body))}));
    return show_done(context, reply.data, context.parsed.has("--clear") ? "Removed the schema." : "Set the schema.");
}

Result<> pull_dataset(Context& context) {
    const std::string file = context.parsed.value("--output").value_or("-");
    const std::string format = context.parsed.value("--format").value_or(file.ends_with(".csv") ? "csv" : "jsonl");
    if (file == "-" && context.json())
        return context.usage("--json cannot be used with -: the examples are written to standard output; give --output "
                             "FILE");
    Call call;
    call.path = format == "csv"            ? dataset_path(context, {"csv"})
                : format == "openai-ft"    ? dataset_path(context, {"jsonl", "openai_ft"})
                : format == "openai-evals" ? dataset_path(context, {"jsonl", "openai_evals"})
                                           : dataset_path(context, {"jsonl"});
    call.query = with_version(context);
    if (file == "-") return download_to_console(context, call, "");
    return download_to_file(context, call, "", file);
}

Result<> add_spans_to_dataset(Context& context) {
    json::Object body{{"name", context.value_or_empty("NAME")}};
    body["project"] = TRY(span_project(context));
    if (const auto filter = context.parsed.value("--filter")) body["filter"] = *filter;
    if (const std::string after = TRY(moment(context, "--after")); !after.empty()) body["after"] = after;
    if (const std::string before = TRY(moment(context, "--before")); !before.empty()) body["before"] = before;
    if (const auto most = TRY(context.integer("--most", 1))) body["limit"] = *most;
    if (const auto split = context.parsed.value("--split")) body["splits"] = json::Array{json::Value(*split)};
    return show_uploaded(context,
                         TRY(context.remote.post("/v1/datasets/from_spans", std::move(body), space_query(context))));
}

Result<> add_turns_to_dataset(Context& context) {
    if (!context.parsed.value("--session") && !context.parsed.value("--trace"))
        return context.usage("give --session, or --trace for one turn");
    json::Object body{{"name", context.value_or_empty("NAME")}};
    body["project"] = TRY(span_project(context));
    if (const auto session = context.parsed.value("--session")) body["session"] = *session;
    json::Array traces;
    for (const std::string& trace : context.parsed.all("--trace")) traces.emplace_back(trace);
    body["trace_ids"] = std::move(traces);
    if (const auto split = context.parsed.value("--split")) body["splits"] = json::Array{json::Value(*split)};
    return show_uploaded(
        context, TRY(context.remote.post("/v1/datasets/from_chat_session", std::move(body), space_query(context))));
}

Result<> compare_dataset_versions(Context& context) {
    Query query = space_query(context);
    query.emplace_back("from", context.value_or_empty("--from"));
    query.emplace_back("to", context.value_or_empty("--to"));
    const Items found =
        TRY(context.remote.list(dataset_path(context, {"diff"}), std::move(query),
                                context.parsed.has("--all") ? std::nullopt : std::optional<size_t>(100)));
    if (context.json()) {
        print_json(context, found.items);
        return {};
    }
    if (found.items.empty()) context.print("The versions have the same examples.");
    for (const json::Value& one : found.items) {
        const std::string change = text_of(one, "change");
        const std::string name = text_of(one, "external_id").empty() ? text_of(one, "id") : text_of(one, "external_id");
        context.print(safe_line((change == "added" ? "+ " : change == "removed" ? "- " : "~ ") + name));
        for (const char* side : {"before", "after"}) {
            const json::Value* content = one.is_object() ? one.get_object().if_contains(side) : nullptr;
            if (content == nullptr || content->is_null()) continue;
            context.print(
                safe_line(std::string("    ") + side + "  " + std::string(truncate_utf8(json::print(*content), 300))));
        }
    }
    if (found.more) context.print("There are more; use --all.");
    return {};
}

Result<> restore_dataset_version(Context& context) {
    const json::Value made =
        TRY(context.remote.post(dataset_path(context, {"restore"}),
                                json::Object{{"version_id", context.value_or_empty("VERSION")}}, space_query(context)));
    return show_done(context, made, fmt::format("Version {} is the newest now.", number_of(made, "number")));
}

Result<> delete_dataset(Context& context) {
    const json::Value before = TRY(context.remote.get(dataset_path(context), space_query(context)));
    const std::string name = text_of(before, "name");
    TRY(context.confirm(fmt::format("The dataset {} with {} examples, its experiments and their traces are deleted.",
                                    name, number_of(before, "example_count")),
                        name));
    const json::Value gone = TRY(context.remote.remove(dataset_path(context), space_query(context)));
    return show_done(context, gone, "Deleted dataset " + name + ".");
}

} // namespace

std::vector<Command> dataset_commands() {
    const Argument name{.name = "NAME", .doc = "Name of the dataset; it is made when there is none."};
    return {
        {.path = "dataset list", .summary = "List the datasets of a space.", .lists = true, .run = list_datasets},
        {.path = "dataset show", .summary = "Show a dataset.", .arguments = {dataset_argument}, .run = show_dataset},
        {.path = "dataset push",
         .summary = "Import examples from CSV or JSON lines, plain or gzip, as a new version.",
         .arguments = {name, {.name = "FILE", .doc = "File with examples; - is standard input."}},
         .options = {{.name = "--action",
                      .value = "ACTION",
                      .doc = "append adds and changes; update also deletes what the file lacks; create fails when the "
                             "dataset exists. Default: append.",
                      .choices = {"append", "update", "create"}},
                     {.name = "--format",
                      .value = "FORMAT",
                      .doc = "Format of the file. Default: from the file name.",
                      .choices = {"csv", "jsonl"}}},
         .details = "Columns or keys: input, output and metadata, or input.NAME and so on; id; split. Without them a "
                    "last column named like output or response is the output, and the others are the input. Example: "
                    "hone dataset push shop-tickets tickets.csv",
         .run = push_dataset},
        {.path = "dataset import",
         .summary = "Import the dataset of another tool: promptfoo, OpenAI Evals, Langfuse, LangSmith.",
         .arguments = {name, {.name = "FILE", .doc = "File that the tool wrote; - is standard input."}},
         .options = {{.name = "--from",
                      .value = "TOOL",
                      .doc = "Tool that wrote the file.",
                      .choices = {"promptfoo", "openai-evals", "langfuse", "langsmith"}},
                     {.name = "--action",
                      .value = "ACTION",
                      .doc = "As of `dataset push`. Default: append.",
                      .choices = {"append", "update", "create"}},
                     {.name = "--dry-run", .value = "", .doc = "Show the examples; store nothing."}},
         .details = "promptfoo: the tests of promptfooconfig.yaml. OpenAI Evals: JSON lines with input and ideal, or "
                    "item. Langfuse and LangSmith: the exported items as JSON or JSON lines. Example: hone dataset "
                    "import shop-tickets promptfooconfig.yaml --from promptfoo --dry-run",
         .run = import_dataset},
        {.path = "dataset schema",
         .summary = "Show or set the JSON Schemas that the examples of a dataset must fit.",
         .arguments = {dataset_argument,
                       {.name = "FILE",
                        .doc = "JSON file with schemas for input, output, metadata.",
                        .optional = true}},
         .options = {{.name = "--clear", .value = "", .doc = "Remove the schema."}},
         .run = dataset_schema},
        {.path = "dataset pull",
         .summary = "Write the examples of a version to a file.",
         .arguments = {dataset_argument},
         .options = {version_option,
                     {.name = "--format",
                      .value = "FORMAT",
                      .doc = "Format of the file. Default: from the file name, or jsonl.",
                      .choices = {"csv", "jsonl", "openai-ft", "openai-evals"}},
                     {.name = "--output",
                      .value = "FILE",
                      .doc = "File to write. Default: standard output.",
                      .short_name = "-o"}},
         .run = pull_dataset},
        {.path = "dataset add-spans",
         .summary = "Add the inputs and outputs of spans to a dataset; each span once.",
         .arguments = {name},
         .options = with(
             span_options(),
             {{.name = "--most", .value = "NUMBER", .doc = "At most this many spans, newest first. Default: 1000."},
              {.name = "--split", .value = "NAME", .doc = "Split of the new examples."}}),
         .details =
             "Without --filter the roots of traces are added. Example: hone dataset add-spans failures --project "
             "shop --filter 'status = error' --after 24h",
         .run = add_spans_to_dataset},
        {.path = "dataset add-turns",
         .summary = "Add turns of chat sessions to a dataset, each with the conversation before it.",
         .arguments = {name},
         .options =
             {project_option(),
              {.name = "--session", .value = "SESSION", .doc = "Chat session. Without --trace all its turns."},
              {.name = "--trace", .value = "TRACE", .doc = "Trace of a turn; can be repeated.", .repeated = true},
              {.name = "--split", .value = "NAME", .doc = "Split of the new examples."}},
         .details = "The input of such an example has the conversation as `messages`, oldest first. Example: hone "
                    "dataset add-turns talks --project shop --session visit-17",
         .run = add_turns_to_dataset},
        {.path = "dataset versions",
         .summary = "List the versions of a dataset.",
         .arguments = {dataset_argument},
         .lists = true,
         .run = list_dataset_versions},
        {.path = "dataset diff",
         .summary = "Show the examples that two versions have differently.",
         .arguments = {dataset_argument},
         .options = {{.name = "--from", .value = "VERSION", .doc = "First version. Default: the one before --to."},
                     {.name = "--to", .value = "VERSION", .doc = "Second version. Default: the newest."},
                     {.name = "--all", .value = "", .doc = "Show all differences."}},
         .run = compare_dataset_versions},
        {.path = "dataset restore",
         .summary = "Make a new version with the examples of an old one.",
         .arguments = {dataset_argument, {.name = "VERSION", .doc = "Number or id of the old version."}},
         .run = restore_dataset_version},
        {.path = "dataset delete",
         .summary = "Delete a dataset with its experiments and their traces.",
         .arguments = {dataset_argument},
         .destructive = true,
         .run = delete_dataset},
    };
}

} // namespace hone::cli
