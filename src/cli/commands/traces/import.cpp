// Spans into a project: files of Hone and of other products, and the spans of a running Phoenix. Streams, of which
// neither side holds more than a piece.
#include "base/text.h"
#include "cli/remote/progress.h"
#include "cli/remote/target.h"
#include "cli/remote/view.h"
#include "cli/terminal/amount.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/input.h"
#include "cli/toolkit/scope.h"

#include <map>
#include <sys/stat.h>

namespace hone::cli {

namespace {

constexpr size_t most_shown_problems = 20;
constexpr size_t longest_result = 64 << 20; // what the server takes
constexpr size_t phoenix_page = 200;        // spans

std::string imported_format(const Context& context, const std::string& file, std::string_view otherwise) {
    if (const auto given = context.parsed.value("--format")) return *given;
    if (file.ends_with(".parquet")) return "parquet";
    if (file.ends_with(".pb")) return "otlp_proto";
    if (file.ends_with(".otlp.json")) return "otlp";
    return std::string(otherwise);
}

// {"accepted","rejected","problems":[{"line","reason"}]}: what could not be taken, and why.
Result<> report(const Context& context, const json::Value& outcome) {
    const int64_t rejected = number_of(outcome, "rejected");
    const bool is_dry_run = context.parsed.has("--dry-run");
    if (context.json())
        print_json(context, outcome);
    else
        context.print((is_dry_run ? "Would import " : "Imported ") + std::to_string(number_of(outcome, "accepted")) +
                      " spans" + (rejected > 0 ? ", rejected " + std::to_string(rejected) + "." : ".") +
                      (is_dry_run ? " Nothing was stored." : ""));
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
    return context.fail(Exit::refused,
                        std::to_string(rejected) + " spans were rejected; the others were " +
                            (is_dry_run ? "read" : "imported"),
                        "correct them and import the file again: spans that are already stored are skipped");
}

using Pieces = std::function<Result<std::string>()>;

Result<> upload(const Context& context, const std::string& format, const Pieces& next, std::optional<uint64_t> size,
                const std::string& time = {}) {
    std::string path = TRY(span_path(context, {"import"}));
    Call call{.method = "POST", .path = std::move(path), .query = space_query(context)};
    call.query.emplace_back("format", format);
    call.query.emplace_back("dry_run", context.parsed.has("--dry-run") ? "true" : "");
    call.query.emplace_back("time", time);
    call.headers.push_back({"Content-Type", "application/octet-stream"});
    const auto reply = TRY(context.remote.upload(call, next, size));
    return report(context, reply.data);
}

Result<> upload_file(const Context& context, const std::string& file, const std::string& format,
                     const std::string& time = {}) {
    Input input = TRY(Input::open(context, file));
    Progress progress(context, "", bytes_text);
    progress.set_whole(input.size());
    return upload(
        context, format,
        [&]() -> Result<std::string> {
            std::string piece = TRY(input.read());
            progress.add(piece.size());
            if (piece.empty()) progress.finish();
            return piece;
        },
        input.size(), time);
}

Result<> import_file(Context& context) {
    const std::string file = context.value_or_empty("FILE");
    return upload_file(context, file, imported_format(context, file, "jsonl"));
}

Result<> import_langfuse(Context& context) {
    return upload_file(context, context.value_or_empty("FILE"), "langfuse");
}

Result<> import_langsmith(Context& context) {
    const std::string file = context.value_or_empty("FILE");
    return upload_file(context, file, imported_format(context, file, "langsmith"));
}

// --- Phoenix -------------------------------------------------------------------------------------------------------

// Pages of spans of Phoenix's REST API, each as JSON lines.
class PhoenixPages {
public:
    PhoenixPages(const Context& context, std::string url, Progress& progress)
        : m_context(context),
          m_path(std::move(url) + "/v1/projects/" +
                 percent_encode(context.parsed.value("--source-project").value_or("default")) + "/spans"),
          m_progress(progress) {}

    Result<std::string> next() {
        std::string lines;
        while (lines.empty() && !m_is_over) lines = TRY(read_page());
        if (lines.empty()) m_progress.finish();
        return lines;
    }

private:
    Result<std::string> read_page() {
        net::ClientRequest request;
        request.url = m_path + "?limit=" + std::to_string(phoenix_page) +
                      (m_cursor.empty() ? "" : "&cursor=" + percent_encode(m_cursor));
        request.headers.push_back({"Accept", "application/json"});
        if (const auto key = m_context.environment("PHOENIX_API_KEY"); key && !key->empty())
            request.headers.push_back({"Authorization", "Bearer " + *key});
        request.max_response_bytes = size_t{512} << 20;
        const auto response = m_client.send(request);
        if (!response.ok())
            return m_context.fail(Exit::unavailable, "Phoenix cannot be reached: " + response.error().message);
        if (response.value().status != 200)
            return m_context.fail(response.value().status == 401 ? Exit::unauthorized : Exit::failure,
                                  "Phoenix responded with " + std::to_string(response.value().status) + " to " +
                                      safe_line(request.url),
                                  "set PHOENIX_API_KEY if it needs a key; --source-project names its project");
        const json::Value page = TRY(json::parse(response.value().body));
        const json::Value* spans = page.is_object() ? page.get_object().if_contains("data") : nullptr;
        if (spans == nullptr || !spans->is_array())
            return m_context.fail(Exit::failure, "the response of " + safe_line(request.url) + " has no spans");
        std::string lines;
        for (const auto& span : spans->get_array()) lines += json::print(span) + "\n";
        m_progress.add(spans->get_array().size());
        const std::string cursor = text_of(page, "next_cursor");
        m_is_over = cursor.empty() || cursor == m_cursor;
        m_cursor = cursor;
        return lines;
    }

    const Context& m_context;
    const std::string m_path;
    Progress& m_progress;
    net::HttpClient m_client;
    std::string m_cursor;
    bool m_is_over = false;
};

Result<> import_phoenix(Context& context) {
    const std::string source = context.value_or_empty("SOURCE");
    if (!source.starts_with("http://") && !source.starts_with("https://"))
        return upload_file(context, source, imported_format(context, source, "phoenix"));
    const auto url = canonical_url(source);
    if (!url.ok()) return context.usage(url.error().message);
    Progress progress(context, "spans", count_text);
    PhoenixPages pages(context, url.value(), progress);
    return upload(
        context, "phoenix", [&] { return pages.next(); }, std::nullopt);
}

// --- batches -------------------------------------------------------------------------------------------------------

// The requests of a batch by their custom_id: where they are in the file.
class BatchRequests {
public:
    Result<> open(const Context& context, const std::string& file) {
        Input input = TRY(Input::open(context, file));
        for (;;) {
            auto line = TRY(input.read_line(longest_result));
            if (!line) return {};
            const auto request = json::parse(*line);
            const std::string id = request.ok() ? text_of(request.value(), "custom_id") : "";
            if (!id.empty()) m_requests[id] = std::move(*line);
        }
    }

    // The line with its request, if there is one.
    std::string join(const std::string& line) const {
        const auto result = json::parse(line);
        if (!result.ok() || !result.value().is_object() || result.value().get_object().contains("request")) return line;
        const auto request = m_requests.find(text_of(result.value(), "custom_id"));
        if (request == m_requests.end()) return line;
        return "{\"request\":" + request->second + "," + line.substr(line.find('{') + 1);
    }

private:
    std::map<std::string, std::string> m_requests;
};

// Results without a time get that of the file, which stays the same when it is imported again.
Result<std::string> result_time(const Context& context, const std::string& file) {
    if (context.parsed.has("--time")) return moment(context, "--time");
    if (file == "-") return context.usage("standard input has no time: give --time, such as 2026-11-15T09:00:00Z");
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) return context.fail(Exit::usage, "cannot read " + safe_line(file));
    return to_text(from_ns(int64_t{status.st_mtim.tv_sec} * 1'000'000'000));
}

Result<> import_batch(const Context& context, const std::string& format) {
    const std::string file = context.value_or_empty("FILE");
    const std::string time = TRY(result_time(context, file));
    const auto requests_file = context.parsed.value("--requests");
    if (!requests_file) return upload_file(context, file, format, time);
    BatchRequests requests;
    TRY(requests.open(context, *requests_file));
    Input input = TRY(Input::open(context, file));
    Progress progress(context, "", bytes_text);
    progress.set_whole(input.size());
    const auto next = [&]() -> Result<std::string> {
        const auto line = TRY(input.read_line(longest_result));
        if (!line) return std::string();
        progress.add(line->size() + 1);
        return requests.join(*line) + "\n";
    };
    return upload(context, format, next, std::nullopt, time);
}

Result<> import_openai_batch(Context& context) {
    return import_batch(context, "openai_batch");
}

Result<> import_anthropic_batch(Context& context) {
    return import_batch(context, "anthropic_batch");
}

std::vector<Option> import_options(std::initializer_list<Option> more = {}) {
    std::vector<Option> options{
        project_option(),
        {.name = "--dry-run", .value = "", .doc = "Read the file and count its spans; store nothing."}};
    options.insert(options.end(), more);
    return options;
}

std::vector<Option> batch_options() {
    return import_options({{.name = "--requests",
                            .value = "FILE",
                            .doc = "File with the requests of the batch, for the inputs of the calls."},
                           {.name = "--time",
                            .value = "TIME",
                            .doc = "Time of results that have none. Default: when the file was changed."}});
}

} // namespace

std::vector<Command> import_commands() {
    const std::string_view skipped = "Spans that are already stored are skipped.";
    return {
        {.path = "import",
         .summary = "Import spans from a file into a project. Spans that are already stored are skipped.",
         .arguments = {{.name = "FILE", .doc = "File written by hone export or Phoenix; - is standard input."}},
         .options = import_options({{.name = "--format",
                                     .value = "FORMAT",
                                     .doc = "Format of the file. Default: from the file name, or jsonl.",
                                     .choices = {"jsonl", "parquet", "phoenix", "otlp", "otlp_proto", "langfuse",
                                                 "langsmith", "openai_batch", "anthropic_batch"}}}),
         .topic = trace_topic,
         .run = import_file},
        {.path = "import langfuse",
         .summary = "Import traces from an export of Langfuse.",
         .arguments = {{.name = "FILE",
                        .doc =
                            "Traces or observations as JSON or JSON lines: a download, pages of the API, or files of "
                            "the blob storage export; - is standard input."}},
         .options = import_options(),
         .details = skipped,
         .run = import_langfuse},
        {.path = "import langsmith",
         .summary = "Import runs from an export of LangSmith.",
         .arguments = {{.name = "FILE",
                        .doc = "Runs as JSON or JSON lines, or a Parquet file of a bulk export; - is standard input."}},
         .options = import_options(),
         .details = skipped,
         .run = import_langsmith},
        {.path = "import phoenix",
         .summary = "Import spans from a running Phoenix or from a file of it.",
         .arguments = {{.name = "SOURCE",
                        .doc = "Address of Phoenix, such as http://localhost:6006, or a file: spans as JSON, or a data "
                               "frame as Parquet."}},
         .options = import_options(
             {{.name = "--source-project", .value = "NAME", .doc = "Project of Phoenix to read. Default: default."}}),
         .details = "PHOENIX_API_KEY is sent to Phoenix if it is set. Spans that are already stored are skipped.\n"
                    "Example: hone import phoenix http://localhost:6006 --source-project shop -p shop",
         .run = import_phoenix},
        {.path = "import openai-batch",
         .summary = "Import the results of an OpenAI batch as model calls.",
         .arguments = {{.name = "FILE", .doc = "Output or error file of the batch; - is standard input."}},
         .options = batch_options(),
         .details = "Example: hone import openai-batch output.jsonl --requests input.jsonl -p nightly",
         .run = import_openai_batch},
        {.path = "import anthropic-batch",
         .summary = "Import the results of an Anthropic message batch as model calls.",
         .arguments = {{.name = "FILE", .doc = "Results of the batch; - is standard input."}},
         .options = batch_options(),
         .details = "Example: hone import anthropic-batch results.jsonl --requests requests.jsonl -p nightly",
         .run = import_anthropic_batch},
    };
}

} // namespace hone::cli
