// Everything about measuring on examples: datasets, experiments, prompts, annotation configs, and the runner of
// experiments. Built once by server/; thread-safe.
#pragma once

#include "evaluate/annotation_configs/annotation_configs.h"
#include "evaluate/calibration/calibrations.h"
#include "evaluate/datasets/datasets.h"
#include "evaluate/datasets/proposals.h"
#include "evaluate/experiments/experiments.h"
#include "evaluate/prompts/prompts.h"
#include "evaluate/queues/queues.h"
#include "evaluate/runner/experiment_runner.h"
#include "evaluate/runner/playground.h"

namespace hone::evaluate {

// What running experiments needs of the machine.
struct EvaluateParts {
    sandbox::Provider* provider = nullptr; // null: nothing can be isolated
    TaskSources* sources = nullptr;
    telemetry::Spans* spans = nullptr; // null: there are none
    std::string directory{};           // for short-lived files, in the data directory
    std::string packages{};            // folder with packages for code
    SharedPlaces* places = nullptr;    // null: lanes need none
};

struct Evaluate {
    Evaluate(sql::Database& database, const Clock& clock, access::Access& access, const EvaluateParts& parts = {})
        : datasets(database, clock, access),
          proposals(database, clock, access, datasets),
          experiments(database, clock, access, datasets),
          prompts(database, clock, access),
          annotation_configs(database, clock, access),
          queues(database, clock, access, annotation_configs, datasets, parts.spans),
          calibrations(database, clock, access, parts.spans),
          tasks(database, clock, access, experiments, parts.sources),
          playground(clock, access, prompts, parts.sources),
          runner({clock, experiments, tasks, parts.provider, parts.sources, parts.spans, parts.directory,
                  parts.packages, parts.places}) {}

    Datasets datasets;
    Proposals proposals;
    Experiments experiments;
    Prompts prompts;
    AnnotationConfigs annotation_configs;
    Queues queues;
    Calibrations calibrations;
    ExperimentTasks tasks;
    Playground playground;
    ExperimentRunner runner; // last: its threads use what stands above
};

} // namespace hone::evaluate
