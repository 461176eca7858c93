// How the tables of experiments are read; for the files of this folder.
#pragma once

#include "evaluate/datasets/dataset_rows.h"
#include "evaluate/experiments/experiment.h"

namespace hone::evaluate {

inline constexpr Pack experiment_columns{
    sql::Column{"id", &Experiment::id},
    sql::Column{"dataset_id", &Experiment::dataset_id},
    sql::Column{"space_id", &Experiment::space_id},
    sql::Column{"version", &Experiment::version},
    sql::Column{"name", &Experiment::name},
    sql::Column{"description", &Experiment::description},
    sql::Column{"metadata", stored_metadata},
    sql::Column{"repetitions", &Experiment::repetitions},
    sql::Column{"project_id", &Experiment::project_id},
    sql::Column{"project_name", &Experiment::project_name},
    sql::Column{"example_count", &Experiment::example_count},
    sql::Column{"created_by_name", &Experiment::created_by},
    sql::Column{"created_at", &Experiment::created_at},
    sql::Column{"updated_at", &Experiment::updated_at},
};
inline const std::string select_experiment =
    "SELECT " + sql::names(experiment_columns, "x.") +
    ", v.id, (SELECT COUNT(*) FROM experiment_runs r WHERE r.experiment_id = x.id AND r.error IS NULL), (SELECT "
    "COUNT(*) FROM experiment_runs r WHERE r.experiment_id = x.id AND r.error IS NOT NULL) FROM experiments x JOIN "
    "dataset_versions v ON v.dataset_id = x.dataset_id AND v.number = x.version";
inline Experiment experiment_of(const sql::Row& row) {
    Experiment found = sql::read<Experiment>(experiment_columns, row);
    constexpr size_t next = sql::width(experiment_columns);
    found.version_id = row.id<DatasetVersionTag>(next);
    found.successful_runs = row.integer(next + 1);
    found.failed_runs = row.integer(next + 2);
    return found;
}

inline constexpr Pack run_columns{
    sql::Column{"id", &ExperimentRun::id},
    sql::Column{"experiment_id", &ExperimentRun::experiment_id},
    sql::Column{"example_id", &ExperimentRun::example_id},
    sql::Column{"repetition", &ExperimentRun::repetition},
    sql::Column{"output", &ExperimentRun::output},
    sql::Column{"error", &ExperimentRun::error},
    sql::Column{"trace_id", &ExperimentRun::trace_id},
    sql::Column{"started_at", &ExperimentRun::started_at},
    sql::Column{"ended_at", &ExperimentRun::ended_at},
};

inline constexpr Pack eval_columns{
    sql::Column{"id", &ExperimentEval::id},
    sql::Column{"run_id", &ExperimentEval::run_id},
    sql::Column{"name", &ExperimentEval::name},
    sql::Column{"kind", &ExperimentEval::kind},
    sql::Column{"label", &ExperimentEval::label},
    sql::Column{"score", &ExperimentEval::score},
    sql::Column{"explanation", &ExperimentEval::explanation},
    sql::Column{"error", &ExperimentEval::error},
    sql::Column{"metadata", stored_metadata},
    sql::Column{"trace_id", &ExperimentEval::trace_id},
    sql::Column{"started_at", &ExperimentEval::started_at},
    sql::Column{"ended_at", &ExperimentEval::ended_at},
    sql::Column{"evaluator", &ExperimentEval::evaluator},
};

} // namespace hone::evaluate
