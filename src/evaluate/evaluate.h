// Everything about measuring on examples: datasets, experiments, prompts, and the runner of experiments. Built once by
// server/; thread-safe.
#pragma once

#include "evaluate/datasets/datasets.h"
#include "evaluate/experiments/experiments.h"
#include "evaluate/prompts/prompts.h"
#include "evaluate/runner/experiment_runner.h"

namespace hone::evaluate {

// What running experiments needs of the machine.
struct EvaluateParts {
    sandbox::Provider* provider = nullptr; // null: nothing can be isolated
    TaskSources* sources = nullptr;
    std::string directory{}; // for short-lived files
};

struct Evaluate {
    Evaluate(sql::Database& database, const Clock& clock, access::Access& access, const EvaluateParts& parts = {})
        : datasets(database, clock, access),
          experiments(database, clock, access, datasets),
          prompts(database, clock, access),
          tasks(database, clock, access, experiments, parts.sources),
          runner({clock, experiments, tasks, parts.provider, parts.sources, parts.directory}) {}

    Datasets datasets;
    Experiments experiments;
    Prompts prompts;
    ExperimentTasks tasks;
    ExperimentRunner runner; // last: its threads use what stands above
};

} // namespace hone::evaluate
