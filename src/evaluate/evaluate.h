// Everything about measuring on examples: datasets, experiments, prompts, annotation
// configs. Built once by server/; thread-safe.
#pragma once

#include "evaluate/annotation_configs/annotation_configs.h"
#include "evaluate/datasets/datasets.h"
#include "evaluate/experiments/experiments.h"
#include "evaluate/prompts/prompts.h"

namespace hone::evaluate {

struct Evaluate {
    Evaluate(sql::Database& database, const Clock& clock, access::Access& access)
        : datasets(database, clock, access),
          experiments(database, clock, access, datasets),
          prompts(database, clock, access),
          annotation_configs(database, clock, access) {}

    Datasets datasets;
    Experiments experiments;
    Prompts prompts;
    AnnotationConfigs annotation_configs;
};

} // namespace hone::evaluate
