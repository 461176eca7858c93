// Experiments and their tags in the shapes of Arize Phoenix (ADR 0010), and the comparison of two.
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/phoenix/dataset_views.h"
#include "evaluate/experiments/compare.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ExperimentView {
    std::string id;
    std::string dataset_id;
    std::string dataset_version_id;
    std::string name;
    std::optional<std::string> description;
    int64_t repetitions = 1;
    json::Value metadata;
    std::optional<std::string> project_name;
    std::string created_at;
    std::string updated_at;
    int64_t example_count = 0;
    int64_t successful_run_count = 0;
    int64_t failed_run_count = 0;
    int64_t missing_run_count = 0;
    int64_t dataset_version = 0;
    std::string created_by;
    static constexpr Pack fields{
        Field{"id", &ExperimentView::id, "Id for Phoenix' clients; the plain id is accepted as well."},
        Field{"dataset_id", &ExperimentView::dataset_id, ""},
        Field{"dataset_version_id", &ExperimentView::dataset_version_id, ""},
        Field{"name", &ExperimentView::name, ""},
        Field{"description", &ExperimentView::description, ""},
        Field{"repetitions", &ExperimentView::repetitions, "Runs of each example."},
        Field{"metadata", &ExperimentView::metadata, "An object."},
        Field{"project_name", &ExperimentView::project_name, "Project with the traces of the runs."},
        Field{"created_at", &ExperimentView::created_at, ""},
        Field{"updated_at", &ExperimentView::updated_at, ""},
        Field{"example_count", &ExperimentView::example_count, "Examples that were frozen when it was created."},
        Field{"successful_run_count", &ExperimentView::successful_run_count, ""},
        Field{"failed_run_count", &ExperimentView::failed_run_count, ""},
        Field{"missing_run_count", &ExperimentView::missing_run_count, ""},
        Field{"dataset_version", &ExperimentView::dataset_version, "Number of the dataset version."},
        Field{"created_by", &ExperimentView::created_by, ""},
    };
};

struct CreateExperiment {
    static constexpr bool ignores_unknown = true;
    std::optional<std::string> name;
    std::optional<std::string> description;
    std::optional<std::map<std::string, json::Value>> metadata;
    std::optional<std::string> version_id;
    std::optional<std::vector<std::string>> splits;
    std::optional<int64_t> repetitions;
    static constexpr Pack fields{
        Field{"name", &CreateExperiment::name, ""},
        Field{"description", &CreateExperiment::description, ""},
        Field{"metadata", &CreateExperiment::metadata, ""},
        Field{"version_id", &CreateExperiment::version_id, "Id or number of a version; the newest if not given."},
        Field{"splits", &CreateExperiment::splits, "Ids or names of splits; all examples if not given."},
        Field{"repetitions", &CreateExperiment::repetitions, "1 to 1000; 1 if not given."},
    };
};

struct ChangeExperiment {
    static constexpr bool ignores_unknown = true;
    std::optional<std::optional<std::string>> name;
    std::optional<std::optional<std::string>> description;
    std::optional<std::optional<std::map<std::string, json::Value>>> metadata;
    static constexpr Pack fields{
        Field{"name", &ChangeExperiment::name, "Must not be null."},
        Field{"description", &ChangeExperiment::description, "null: none."},
        Field{"metadata", &ChangeExperiment::metadata, "Replaces the metadata; must not be null."},
    };
};

struct DeleteExperiment {
    static constexpr bool is_query = true;
    std::optional<bool> delete_project;
    static constexpr Pack fields{
        Field{"delete_project", &DeleteExperiment::delete_project, "Also delete the traces of its runs."},
    };
};

struct ExperimentTagView {
    std::string id;
    std::string name;
    std::optional<std::string> description;
    static constexpr Pack fields{
        Field{"id", &ExperimentTagView::id, ""},
        Field{"name", &ExperimentTagView::name, "Unique in the dataset, such as baseline."},
        Field{"description", &ExperimentTagView::description, ""},
    };
};

struct SetExperimentTag {
    static constexpr bool ignores_unknown = true;
    std::string name;
    std::optional<std::string> description;
    static constexpr Pack fields{
        Field{"name", &SetExperimentTag::name, "Letters in lower case, digits, - and _."},
        Field{"description", &SetExperimentTag::description, ""},
    };
};

struct CompareExperiments {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> base;
    std::optional<std::string> other;
    std::optional<std::string> dataset;
    std::optional<double> margin;
    std::vector<std::string> lower_is_better;
    std::optional<int64_t> limit;
    std::optional<int64_t> skip;
    static constexpr Pack fields{
        Field{"space", &CompareExperiments::space, "Id or name of the space; the caller's first one if not given."},
        Field{"base", &CompareExperiments::base, "Id of the first experiment; with `dataset` also a tag or a name."},
        Field{"other", &CompareExperiments::other, "Id of the second experiment; with `dataset` also a tag or a name."},
        Field{"dataset", &CompareExperiments::dataset,
              "Id or name of the dataset, to find experiments by tag or name."},
        Field{"margin", &CompareExperiments::margin, "A smaller drop passes the gate; 0.01 if not given."},
        Field{"lower_is_better", &CompareExperiments::lower_is_better,
              "Name of evals whose score should fall; may be repeated."},
        Field{"limit", &CompareExperiments::limit, "Examples in the response, 0 to 1000; 100 if not given."},
        Field{"skip", &CompareExperiments::skip, "Examples to leave out at the beginning."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

ExperimentView experiment_view(const evaluate::Experiment& experiment) {
    return {make_node_id("Experiment", experiment.id),
            make_node_id("Dataset", experiment.dataset_id),
            make_node_id("DatasetVersion", experiment.version_id),
            experiment.name,
            or_null(experiment.description),
            experiment.repetitions,
            experiment.metadata,
            experiment.project_name,
            phoenix_time(experiment.created_at),
            phoenix_time(experiment.updated_at),
            experiment.example_count,
            experiment.successful_runs,
            experiment.failed_runs,
            experiment.missing_runs(),
            experiment.version,
            experiment.created_by};
}

Result<evaluate::ExperimentId> experiment_in_path(const Call& call) {
    return read_node_id<evaluate::ExperimentTag>("Experiment", "experiment", call.at("experiment"));
}

ExperimentTagView tag_view(const evaluate::ExperimentMark& mark) {
    return {make_node_id("ExperimentTag", mark.id), mark.name, or_null(mark.description)};
}

} // namespace

Result<List<ExperimentView>> list_experiments(const Call& call, const ListInSpace& query) {
    const auto dataset = TRY(dataset_in_path(call, query.space));
    auto page = TRY(page_of(query.limit, query.cursor));
    if (!query.limit) page.limit = 50;
    const auto found = TRY(call.services.evaluate.experiments.list(call.caller, dataset.id, page));
    List<ExperimentView> list{{}, found.next_cursor};
    for (const auto& experiment : found.data) list.data.push_back(experiment_view(experiment));
    return list;
}

Result<One<ExperimentView>> create_experiment(const Call& call, const InSpace& query, const CreateExperiment& body) {
    const auto dataset = TRY(dataset_in_path(call, query.space, access::Permission::experiment_write));
    evaluate::NewExperiment wanted;
    wanted.name = body.name;
    wanted.description = body.description.value_or("");
    if (body.metadata) wanted.metadata = json::to_value(*body.metadata);
    wanted.repetitions = body.repetitions.value_or(1);
    if (body.version_id) wanted.version = TRY(version_of(call, dataset.id, body.version_id)).number;
    if (body.splits)
        for (const std::string& split : *body.splits) wanted.splits.push_back(plain_id("DatasetSplit", split));
    return One<ExperimentView>{
        experiment_view(TRY(call.services.evaluate.experiments.create(call.caller, dataset.id, wanted)))};
}

Result<One<ExperimentView>> get_experiment(const Call& call) {
    const auto id = TRY(experiment_in_path(call));
    return One<ExperimentView>{experiment_view(TRY(call.services.evaluate.experiments.find(call.caller, id)))};
}

Result<One<ExperimentView>> change_experiment(const Call& call, const ChangeExperiment& body) {
    const auto id = TRY(experiment_in_path(call));
    evaluate::ExperimentChange change;
    if (body.name && !*body.name) return invalid("name must not be null");
    if (body.metadata && !*body.metadata) return invalid("metadata must not be null");
    if (body.name) change.name = **body.name;
    if (body.description) change.description = body.description->value_or("");
    if (body.metadata) change.metadata = json::to_value(**body.metadata);
    return One<ExperimentView>{
        experiment_view(TRY(call.services.evaluate.experiments.update(call.caller, id, change)))};
}

Result<NoContent> delete_experiment(const Call& call, const DeleteExperiment& query) {
    const auto id = TRY(experiment_in_path(call));
    TRY(call.services.evaluate.experiments.remove(call.caller, id, query.delete_project.value_or(false)));
    if (query.delete_project.value_or(false)) call.services.installation.wake_duties();
    return NoContent{};
}

Result<List<ExperimentTagView>> list_experiment_tags(const Call& call) {
    const auto id = TRY(experiment_in_path(call));
    List<ExperimentTagView> list;
    for (const auto& mark : TRY(call.services.evaluate.experiments.tags(call.caller, id)))
        list.data.push_back(tag_view(mark));
    return list;
}

Result<One<ExperimentTagView>> set_experiment_tag(const Call& call, const SetExperimentTag& body) {
    const auto id = TRY(experiment_in_path(call));
    return One<ExperimentTagView>{tag_view(
        TRY(call.services.evaluate.experiments.set_tag(call.caller, id, body.name, body.description.value_or(""))))};
}

Result<NoContent> delete_experiment_tag(const Call& call) {
    const auto id = TRY(experiment_in_path(call));
    TRY(call.services.evaluate.experiments.remove_tag(call.caller, id, plain_id("ExperimentTag", call.at("tag"))));
    return NoContent{};
}

Result<One<evaluate::Comparison>> compare_experiments(const Call& call, const CompareExperiments& query) {
    if (!query.base || !query.other) return invalid("base and other are needed: two experiments");
    const evaluate::Experiments& experiments = call.services.evaluate.experiments;
    const auto find = [&](const std::string& text) -> Result<evaluate::ExperimentId> {
        const std::string plain = plain_id("Experiment", text);
        if (auto id = parse_id<evaluate::ExperimentTag>(plain); id.ok()) return id;
        if (!query.dataset) return not_found("experiment " + std::string(truncate_utf8(text, 100)));
        const auto space = TRY(space_of(call, query.space));
        const auto dataset =
            TRY(call.services.evaluate.datasets.find(call.caller, space, plain_id("Dataset", *query.dataset)));
        return TRY(experiments.find_by_name(call.caller, dataset.id, plain)).id;
    };
    evaluate::CompareOptions options;
    options.margin = query.margin.value_or(options.margin);
    options.lower_is_better = query.lower_is_better;
    options.limit = query.limit.value_or(options.limit);
    options.skip = query.skip.value_or(0);
    const auto base = TRY(find(*query.base));
    const auto other = TRY(find(*query.other));
    const auto pairs = TRY(call.services.evaluate.pairs.results(call.caller, base, other));
    return One<evaluate::Comparison>{TRY(evaluate::compare(experiments, call.caller, base, other, options, pairs))};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route phoenix_experiments_table[] = {
    route<compare_experiments>("GET", "/v1/experiments/compare", need(dataset_read),
                               "Compare two experiments by their common examples, with tests and a gate.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<list_experiments>("GET", "/v1/datasets/{dataset}/experiments", need(dataset_read),
                            "Experiments on a dataset, newest first.")
        .like_phoenix(),
    route<create_experiment>("POST", "/v1/datasets/{dataset}/experiments", need(experiment_write),
                             "Create an experiment on the examples of a version.")
        .like_phoenix(),
    route<get_experiment>("GET", "/v1/experiments/{experiment}", need(dataset_read), "An experiment and its counts.")
        .patient()
        .like_phoenix(),
    route<change_experiment>("PATCH", "/v1/experiments/{experiment}", need(experiment_write),
                             "Change the name, description or metadata of an experiment.")
        .like_phoenix(),
    route<delete_experiment>("DELETE", "/v1/experiments/{experiment}", need(experiment_write),
                             "Delete an experiment with its runs and evals.")
        .like_phoenix(),
    route<list_experiment_tags>("GET", "/v1/experiments/{experiment}/tags", need(dataset_read),
                                "Tags of an experiment.")
        .like_phoenix(),
    route<set_experiment_tag>("POST", "/v1/experiments/{experiment}/tags", need(experiment_write),
                              "Give an experiment a tag; another experiment of the dataset loses it.")
        .like_phoenix(),
    route<delete_experiment_tag>("DELETE", "/v1/experiments/{experiment}/tags/{tag}", need(experiment_write),
                                 "Remove a tag of an experiment.")
        .like_phoenix(),
};

} // namespace

std::span<const Route> phoenix_experiments_routes() {
    return phoenix_experiments_table;
}

} // namespace hone::api
