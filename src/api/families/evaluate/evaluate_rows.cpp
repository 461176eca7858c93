// What the pages about datasets, experiments and prompts show, page by page: examples with their splits and sources,
// experiments with means and tags, runs with their evals, versions of prompts with their tags.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/evaluate/correction_view.h"
#include "api/families/phoenix/dataset_views.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ListExampleRows {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> version_id;
    std::vector<std::string> split;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &ListExampleRows::space, "Id or name of the space; the caller's first one if not given."},
        Field{"version_id", &ListExampleRows::version_id, "Id or number of a version; the newest one if not given."},
        Field{"split", &ListExampleRows::split, "Id or name of a split: only its examples; may be repeated."},
        Field{"limit", &ListExampleRows::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListExampleRows::cursor, "next_cursor of the previous response."},
    };
};

struct ListRunRows {
    static constexpr bool is_query = true;
    std::optional<std::string> example;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"example", &ListRunRows::example, "Id of an example: only its runs."},
        Field{"limit", &ListRunRows::limit, "Examples in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListRunRows::cursor, "next_cursor of the previous response."},
    };
};

struct ListTracesOfPrompt {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<int64_t> days;
    std::optional<int64_t> limit;
    static constexpr Pack fields{
        Field{"space", &ListTracesOfPrompt::space, "Id or name of the space; the caller's first one if not given."},
        Field{"days", &ListTracesOfPrompt::days, "Spans that began in the last days, 1 to 90; 7 if not given."},
        Field{"limit", &ListTracesOfPrompt::limit, "Rows in the response, 1 to 1000; 50 if not given."},
    };
};

struct ListTagMoves {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> tag;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &ListTagMoves::space, "Id or name of the space; the caller's first one if not given."},
        Field{"tag", &ListTagMoves::tag, "Only moves of this tag."},
        Field{"limit", &ListTagMoves::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListTagMoves::cursor, "next_cursor of the previous response."},
    };
};

// A trace and a version of the prompt that its spans name in `prompt.id` or `llm.prompt_template.version`.
struct PromptTraceRow {
    std::string trace_id;
    access::ProjectId project_id;
    std::string project_name;
    evaluate::PromptVersionId version_id;
    int64_t version_number = 0;
    std::string name;
    int64_t spans = 0;
    Time started_at{};
    static constexpr Pack fields{
        Field{"trace_id", &PromptTraceRow::trace_id, "Id of the trace."},
        Field{"project_id", &PromptTraceRow::project_id, "Id of its project."},
        Field{"project_name", &PromptTraceRow::project_name, "Name of its project."},
        Field{"version_id", &PromptTraceRow::version_id, "Id of the version."},
        Field{"version_number", &PromptTraceRow::version_number, "Number of the version."},
        Field{"name", &PromptTraceRow::name, "Name of the newest span that names the version."},
        Field{"spans", &PromptTraceRow::spans, "Number of spans that name the version."},
        Field{"started_at", &PromptTraceRow::started_at, "Time at which the newest of these spans began."},
    };
};

struct ExampleRow {
    evaluate::ExampleId id;
    std::optional<std::string> external_id;
    json::Value input;
    json::Value output;
    json::Value metadata;
    std::vector<std::string> splits;
    std::optional<std::string> source_project;
    std::optional<std::string> source_trace;
    std::optional<std::string> source_span;
    Time updated_at{};
    static constexpr Pack fields{
        Field{"id", &ExampleRow::id, ""},
        Field{"external_id", &ExampleRow::external_id, "Id given by the sender."},
        Field{"input", &ExampleRow::input, "An object."},
        Field{"output", &ExampleRow::output, "Reference output, an object."},
        Field{"metadata", &ExampleRow::metadata, "An object."},
        Field{"splits", &ExampleRow::splits, "Names of its splits."},
        Field{"source_project", &ExampleRow::source_project, "Project of the span it came from."},
        Field{"source_trace", &ExampleRow::source_trace, "Trace it came from; retention keeps it."},
        Field{"source_span", &ExampleRow::source_span, "Span it came from."},
        Field{"updated_at", &ExampleRow::updated_at, "Time of its last change."},
    };
};

struct ExperimentRow {
    evaluate::ExperimentId id;
    std::string name;
    std::string description;
    int64_t dataset_version = 0;
    int64_t repetitions = 1;
    int64_t example_count = 0;
    int64_t successful_run_count = 0;
    int64_t failed_run_count = 0;
    int64_t missing_run_count = 0;
    std::string created_by;
    Time created_at{};
    std::vector<std::string> tags;
    std::vector<evaluate::EvalSummary> evals;
    std::string project_name;
    evaluate::DatasetId dataset;
    json::Value metadata;
    static constexpr Pack fields{
        Field{"id", &ExperimentRow::id, ""},
        Field{"name", &ExperimentRow::name, ""},
        Field{"description", &ExperimentRow::description, ""},
        Field{"dataset_version", &ExperimentRow::dataset_version, "Number of the dataset version."},
        Field{"repetitions", &ExperimentRow::repetitions, "Runs of each example."},
        Field{"example_count", &ExperimentRow::example_count, ""},
        Field{"successful_run_count", &ExperimentRow::successful_run_count, ""},
        Field{"failed_run_count", &ExperimentRow::failed_run_count, ""},
        Field{"missing_run_count", &ExperimentRow::missing_run_count, ""},
        Field{"created_by", &ExperimentRow::created_by, ""},
        Field{"created_at", &ExperimentRow::created_at, ""},
        Field{"tags", &ExperimentRow::tags, "Such as baseline."},
        Field{"evals", &ExperimentRow::evals, "One per name, by name."},
        Field{"project_name", &ExperimentRow::project_name, "Project with the traces of the runs."},
        Field{"dataset", &ExperimentRow::dataset, "Id of the dataset."},
        Field{"metadata", &ExperimentRow::metadata, "An object."},
    };
};

struct RunEval {
    std::string name;
    std::optional<std::string> label;
    std::optional<double> score;
    std::optional<std::string> explanation;
    std::optional<std::string> error;
    std::optional<std::string> trace_id;
    std::optional<std::string> trace_project;
    std::vector<CorrectionView> corrections;
    static constexpr Pack fields{
        Field{"name", &RunEval::name, ""},
        Field{"label", &RunEval::label, ""},
        Field{"score", &RunEval::score, ""},
        Field{"explanation", &RunEval::explanation, ""},
        Field{"error", &RunEval::error, "Why there is no result."},
        Field{"trace_id", &RunEval::trace_id, "Trace of the evaluation."},
        Field{"trace_project", &RunEval::trace_project, "Project that has it; null: there is no trace."},
        Field{"corrections", &RunEval::corrections, "Verdicts of people, newest first; one of each person."},
    };
};

struct RunRow {
    evaluate::ExperimentRunId id;
    evaluate::ExampleId example;
    std::optional<std::string> external_id;
    int64_t repetition = 1;
    json::Value input;
    json::Value reference;
    json::Value output;
    std::optional<std::string> error;
    double latency_ms = 0;
    std::optional<std::string> trace_id;
    std::optional<std::string> trace_project;
    std::vector<RunEval> evals;
    static constexpr Pack fields{
        Field{"id", &RunRow::id, ""},
        Field{"example", &RunRow::example, "Id of the example."},
        Field{"external_id", &RunRow::external_id, "Id of the example given by the sender."},
        Field{"repetition", &RunRow::repetition, "From 1."},
        Field{"input", &RunRow::input, "Input of the example."},
        Field{"reference", &RunRow::reference, "Reference output of the example."},
        Field{"output", &RunRow::output, "Any JSON."},
        Field{"error", &RunRow::error, "Why there is no output."},
        Field{"latency_ms", &RunRow::latency_ms, ""},
        Field{"trace_id", &RunRow::trace_id, "Trace of the run."},
        Field{"trace_project", &RunRow::trace_project,
              "Id of the project of a recorded trace; null: the project of the experiment."},
        Field{"evals", &RunRow::evals, "By name."},
    };
};

struct PromptVersionRow {
    evaluate::PromptVersionId id;
    int64_t number = 0;
    json::Value content;
    std::vector<std::string> tags;
    std::string created_by;
    Time created_at{};
    static constexpr Pack fields{
        Field{"id", &PromptVersionRow::id, ""},
        Field{"number", &PromptVersionRow::number, "From 1."},
        Field{"content", &PromptVersionRow::content, "Model, template, parameters, tools, as they were sent."},
        Field{"tags", &PromptVersionRow::tags, "Tags that point at it."},
        Field{"created_by", &PromptVersionRow::created_by, ""},
        Field{"created_at", &PromptVersionRow::created_at, ""},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

json::Value json_of(const std::string& text) {
    auto value = json::parse(text);
    return value.ok() ? std::move(value).value() : json::Value(nullptr);
}

// A cursor of lists that continue after a position.
Result<int64_t> position_after(const access::PageRequest& page) {
    const std::string after = TRY(page.after());
    if (after.empty()) return int64_t{-1};
    const auto position = parse_integer(after);
    if (!position.ok()) return invalid("cursor is not valid for this list");
    return position.value();
}

ExperimentRow experiment_row(const evaluate::Experiment& experiment, const evaluate::ExperimentSummary& summary) {
    return {experiment.id,
            experiment.name,
            experiment.description,
            experiment.version,
            experiment.repetitions,
            experiment.example_count,
            experiment.successful_runs,
            experiment.failed_runs,
            experiment.missing_runs(),
            experiment.created_by,
            experiment.created_at,
            summary.tags,
            summary.evals,
            experiment.project_name,
            experiment.dataset_id,
            experiment.metadata};
}

Result<std::vector<ExperimentRow>> experiment_rows(const Call& call, const std::vector<evaluate::Experiment>& found) {
    const auto summaries = TRY(call.services.evaluate.experiments.summaries(found));
    std::vector<ExperimentRow> rows;
    for (const auto& experiment : found) {
        const auto summary = summaries.find(experiment.id);
        rows.push_back(
            experiment_row(experiment, summary == summaries.end() ? evaluate::ExperimentSummary{} : summary->second));
    }
    return rows;
}

// Clients send the spans of their evaluators to a project of this name.
constexpr std::string_view client_evaluators = "evaluators";

std::optional<std::string> project_of_judge(const evaluate::ExperimentEval& eval) {
    if (!eval.trace_id) return std::nullopt;
    return std::string(eval.evaluator ? evaluate::judge_project : client_evaluators);
}

RunRow run_row(const evaluate::RunRecord& record) {
    RunRow row;
    row.id = record.run.id;
    row.example = record.run.example_id;
    row.external_id = record.example.external_id;
    row.repetition = record.run.repetition;
    row.input = json_of(record.example.input);
    row.reference = json_of(record.example.output);
    row.output = json_of(record.run.output);
    row.error = record.run.error;
    row.latency_ms = std::chrono::duration<double, std::milli>(record.run.ended_at - record.run.started_at).count();
    row.trace_id = record.run.trace_id;
    if (row.trace_id && row.trace_id == record.example.source_trace) row.trace_project = record.example.source_project;
    for (const auto& eval : record.evals) {
        RunEval one{
            eval.name, eval.label, eval.score, eval.explanation, eval.error, eval.trace_id, project_of_judge(eval), {}};
        for (const auto& correction : record.corrections)
            if (correction.name == eval.name) one.corrections.push_back(view_of(correction));
        row.evals.push_back(std::move(one));
    }
    return row;
}

Result<evaluate::Prompt> prompt_of_path(const Call& call, const std::optional<std::string>& space) {
    const auto where = TRY(space_of(call, space));
    return call.services.evaluate.prompts.find(call.caller, where, plain_id("Prompt", call.at("prompt")));
}

} // namespace

Result<List<ExampleRow>> list_example_rows(const Call& call, const ListExampleRows& query) {
    evaluate::Datasets& datasets = call.services.evaluate.datasets;
    const auto dataset = TRY(dataset_in_path(call, query.space));
    const auto version = TRY(version_of(call, dataset.id, query.version_id));
    const auto page = TRY(page_of(query.limit, query.cursor));
    std::vector<std::string> wanted;
    for (const std::string& split : query.split) wanted.push_back(plain_id("DatasetSplit", split));
    std::vector<evaluate::SplitId> splits;
    for (const auto& split : TRY(datasets.find_splits(call.caller, dataset.id, wanted))) splits.push_back(split.id);
    const int64_t after = TRY(position_after(page));
    auto found = TRY(datasets.examples(call.caller, dataset.id, version.number, splits, after, page.limit + 1));
    TRY(datasets.add_split_names(call.caller, dataset.id, found));
    const auto examples = access::make_page(std::move(found), page,
                                            [](const evaluate::Example& one) { return std::to_string(one.position); });
    List<ExampleRow> list{{}, examples.next_cursor};
    for (const auto& example : examples.data)
        list.data.push_back({example.id, example.external_id, json_of(example.input), json_of(example.output),
                             json_of(example.metadata), example.splits, example.source_project, example.source_trace,
                             example.source_span, example.updated_at});
    return list;
}

Result<List<ExperimentRow>> list_experiment_rows(const Call& call, const ListInSpace& query) {
    const auto dataset = TRY(dataset_in_path(call, query.space));
    const auto page = TRY(page_of(query.limit, query.cursor));
    const auto found = TRY(call.services.evaluate.experiments.list(call.caller, dataset.id, page));
    return List<ExperimentRow>{TRY(experiment_rows(call, found.data)), found.next_cursor};
}

Result<One<ExperimentRow>> get_experiment_row(const Call& call) {
    const auto id = TRY(read_node_id<evaluate::ExperimentTag>("Experiment", "experiment", call.at("experiment")));
    const auto found = TRY(call.services.evaluate.experiments.find(call.caller, id));
    auto rows = TRY(experiment_rows(call, {found}));
    return One<ExperimentRow>{std::move(rows.front())};
}

Result<List<RunRow>> list_run_rows(const Call& call, const ListRunRows& query) {
    const auto id = TRY(read_node_id<evaluate::ExperimentTag>("Experiment", "experiment", call.at("experiment")));
    const auto page = TRY(page_of(query.limit, query.cursor));
    const int64_t after = TRY(position_after(page));
    const evaluate::Experiments& experiments = call.services.evaluate.experiments;
    List<RunRow> list;
    if (query.example) {
        const auto example = TRY(read_node_id<evaluate::ExampleTag>("DatasetExample", "example", *query.example));
        for (const auto& record : TRY(experiments.records_of(call.caller, id, example)))
            list.data.push_back(run_row(record));
        return list;
    }
    for (const auto& record : TRY(experiments.records(call.caller, id, after, page.limit)))
        list.data.push_back(run_row(record));
    const auto next = TRY(experiments.next_position(call.caller, id, after, page.limit));
    if (next) list.next_cursor = to_base64url(std::to_string(*next));
    return list;
}

Result<List<PromptVersionRow>> list_prompt_version_rows(const Call& call, const ListInSpace& query) {
    const auto prompt = TRY(prompt_of_path(call, query.space));
    evaluate::Prompts& prompts = call.services.evaluate.prompts;
    const auto found = TRY(prompts.versions(call.caller, prompt.id, TRY(page_of(query.limit, query.cursor))));
    List<PromptVersionRow> list{{}, found.next_cursor};
    for (const auto& version : found.data) {
        PromptVersionRow row{version.id, version.number, version.content, {}, version.created_by, version.created_at};
        for (const auto& tag : TRY(prompts.tags(call.caller, version.id, {access::largest_page, {}})).data)
            row.tags.push_back(tag.name);
        list.data.push_back(std::move(row));
    }
    return list;
}

Result<List<evaluate::PromptTagMove>> list_tag_moves(const Call& call, const ListTagMoves& query) {
    const auto prompt = TRY(prompt_of_path(call, query.space));
    auto found = TRY(call.services.evaluate.prompts.tag_moves(call.caller, prompt.id, query.tag.value_or(""),
                                                              TRY(page_of(query.limit, query.cursor))));
    return List<evaluate::PromptTagMove>{std::move(found.data), found.next_cursor};
}

Result<List<ExperimentRow>> list_uses_of_prompt(const Call& call, const InSpace& query) {
    constexpr int64_t most_uses = 100;
    const auto prompt = TRY(prompt_of_path(call, query.space));
    evaluate::Prompts& prompts = call.services.evaluate.prompts;
    std::vector<std::string> texts;
    for (const auto& version : TRY(prompts.versions(call.caller, prompt.id, {most_uses, {}})).data) {
        texts.push_back(version.id.text());
        texts.push_back(make_node_id("PromptVersion", version.id));
    }
    const auto found =
        TRY(call.services.evaluate.experiments.mentioning(call.caller, prompt.space_id, texts, most_uses));
    return List<ExperimentRow>{TRY(experiment_rows(call, found)), {}};
}

Result<List<PromptTraceRow>> list_traces_of_prompt(const Call& call, const ListTracesOfPrompt& query) {
    constexpr int64_t most_versions = 1000, longest = 90, most_traces = 1000;
    const auto prompt = TRY(prompt_of_path(call, query.space));
    const int64_t days = query.days.value_or(7), limit = query.limit.value_or(50);
    if (days < 1 || days > longest) return invalid("days must be between 1 and 90");
    if (limit < 1 || limit > most_traces) return invalid("limit must be between 1 and 1000");
    std::map<std::string, const evaluate::PromptVersion*> versions; // by every name that a span can have for it
    const auto known = TRY(call.services.evaluate.prompts.versions(call.caller, prompt.id, {most_versions, {}})).data;
    std::vector<std::string> names;
    for (const auto& version : known)
        for (std::string name : {version.id.text(), make_node_id("PromptVersion", version.id),
                                 prompt.name + ":" + std::to_string(version.number)}) {
            names.push_back(name);
            versions[std::move(name)] = &version;
        }
    List<PromptTraceRow> list;
    std::vector<access::ProjectId> ids;
    const Time since = call.services.clock.now() - std::chrono::hours(24 * days);
    const auto uses = TRY(call.services.spans.prompt_uses(call.caller, prompt.space_id, names, since, limit));
    for (const auto& use : uses) ids.emplace_back(use.project);
    const auto projects = TRY(call.services.access.projects.names(ids));
    for (const auto& use : uses) {
        const evaluate::PromptVersion& version = *versions.at(use.version);
        const auto project = projects.find(access::ProjectId(use.project));
        list.data.push_back({use.trace_id, access::ProjectId(use.project),
                             project == projects.end() ? "" : project->second, version.id, version.number, use.name,
                             use.spans, from_ns(use.last_ns)});
    }
    return list;
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route evaluate_rows_table[] = {
    route<list_example_rows>("GET", "/v1/datasets/{dataset}/example_rows", need(dataset_read),
                             "Examples of a version with their splits and sources, oldest first."),
    route<list_experiment_rows>("GET", "/v1/datasets/{dataset}/experiment_rows", need(dataset_read),
                                "Experiments on a dataset with means of their evals and tags, newest first."),
    route<get_experiment_row>("GET", "/v1/experiments/{experiment}/summary", need(dataset_read),
                              "An experiment with means of its evals and its tags."),
    route<list_run_rows>("GET", "/v1/experiments/{experiment}/run_rows", need(dataset_read),
                         "Runs with their evals, by example."),
    route<list_prompt_version_rows>("GET", "/v1/prompts/{prompt}/version_rows", need(dataset_read),
                                    "Versions of a prompt with their tags, newest first."),
    route<list_tag_moves>("GET", "/v1/prompts/{prompt}/tag_history", need(dataset_read),
                          "Who moved the tags of a prompt, from which version to which, newest first."),
    route<list_uses_of_prompt>("GET", "/v1/prompts/{prompt}/used_by", need(dataset_read),
                               "Experiments whose metadata names a version of the prompt; at most 100."),
    route<list_traces_of_prompt>("GET", "/v1/prompts/{prompt}/traces", need(dataset_read),
                                 "Traces whose spans name a version of the prompt, newest first.")
        .on(net::Lane::query),
};

} // namespace

std::span<const Route> evaluate_rows_routes() {
    return evaluate_rows_table;
}

} // namespace hone::api
