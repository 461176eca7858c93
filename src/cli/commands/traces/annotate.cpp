// Writes evals: one by options, or many as JSON lines.
#include "base/text.h"
#include "cli/remote/progress.h"
#include "cli/remote/view.h"
#include "cli/terminal/amount.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/input.h"
#include "cli/toolkit/scope.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>

namespace hone::cli {

namespace {

constexpr size_t most_in_one_request = 1000;
constexpr size_t most_bytes_in_one_request = 4 << 20;
constexpr size_t longest_line = 1 << 20;

Result<std::optional<double>> score_of(const Context& context) {
    const auto text = context.parsed.value("--score");
    if (!text) return std::optional<double>();
    char* end = nullptr;
    const double score = std::strtod(text->c_str(), &end);
    if (text->empty() || *end != '\0' || !std::isfinite(score)) return context.usage("--score must be a number");
    return std::optional(score);
}

Result<json::Value> eval_of_options(const Context& context) {
    json::Object eval;
    for (const auto& [option, target] :
         {std::pair{"--span", "span"}, std::pair{"--trace", "trace"}, std::pair{"--session", "chat_session"}}) {
        const auto id = context.parsed.value(option);
        if (!id) continue;
        if (eval.contains("target")) return context.usage("give only one of --span, --trace and --session");
        eval["target"] = target;
        eval["target_id"] = *id;
    }
    if (!eval.contains("target")) return context.usage("an eval needs a target: give --span, --trace or --session");
    if (!context.parsed.has("--name"))
        return context.usage("an eval needs a name: give --name, such as --name correct");
    for (const auto* field : {"name", "label", "explanation", "identifier", "kind"})
        if (const auto value = context.parsed.value("--" + std::string(field))) eval[field] = *value;
    if (const auto score = TRY(score_of(context))) eval["score"] = *score;
    if (!eval.contains("label") && !eval.contains("score") && !eval.contains("explanation"))
        return context.usage("an eval needs a value: give --label, --score or --explanation");
    return json::Value(std::move(eval));
}

Result<> annotate_one(const Context& context) {
    const json::Value eval = TRY(eval_of_options(context));
    const json::Value written = TRY(context.remote.post(
        TRY(span_path(context, {"evals"})), json::Object{{"data", json::Array{eval}}}, space_query(context)));
    return show_done(context, written, "Written.");
}

// Collects lines of a file and sends them to the server.
class Batches {
public:
    Batches(const Context& context, std::string path)
        : m_context(context),
          m_path(std::move(path)),
          m_progress(context, " evals", count_text) {}

    Result<> run(Input& input) {
        for (;;) {
            const auto line = TRY(input.read_line(longest_line));
            if (!line) break;
            ++m_line;
            if (trim(*line).empty()) continue;
            TRY(add(*line));
        }
        TRY(send());
        m_progress.finish();
        return show_done(m_context, json::Object{{"written", m_written}},
                         "Wrote " + std::to_string(m_written) + (m_written == 1 ? " eval." : " evals."));
    }

private:
    Result<> add(const std::string& line) {
        auto parsed = json::parse(line);
        if (!parsed.ok() || !parsed.value().is_object())
            return explain("line " + std::to_string(m_line) + " is no JSON object" +
                           (parsed.ok() ? "" : ": " + parsed.error().message));
        if (m_evals.empty()) m_first_line = m_line;
        m_evals.push_back(std::move(parsed).value());
        m_bytes += line.size();
        if (m_evals.size() < most_in_one_request && m_bytes < most_bytes_in_one_request) return {};
        return send();
    }

    Result<> send() {
        if (m_evals.empty()) return {};
        const size_t count = m_evals.size();
        json::Object body{{"data", std::exchange(m_evals, {})}};
        m_bytes = 0;
        auto written = m_context.remote.post(m_path, std::move(body), space_query(m_context));
        if (!written.ok()) {
            // The server names the place in this request: data[0] is the first of these lines.
            Error error = std::move(written).error();
            error.message = "lines " + std::to_string(m_first_line) + " to " + std::to_string(m_line) +
                            " (data[0] is line " + std::to_string(m_first_line) + "): " + error.message + "; " +
                            std::to_string(m_written) + " evals before them are written";
            return error;
        }
        m_written += count;
        m_progress.add(count);
        return {};
    }

    Error explain(std::string message) {
        return m_context.fail(Exit::usage, std::move(message) + "; " + std::to_string(m_written) + " evals are written",
                              "an eval that is sent again is replaced, so you can send the whole file again");
    }

    const Context& m_context;
    const std::string m_path;
    Progress m_progress;
    json::Array m_evals;
    size_t m_bytes = 0;
    size_t m_line = 0;
    size_t m_first_line = 0;
    size_t m_written = 0;
};

Result<> annotate(Context& context) {
    const auto file = context.parsed.value("FILE");
    if (!file) return annotate_one(context);
    for (const auto* option : {"--span", "--trace", "--session", "--name", "--label", "--score", "--explanation"})
        if (context.parsed.has(option))
            return context.usage(std::string(option) + " cannot be used with a file: each line contains it");
    Input input = TRY(Input::open(context, *file));
    return Batches(context, TRY(span_path(context, {"evals"}))).run(input);
}

} // namespace

std::vector<Command> annotate_commands() {
    return {
        {.path = "annotate",
         .summary = "Label or score a span, a trace or a chat session; or many from a file.",
         .arguments =
             {{.name = "FILE",
               .doc = "File of JSON lines, each an eval; - is standard input. Without it, the options define one eval.",
               .optional = true}},
         .options = {project_option(),
                     {.name = "--span", .value = "SPAN", .doc = "Id of the span."},
                     {.name = "--trace", .value = "TRACE", .doc = "Id of the trace."},
                     {.name = "--session", .value = "NAME", .doc = "Name of the chat session."},
                     {.name = "--name", .value = "NAME", .doc = "Name of the eval, such as correct."},
                     {.name = "--label", .value = "LABEL", .doc = "Label of the eval."},
                     {.name = "--score", .value = "NUMBER", .doc = "Score of the eval."},
                     {.name = "--explanation", .value = "TEXT", .doc = "Explanation of the eval."},
                     {.name = "--identifier",
                      .value = "TEXT",
                      .doc = "Distinguishes several evals of one name; the same identifier replaces the eval."},
                     {.name = "--kind",
                      .value = "KIND",
                      .doc = "Kind of evaluator. Default: human.",
                      .choices = {"human", "llm", "code", "agent"}}},
         .details = "hone annotate -p shop --span 00f067aa0ba902b7 --name correct --label no --score 0\n"
                    "echo '{\"target\":\"trace\",\"target_id\":\"…\",\"name\":\"correct\",\"label\":\"yes\"}' | hone "
                    "annotate -p shop -",
         .topic = trace_topic,
         .run = annotate}};
}

} // namespace hone::cli
