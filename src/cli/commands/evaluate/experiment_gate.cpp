#include "cli/commands/evaluate/experiment_gate.h"

#include "base/file.h"
#include "cli/commands/evaluate/comparison_report.h"
#include "cli/remote/view.h"
#include "cli/toolkit/scope.h"

namespace hone::cli {

namespace {

Result<> write_report(const Context& context, std::string_view option, const std::string& text) {
    const auto file = context.parsed.value(option);
    if (!file) return {};
    const auto written = write_file(*file, text, 0644);
    if (!written.ok()) return context.fail(Exit::failure, written.error().message);
    return {};
}

} // namespace

std::vector<Option> gate_options() {
    return {{.name = "--fail-on",
             .value = "WHAT",
             .doc = "regression: end with status 10 when the gate fails. error: when a run or an eval failed.",
             .choices = {"regression", "error"}},
            {.name = "--margin", .value = "NUMBER", .doc = "A smaller drop of a mean passes the gate. Default: 0.01."},
            {.name = "--lower",
             .value = "NAME",
             .doc = "Evals whose score should fall, such as latency.",
             .repeated = true},
            {.name = "--markdown", .value = "FILE", .doc = "Write the comparison as Markdown."},
            {.name = "--junit", .value = "FILE", .doc = "Write the comparison as JUnit XML."}};
}

Result<json::Value> compare_with(const Context& context, const std::string& base, const std::string& other,
                                 const std::string& dataset) {
    Query query = space_query(context);
    query.emplace_back("base", base);
    query.emplace_back("other", other);
    query.emplace_back("dataset", dataset);
    query.emplace_back("margin", context.value_or_empty("--margin"));
    for (const std::string& name : context.parsed.all("--lower")) query.emplace_back("lower_is_better", name);
    query.emplace_back("limit", "20");
    json::Value found = TRY(context.remote.get("/v1/experiments/compare", std::move(query)));
    TRY(write_report(context, "--markdown", comparison_markdown(found)));
    TRY(write_report(context, "--junit", comparison_junit(found)));
    return found;
}

Result<> apply_gate(const Context& context, const json::Value& comparison) {
    if (context.value_or_empty("--fail-on") != "regression") return {};
    const json::Value* gate = member(comparison, "gate");
    if (gate != nullptr && text_of(*gate, "verdict") == "passed") return {};
    return context.fail(Exit::gate_failed, "the gate failed: " + first_reason(comparison));
}

} // namespace hone::cli
