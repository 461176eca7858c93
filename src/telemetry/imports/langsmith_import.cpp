// LangSmith's exports: runs as its SDK, its API and its bulk exports give them.
#include "telemetry/imports/foreign.h"
#include "telemetry/imports/imports.h"
#include "telemetry/imports/langsmith_runs.h"

namespace hone::telemetry {

namespace {

constexpr size_t most_exported_runs = 50'000; // of one element
constexpr int most_levels = 32;

// Bulk exports have objects as texts.
void parse_members(json::Object& run) {
    for (const std::string_view name : {"inputs", "outputs", "extra", "events", "tags"})
        if (json::Value* value = run.if_contains(name); value != nullptr && value->is_string())
            if (auto inner = json::parse(value->get_string()); inner.ok()) *value = std::move(inner).value();
}

// The usage of a run is beside its outputs in exports.
void move_usage(json::Object& run) {
    const int64_t input = foreign::whole(run.if_contains("prompt_tokens"));
    const int64_t output = foreign::whole(run.if_contains("completion_tokens"));
    if (foreign::text(run.if_contains("run_type")) != "llm" || (input == 0 && output == 0)) return;
    json::Value& extra = run["extra"];
    if (!extra.is_object()) extra = json::Object();
    json::Value& metadata = extra.get_object()["metadata"];
    if (!metadata.is_object()) metadata = json::Object();
    if (metadata.get_object().contains("usage_metadata")) return;
    metadata.get_object()["usage_metadata"] = json::Object{{"input_tokens", input}, {"output_tokens", output}};
}

// With the runs below it, if they are inside.
Result<> add_run(std::vector<RunOperation>& runs, const json::Value& value, int level) {
    if (!value.is_object() || level > most_levels) return invalid("not a run of LangSmith");
    if (runs.size() >= most_exported_runs) return too_large("too many runs in one element");
    json::Object run = value.get_object();
    if (foreign::text(run.if_contains("id")).empty()) return invalid("the run has no id");
    json::Value below;
    if (json::Value* inner = run.if_contains("child_runs"); inner != nullptr && inner->is_array()) {
        below = std::move(*inner);
        run.erase("child_runs");
    }
    parse_members(run);
    move_usage(run);
    if (foreign::time_ns(run.if_contains("start_time")) == 0) return invalid("the run has no start_time");
    // A run without an end had not finished when it was exported.
    if (foreign::find(run, {"end_time"}) == nullptr) run["end_time"] = run["start_time"];
    runs.push_back({false, std::move(run)});
    if (below.is_array())
        for (const json::Value& child : below.get_array()) TRY(add_run(runs, child, level + 1));
    return {};
}

} // namespace

Result<ImportElement> read_langsmith(std::string_view text) {
    const json::Value tree = TRY(json::parse(text));
    std::vector<RunOperation> runs;
    std::vector<std::string> rejected;
    const json::Value* page = tree.is_object() ? foreign::find(tree.get_object(), {"runs", "data"}) : nullptr;
    if (page != nullptr && page->is_array()) {
        for (const json::Value& run : page->get_array())
            if (auto added = add_run(runs, run, 0); !added.ok()) rejected.push_back(added.error().message);
    } else {
        TRY(add_run(runs, tree, 0));
    }
    const RunParts parts = spans_of_runs(runs, 1);
    ImportElement element = element_of(parts.batch);
    element.rejected.insert(element.rejected.end(), rejected.begin(), rejected.end());
    return element;
}

} // namespace hone::telemetry
