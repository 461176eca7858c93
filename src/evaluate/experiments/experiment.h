// An experiment: the examples of a dataset version run through something, repeated and evaluated. Values only; any
// thread.
#pragma once

#include "evaluate/datasets/dataset.h"

namespace hone::evaluate {

struct ExperimentTag {
    static constexpr std::string_view kind = "experiment";
};
struct ExperimentRunTag {
    static constexpr std::string_view kind = "experimentrun";
};
struct ExperimentEvalTag {
    static constexpr std::string_view kind = "experimenteval";
};
struct ExperimentMarkTag {
    static constexpr std::string_view kind = "experimenttag";
};
using ExperimentId = Id<ExperimentTag>;
using ExperimentRunId = Id<ExperimentRunTag>;
using ExperimentEvalId = Id<ExperimentEvalTag>;
using ExperimentMarkId = Id<ExperimentMarkTag>;

struct Experiment {
    ExperimentId id;
    DatasetId dataset_id;
    DatasetVersionId version_id;
    access::SpaceId space_id;
    int64_t version = 0; // number of the dataset version
    std::string name;
    std::string description;
    json::Value metadata = json::Object{};
    int64_t repetitions = 1;
    access::ProjectId project_id;
    std::string project_name; // where the traces of its runs go
    int64_t example_count = 0;
    std::string created_by;
    Time created_at{};
    Time updated_at{};
    // Of now.
    int64_t successful_runs = 0;
    int64_t failed_runs = 0;
    int64_t missing_runs() const { return example_count * repetitions - successful_runs - failed_runs; }
};

struct NewExperiment {
    std::optional<std::string> name{};
    std::string description{};
    json::Value metadata = json::Object{};
    int64_t repetitions = 1;
    int64_t version = INT64_MAX;       // number; the largest: the newest one
    std::vector<std::string> splits{}; // names or ids; none: all examples
};

struct ExperimentChange {
    std::optional<std::string> name{};
    std::optional<std::string> description{};
    std::optional<json::Value> metadata{};
};

struct ExperimentRun {
    ExperimentRunId id;
    ExperimentId experiment_id;
    ExampleId example_id;
    int64_t repetition = 1;
    std::string output = "null"; // JSON
    std::optional<std::string> error;
    std::optional<std::string> trace_id;
    Time started_at{};
    Time ended_at{};
};

enum class AnnotatorKind { llm, code, human };
constexpr auto enum_names(AnnotatorKind) {
    return std::array{EnumName{AnnotatorKind::llm, "llm"}, EnumName{AnnotatorKind::code, "code"},
                      EnumName{AnnotatorKind::human, "human"}};
}

// The eval of a run: a label, a score, or why there is none.
struct ExperimentEval {
    ExperimentEvalId id;
    ExperimentRunId run_id;
    std::string name;
    AnnotatorKind kind = AnnotatorKind::code;
    std::optional<std::string> label;
    std::optional<double> score;
    std::optional<std::string> explanation;
    std::optional<std::string> error;
    json::Value metadata = json::Object{};
    std::optional<std::string> trace_id;
    Time started_at{};
    Time ended_at{};
    std::optional<std::string> evaluator{}; // name of the evaluator that this server applied; none: a client sent it
};

// What a person decides about a run, beside the eval of the same name.
struct EvalCorrection {
    ExperimentRunId run_id;
    std::string name; // of the eval
    std::string author;
    std::string author_name;
    std::optional<std::string> label;
    std::optional<double> score;
    std::string explanation;
    Time updated_at{};
};

// An example with repetitions that are missing or failed.
struct IncompleteRun {
    Example example;
    std::vector<int64_t> repetitions;
};

// A run without some of the wanted evals.
struct IncompleteEvaluation {
    ExperimentRun run;
    Example example;
    std::vector<std::string> names;
};

// A run with its example and its evals.
struct RunRecord {
    ExperimentRun run;
    Example example;
    std::vector<ExperimentEval> evals;
    std::vector<EvalCorrection> corrections{}; // by name of the eval, newest first
};

// A run as a comparison needs it.
struct ScoredRun {
    ExampleId example_id;
    int64_t repetition = 1;
    bool is_failed = false;
    double latency_ms = 0;
    std::vector<std::pair<std::string, double>> scores; // by name of the eval
};

// What lists of experiments show beside the experiments.
struct EvalSummary {
    std::string name;
    int64_t examples = 0;
    double mean = 0;
    std::optional<double> low;
    std::optional<double> high;
    int64_t errors = 0;
    std::optional<std::string> evaluator_id{};
    std::optional<int64_t> evaluator_version{};
    static constexpr Pack fields{
        Field{"name", &EvalSummary::name, "Name of the evals."},
        Field{"examples", &EvalSummary::examples, "Examples with a score."},
        Field{"mean", &EvalSummary::mean, "Mean over these examples; repetitions of an example count as one mean."},
        Field{"low", &EvalSummary::low, "Lower end of the 95 % interval; null: fewer than two examples."},
        Field{"high", &EvalSummary::high, "Upper end of the 95 % interval."},
        Field{"errors", &EvalSummary::errors, "Evals that failed; they have no score."},
        Field{"evaluator_id", &EvalSummary::evaluator_id,
              "Id of the evaluator that this server applied; null: a client sent the evals."},
        Field{"evaluator_version", &EvalSummary::evaluator_version, "Number of its version."},
    };
};

struct ExperimentSummary {
    std::vector<EvalSummary> evals; // by name
    std::vector<std::string> tags;  // by name
};

// Marks one experiment of a dataset, such as the baseline.
struct ExperimentMark {
    ExperimentMarkId id;
    std::string name;
    std::string description;
};

} // namespace hone::evaluate
