// Runs and evals of experiments in the shapes of Arize Phoenix (ADR 0010).
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/phoenix/dataset_views.h"
#include "api/families/phoenix/phoenix.h"
#include "evaluate/files/csv.h"

#include <set>

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct CreateExperimentRun {
    static constexpr bool ignores_unknown = true;
    std::string dataset_example_id;
    std::optional<json::Value> output;
    int64_t repetition_number = 1;
    std::string start_time;
    std::string end_time;
    std::optional<std::string> trace_id;
    std::optional<std::string> error;
    static constexpr Pack fields{
        Field{"dataset_example_id", &CreateExperimentRun::dataset_example_id, "Id of an example of the experiment."},
        Field{"output", &CreateExperimentRun::output, "Any JSON; null if not given."},
        Field{"repetition_number", &CreateExperimentRun::repetition_number, "From 1."},
        Field{"start_time", &CreateExperimentRun::start_time, "With or without an offset."},
        Field{"end_time", &CreateExperimentRun::end_time, "With or without an offset."},
        Field{"trace_id", &CreateExperimentRun::trace_id, "Trace of the run; it may arrive later."},
        Field{"error", &CreateExperimentRun::error, "Why the run failed."},
    };
};

struct CreatedId {
    std::string id;
    static constexpr Pack fields{Field{"id", &CreatedId::id, ""}};
};

struct ExperimentRunView {
    std::string id;
    std::string experiment_id;
    std::string dataset_example_id;
    json::Value output;
    int64_t repetition_number = 1;
    std::string start_time;
    std::string end_time;
    std::optional<std::string> trace_id;
    std::optional<std::string> error;
    static constexpr Pack fields{
        Field{"id", &ExperimentRunView::id, ""},
        Field{"experiment_id", &ExperimentRunView::experiment_id, ""},
        Field{"dataset_example_id", &ExperimentRunView::dataset_example_id, ""},
        Field{"output", &ExperimentRunView::output, ""},
        Field{"repetition_number", &ExperimentRunView::repetition_number, ""},
        Field{"start_time", &ExperimentRunView::start_time, ""},
        Field{"end_time", &ExperimentRunView::end_time, ""},
        Field{"trace_id", &ExperimentRunView::trace_id, ""},
        Field{"error", &ExperimentRunView::error, ""},
    };
};

struct ListExperimentRuns {
    static constexpr bool is_query = true;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"limit", &ListExperimentRuns::limit, "Rows in one response, 1 to 1000; all of them if not given."},
        Field{"cursor", &ListExperimentRuns::cursor, "next_cursor of the previous response."},
    };
};

struct IncompleteRunView {
    json::Value dataset_example;
    std::vector<int64_t> repetition_numbers;
    static constexpr Pack fields{
        Field{"dataset_example", &IncompleteRunView::dataset_example, ""},
        Field{"repetition_numbers", &IncompleteRunView::repetition_numbers, "Missing or failed."},
    };
};

struct ListIncompleteEvaluations {
    static constexpr bool is_query = true;
    std::vector<std::string> evaluation_name;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"evaluation_name", &ListIncompleteEvaluations::evaluation_name, "Name of evals; may be repeated."},
        Field{"limit", &ListIncompleteEvaluations::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListIncompleteEvaluations::cursor, "next_cursor of the previous response."},
    };
};

struct IncompleteEvaluationView {
    ExperimentRunView experiment_run;
    json::Value dataset_example;
    std::vector<std::string> evaluation_names;
    static constexpr Pack fields{
        Field{"experiment_run", &IncompleteEvaluationView::experiment_run, ""},
        Field{"dataset_example", &IncompleteEvaluationView::dataset_example, ""},
        Field{"evaluation_names", &IncompleteEvaluationView::evaluation_names, "Missing or failed."},
    };
};

struct EvaluationResult {
    static constexpr bool ignores_unknown = true;
    std::optional<json::Value> label;
    std::optional<json::Value> score;
    std::optional<std::string> explanation;
    std::optional<std::map<std::string, json::Value>> metadata;
    static constexpr Pack fields{
        Field{"label", &EvaluationResult::label, "Text; a number or boolean becomes text."},
        Field{"score", &EvaluationResult::score, "A number; true, false and numbers as text become one."},
        Field{"explanation", &EvaluationResult::explanation, ""},
        Field{"metadata", &EvaluationResult::metadata, ""},
    };
};

struct SetEvaluation {
    static constexpr bool ignores_unknown = true;
    std::string experiment_run_id;
    std::string name;
    std::string annotator_kind;
    std::string start_time;
    std::string end_time;
    std::optional<EvaluationResult> result;
    std::optional<std::string> error;
    std::optional<std::map<std::string, json::Value>> metadata;
    std::optional<std::string> trace_id;
    static constexpr Pack fields{
        Field{"experiment_run_id", &SetEvaluation::experiment_run_id, ""},
        Field{"name", &SetEvaluation::name, "Replaces the eval of the run with this name."},
        Field{"annotator_kind", &SetEvaluation::annotator_kind, "LLM, CODE or HUMAN."},
        Field{"start_time", &SetEvaluation::start_time, ""},
        Field{"end_time", &SetEvaluation::end_time, ""},
        Field{"result", &SetEvaluation::result, ""},
        Field{"error", &SetEvaluation::error, "Why there is no result."},
        Field{"metadata", &SetEvaluation::metadata, ""},
        Field{"trace_id", &SetEvaluation::trace_id, ""},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

Result<evaluate::ExperimentId> experiment_of_path(const Call& call) {
    return read_node_id<evaluate::ExperimentTag>("Experiment", "experiment", call.at("experiment"));
}

ExperimentRunView run_view(const evaluate::ExperimentRun& run) {
    auto output = json::parse(run.output);
    return {make_node_id("ExperimentRun", run.id),
            make_node_id("Experiment", run.experiment_id),
            make_node_id("DatasetExample", run.example_id),
            output.ok() ? std::move(output).value() : json::Value(nullptr),
            run.repetition,
            phoenix_time(run.started_at),
            phoenix_time(run.ended_at),
            run.trace_id,
            run.error};
}

} // namespace

Result<One<CreatedId>> create_experiment_run(const Call& call, const CreateExperimentRun& body) {
    evaluate::ExperimentRun run;
    run.experiment_id = TRY(experiment_of_path(call));
    run.example_id = TRY(read_node_id<evaluate::ExampleTag>("DatasetExample", "example", body.dataset_example_id));
    run.repetition = body.repetition_number;
    if (body.output) run.output = json::print(*body.output);
    run.error = body.error;
    run.trace_id = body.trace_id;
    run.started_at = TRY(read_phoenix_time("start_time", body.start_time));
    run.ended_at = TRY(read_phoenix_time("end_time", body.end_time));
    const auto id = TRY(call.services.evaluate.experiments.add_run(call.caller, std::move(run)));
    return One<CreatedId>{CreatedId{make_node_id("ExperimentRun", id)}};
}

namespace {

// All runs in one response, read and sent in pieces.
class RunStream final : public net::BodySource {
public:
    RunStream(const evaluate::Experiments& experiments, access::Caller caller, evaluate::ExperimentId experiment)
        : m_experiments(experiments),
          m_caller(std::move(caller)),
          m_experiment(std::move(experiment)) {}

    Result<std::string> next() override {
        if (m_is_over) return std::string();
        std::string text = m_after.empty() ? R"({"data":[)" : "";
        const auto page = TRY(m_experiments.runs(m_caller, m_experiment, m_after, 500));
        for (const auto& run : page) {
            if (!m_after.empty()) text += ',';
            text += json::write(run_view(run));
            m_after = run.id.text();
        }
        if (page.size() < 500) {
            text += R"(],"next_cursor":null})";
            m_is_over = true;
        }
        return text;
    }

private:
    const evaluate::Experiments& m_experiments;
    const access::Caller m_caller;
    const evaluate::ExperimentId m_experiment;
    std::string m_after;
    bool m_is_over = false;
};

} // namespace

Result<net::Response> list_experiment_runs(const Call& call, const ListExperimentRuns& query) {
    const auto id = TRY(experiment_of_path(call));
    const evaluate::Experiments& experiments = call.services.evaluate.experiments;
    TRY(experiments.find(call.caller, id));
    if (!query.limit && !query.cursor) {
        net::Response response;
        response.content_type = "application/json";
        response.stream = std::make_unique<RunStream>(experiments, call.caller, id);
        return response;
    }
    const auto request = TRY(page_of(query.limit, query.cursor));
    auto rows = TRY(experiments.runs(call.caller, id, TRY(request.after()), request.limit + 1));
    const auto page =
        access::make_page(std::move(rows), request, [](const evaluate::ExperimentRun& run) { return run.id.text(); });
    json::Array data;
    for (const auto& run : page.data) data.push_back(json::to_value(run_view(run)));
    return net::json_response(
        200, json::print(json::Object{{"data", std::move(data)}, {"next_cursor", json::to_value(page.next_cursor)}}));
}

Result<List<IncompleteRunView>> list_incomplete_runs(const Call& call, const PageQuery& query) {
    const auto id = TRY(experiment_of_path(call));
    const auto found = TRY(
        call.services.evaluate.experiments.incomplete_runs(call.caller, id, TRY(page_of(query.limit, query.cursor))));
    List<IncompleteRunView> list{{}, found.next_cursor};
    for (const auto& one : found.data) list.data.push_back({example_value(one.example), one.repetitions});
    return list;
}

Result<net::Response> list_incomplete_evaluations(const Call& call, const ListIncompleteEvaluations& query) {
    const auto id = TRY(experiment_of_path(call));
    const evaluate::Experiments& experiments = call.services.evaluate.experiments;
    TRY(experiments.find(call.caller, id));
    if (query.evaluation_name.empty())
        return net::error_response(400, "invalid", "evaluation_name is missing: name at least one evaluation");
    const auto found = TRY(experiments.incomplete_evaluations(call.caller, id, query.evaluation_name,
                                                              TRY(page_of(query.limit, query.cursor))));
    json::Array data;
    for (const auto& one : found.data)
        data.push_back(
            json::to_value(IncompleteEvaluationView{run_view(one.run), example_value(one.example), one.names}));
    return net::json_response(
        200, json::print(json::Object{{"data", std::move(data)}, {"next_cursor", json::to_value(found.next_cursor)}}));
}

namespace {

Result<std::optional<double>> score_of(const std::optional<json::Value>& value) {
    if (!value || value->is_null()) return std::optional<double>();
    if (value->is_bool()) return std::optional<double>(value->get_bool() ? 1 : 0);
    if (value->is_number()) return std::optional<double>(value->to_number<double>());
    if (value->is_string()) {
        const auto number = json::parse(std::string_view(value->get_string()));
        if (number.ok() && number.value().is_number()) return std::optional<double>(number.value().to_number<double>());
    }
    return invalid("result.score must be a number");
}

Result<std::optional<std::string>> label_of(const std::optional<json::Value>& value) {
    if (!value || value->is_null()) return std::optional<std::string>();
    if (value->is_string()) return std::optional(std::string(value->get_string()));
    if (value->is_bool() || value->is_number()) return std::optional(json::print(*value));
    return invalid("result.label must be a string");
}

} // namespace

Result<One<CreatedId>> set_evaluation(const Call& call, const SetEvaluation& body) {
    if (!body.result && !body.error) return invalid("result or error is needed");
    evaluate::ExperimentEval eval;
    eval.run_id =
        TRY(read_node_id<evaluate::ExperimentRunTag>("ExperimentRun", "experiment run", body.experiment_run_id));
    eval.name = body.name;
    const auto kind = parse_enum<evaluate::AnnotatorKind>(lowercase_ascii(body.annotator_kind));
    if (!kind) return invalid("annotator_kind must be LLM, CODE or HUMAN");
    eval.kind = *kind;
    json::Object metadata;
    if (body.result) {
        eval.label = TRY(label_of(body.result->label));
        eval.score = TRY(score_of(body.result->score));
        eval.explanation = body.result->explanation;
        if (body.result->metadata)
            for (const auto& [key, value] : *body.result->metadata) metadata[key] = value;
    }
    if (body.metadata)
        for (const auto& [key, value] : *body.metadata) metadata[key] = value;
    eval.metadata = std::move(metadata);
    eval.error = body.error;
    eval.trace_id = body.trace_id;
    eval.started_at = TRY(read_phoenix_time("start_time", body.start_time));
    eval.ended_at = TRY(read_phoenix_time("end_time", body.end_time));
    const auto id = TRY(call.services.evaluate.experiments.set_eval(call.caller, std::move(eval)));
    return One<CreatedId>{CreatedId{make_node_id("ExperimentEvaluation", id)}};
}

namespace {

json::Value optional_text(const std::optional<std::string>& text) {
    return text ? json::Value(*text) : json::Value(nullptr);
}

json::Value optional_number(const std::optional<double>& number) {
    return number ? json::Value(*number) : json::Value(nullptr);
}

double milliseconds(Time from, Time to) {
    return std::chrono::duration<double, std::milli>(to - from).count();
}

json::Value stored_value(const std::string& text) {
    auto value = json::parse(text);
    return value.ok() ? std::move(value).value() : json::Value(nullptr);
}

json::Value record_value(const evaluate::RunRecord& record) {
    json::Array annotations;
    for (const auto& eval : record.evals)
        annotations.push_back(json::Object{{"name", eval.name},
                                           {"annotator_kind", uppercase(name_of(eval.kind))},
                                           {"label", optional_text(eval.label)},
                                           {"score", optional_number(eval.score)},
                                           {"explanation", optional_text(eval.explanation)},
                                           {"trace_id", optional_text(eval.trace_id)},
                                           {"error", optional_text(eval.error)},
                                           {"metadata", eval.metadata},
                                           {"start_time", phoenix_time(eval.started_at)},
                                           {"end_time", phoenix_time(eval.ended_at)}});
    return json::Object{{"example_id", make_node_id("DatasetExample", record.run.example_id)},
                        {"repetition_number", record.run.repetition},
                        {"input", stored_value(record.example.input)},
                        {"reference_output", stored_value(record.example.output)},
                        {"output", stored_value(record.run.output)},
                        {"error", optional_text(record.run.error)},
                        {"latency_ms", milliseconds(record.run.started_at, record.run.ended_at)},
                        {"start_time", phoenix_time(record.run.started_at)},
                        {"end_time", phoenix_time(record.run.ended_at)},
                        {"trace_id", optional_text(record.run.trace_id)},
                        {"prompt_token_count", nullptr},
                        {"completion_token_count", nullptr},
                        {"annotations", std::move(annotations)}};
}

// The runs with their evals, by example; as a JSON list or as CSV.
class RecordStream final : public net::BodySource {
public:
    RecordStream(const evaluate::Experiments& experiments, access::Caller caller, evaluate::ExperimentId experiment,
                 std::optional<std::vector<std::string>> eval_names)
        : m_experiments(experiments),
          m_caller(std::move(caller)),
          m_experiment(std::move(experiment)),
          m_eval_names(std::move(eval_names)),
          m_text(m_eval_names ? csv_head() : "[") {}

    Result<std::string> next() override {
        if (m_is_over) return std::string();
        std::string text = std::exchange(m_text, {});
        const auto records = TRY(m_experiments.records(m_caller, m_experiment, m_after, page_size));
        for (const auto& record : records) {
            if (m_eval_names) {
                text += csv_row(record);
            } else {
                if (std::exchange(m_has_begun, true)) text += ',';
                text += json::print(record_value(record));
            }
        }
        const auto next_after = TRY(m_experiments.next_position(m_caller, m_experiment, m_after, page_size));
        if (next_after) {
            m_after = *next_after;
            return text.empty() ? next() : std::move(text);
        }
        m_is_over = true;
        if (!m_eval_names) text += "]";
        return text;
    }

private:
    static constexpr int64_t page_size = 300;

    std::string csv_head() const {
        std::string head = "example_id,repetition_number,input,reference_output,output,metadata,error,latency_ms,"
                           "start_time,end_time,trace_id";
        for (const std::string& name : *m_eval_names)
            for (const char* part : {"label", "score", "explanation", "metadata", "annotator_kind", "trace_id", "error",
                                     "start_time", "end_time"})
                head += "," + evaluate::quote_csv("annotation_" + name + "_" + part);
        return head + "\r\n";
    }
    std::string csv_row(const evaluate::RunRecord& record) const {
        std::string row = make_node_id("DatasetExample", record.run.example_id);
        const auto add = [&](const std::string& text) { row += "," + evaluate::quote_csv(text); };
        add(std::to_string(record.run.repetition));
        add(record.example.input);
        add(record.example.output);
        add(record.run.output);
        add(record.example.metadata);
        add(record.run.error.value_or(""));
        add(json::print(milliseconds(record.run.started_at, record.run.ended_at)));
        add(phoenix_time(record.run.started_at));
        add(phoenix_time(record.run.ended_at));
        add(record.run.trace_id.value_or(""));
        for (const std::string& name : *m_eval_names) {
            const auto eval = std::find_if(record.evals.begin(), record.evals.end(),
                                           [&](const evaluate::ExperimentEval& one) { return one.name == name; });
            if (eval == record.evals.end()) {
                row += ",,,,,,,,,";
                continue;
            }
            add(eval->label.value_or(""));
            add(eval->score ? json::print(*eval->score) : "");
            add(eval->explanation.value_or(""));
            add(json::print(eval->metadata));
            add(uppercase(name_of(eval->kind)));
            add(eval->trace_id.value_or(""));
            add(eval->error.value_or(""));
            add(phoenix_time(eval->started_at));
            add(phoenix_time(eval->ended_at));
        }
        return row + "\r\n";
    }

    const evaluate::Experiments& m_experiments;
    const access::Caller m_caller;
    const evaluate::ExperimentId m_experiment;
    const std::optional<std::vector<std::string>> m_eval_names;
    std::string m_text;
    int64_t m_after = -1;
    bool m_has_begun = false;
    bool m_is_over = false;
};

Result<evaluate::Experiment> experiment_with_runs(const Call& call) {
    const auto found = TRY(call.services.evaluate.experiments.find(call.caller, TRY(experiment_of_path(call))));
    if (found.successful_runs + found.failed_runs == 0) return not_found("a run of experiment " + found.id.text());
    return found;
}

} // namespace

Result<net::Response> download_experiment_json(const Call& call) {
    const auto experiment = TRY(experiment_with_runs(call));
    net::Response response;
    response.content_type = "application/json";
    response.stream =
        std::make_unique<RecordStream>(call.services.evaluate.experiments, call.caller, experiment.id, std::nullopt);
    return response;
}

Result<net::Response> download_experiment_csv(const Call& call) {
    const auto experiment = TRY(experiment_with_runs(call));
    net::Response response;
    response.content_type = "text/csv; charset=utf-8";
    const auto names = TRY(call.services.evaluate.experiments.eval_names(call.caller, experiment.id));
    response.stream =
        std::make_unique<RecordStream>(call.services.evaluate.experiments, call.caller, experiment.id, names);
    return response;
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

// A client that sends runs and evals sends all of them at the same time, reads what is missing, and ends at the first
// refusal.
const Route phoenix_experiment_runs_table[] = {
    route<create_experiment_run>("POST", "/v1/experiments/{experiment}/runs", need(experiment_write),
                                 "Store a run; replaces a failed one, conflicts with a successful one.")
        .patient()
        .like_phoenix(),
    route<list_experiment_runs>("GET", "/v1/experiments/{experiment}/runs", need(dataset_read),
                                "Runs of an experiment, oldest first.")
        .raw("application/json")
        .patient()
        .like_phoenix(),
    route<list_incomplete_runs>("GET", "/v1/experiments/{experiment}/incomplete-runs", need(dataset_read),
                                "Examples with repetitions that are missing or failed.")
        .patient()
        .like_phoenix(),
    route<list_incomplete_evaluations>("GET", "/v1/experiments/{experiment}/incomplete-evaluations", need(dataset_read),
                                       "Successful runs without some of the named evals.")
        .raw("application/json")
        .patient()
        .like_phoenix(),
    route<set_evaluation>("POST", "/v1/experiment_evaluations", need(experiment_write),
                          "Store or replace the eval of a run.")
        .patient()
        .like_phoenix(),
    route<download_experiment_json>("GET", "/v1/experiments/{experiment}/json", need(dataset_read),
                                    "Runs with their evals as a JSON list.")
        .raw("application/json")
        .like_phoenix(),
    route<download_experiment_csv>("GET", "/v1/experiments/{experiment}/csv", need(dataset_read),
                                   "Runs with their evals as CSV.")
        .raw("text/csv")
        .like_phoenix(),
};

} // namespace

std::span<const Route> phoenix_experiment_runs_routes() {
    return phoenix_experiment_runs_table;
}

} // namespace hone::api
