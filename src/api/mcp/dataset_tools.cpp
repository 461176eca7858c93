#include "api/mcp/dataset_tools.h"

#include "api/core/in_path.h"
#include "api/mcp/reply.h"
#include "evaluate/evaluate.h"
#include "signal/signal.h"

#include <algorithm>

namespace hone::api {

namespace {

constexpr size_t most_dataset_bytes = 128 << 10;
constexpr size_t most_document_bytes = 1 << 20;
constexpr Duration longest_tool_test = std::chrono::seconds(60);

json::Value json_text(const std::string& text) {
    auto value = json::parse(text);
    return value.ok() ? std::move(value).value() : json::Value(nullptr);
}

} // namespace

Result<json::Value> list_datasets_tool(const Call& call, const ListDatasetsTool& arguments) {
    const auto space = TRY(space_of(call, arguments.space));
    const auto fetch = [&](int64_t limit) -> Result<json::Value> {
        const auto found =
            TRY(call.services.evaluate.proposals.datasets_for_tool(call.caller, space, {limit, arguments.cursor}));
        json::Array datasets;
        for (const evaluate::Dataset& dataset : found.data)
            datasets.push_back(json::Object{{"id", dataset.id.text()},
                                            {"name", dataset.name},
                                            {"description", dataset.description},
                                            {"examples", dataset.example_count},
                                            {"version", dataset.version}});
        json::Object made{{"data", std::move(datasets)}};
        if (found.next_cursor) made["next_cursor"] = *found.next_cursor;
        return json::Value(std::move(made));
    };
    return fit_page(fetch, std::clamp<int64_t>(arguments.limit.value_or(20), 1, 100), most_dataset_bytes);
}

Result<json::Value> read_examples_tool(const Call& call, const ReadExamplesTool& arguments) {
    const auto space = TRY(space_of(call, arguments.space));
    int64_t after = -1;
    if (arguments.cursor) {
        const auto position = parse_integer(*arguments.cursor);
        if (!position.ok() || position.value() < 0) return invalid("cursor is not valid for this list");
        after = position.value();
    }
    const auto fetch = [&](int64_t limit) -> Result<json::Value> {
        std::optional<int64_t> next;
        const auto found = TRY(call.services.evaluate.proposals.examples_for_tool(call.caller, space, arguments.dataset,
                                                                                  after, limit, next));
        json::Array examples;
        for (const evaluate::Example& example : found) {
            json::Object made{{"id", example.id.text()},
                              {"input", json_text(example.input)},
                              {"output", json_text(example.output)},
                              {"metadata", json_text(example.metadata)}};
            if (example.source_trace) made["trace_id"] = *example.source_trace;
            examples.push_back(std::move(made));
        }
        json::Object reply{{"data", std::move(examples)}};
        if (next) reply["next_cursor"] = std::to_string(*next);
        return json::Value(std::move(reply));
    };
    return fit_page(fetch, std::clamp<int64_t>(arguments.limit.value_or(10), 1, 50), most_dataset_bytes);
}

Result<json::Value> propose_examples_tool(const Call& call, const ProposeExamplesTool& arguments) {
    const auto space = TRY(space_of(call, arguments.space));
    const auto outcome =
        TRY(call.services.evaluate.proposals.propose(call.caller, space, arguments.dataset, arguments.examples));
    return json::Value(json::Object{{"data", json::to_value(outcome)}});
}

Result<json::Value> report_verdict_tool(const Call& call, const ReportVerdictTool& arguments) {
    json::Object verdict;
    if (arguments.label) verdict["label"] = *arguments.label;
    if (arguments.score) verdict["score"] = *arguments.score;
    if (arguments.explanation) verdict["explanation"] = *arguments.explanation;
    TRY(call.services.evaluate.agent_verdicts.report(call.caller, verdict));
    return json::Value(json::Object{{"data", json::Object{{"stored", true}}}});
}

Result<json::Value> run_evaluator_tool(const Call& call, const RunEvaluatorTool& arguments) {
    const auto space = TRY(space_of(call, arguments.space));
    if (arguments.documents.empty() || arguments.documents.size() > 20)
        return invalid("documents has 1 to 20 documents");
    size_t bytes = 0;
    for (const json::Value& document : arguments.documents) {
        if (!document.is_object()) return invalid("each of documents must be an object");
        bytes += json::print(document).size();
    }
    if (bytes > most_document_bytes) return too_large("documents has at most 1 MiB of JSON together");
    const auto version =
        TRY(call.services.signal.evaluators.code_for_tool(call.caller, space, arguments.evaluator, arguments.version));
    const Clock& clock = call.services.clock;
    const Duration until = clock.steady() + longest_tool_test;
    const auto results =
        call.services.evaluate.runner.run_code(version, arguments.documents, [&] { return clock.steady() > until; });
    if (!results.ok() && results.error().code == Code::conflict)
        return busy("the documents took longer than 60 seconds; send fewer");
    if (!results.ok()) return results.error();
    json::Array verdicts;
    for (const auto& judged : results.value()) {
        json::Object made;
        if (judged.verdict)
            made["verdict"] = json::to_value(*judged.verdict);
        else
            made["error"] = judged.error;
        verdicts.push_back(std::move(made));
    }
    json::Value reply(
        json::Object{{"evaluator", version.name}, {"version", version.number}, {"data", std::move(verdicts)}});
    fit(reply, most_dataset_bytes);
    return reply;
}

} // namespace hone::api
