// Everything about measuring on examples: datasets, experiments, prompts, annotation configs, and the runner of
// experiments. Built once by server/; thread-safe.
#pragma once

#include "evaluate/annotation_configs/annotation_configs.h"
#include "evaluate/calibration/calibrations.h"
#include "evaluate/datasets/datasets.h"
#include "evaluate/datasets/proposals.h"
#include "evaluate/experiments/experiments.h"
#include "evaluate/judges/agent_verdicts.h"
#include "evaluate/judges/judge.h"
#include "evaluate/pairs/pair_runner.h"
#include "evaluate/pairs/pair_tasks.h"
#include "evaluate/prompts/prompts.h"
#include "evaluate/queues/queues.h"
#include "evaluate/runner/experiment_runner.h"
#include "evaluate/runner/playground.h"
#include "evaluate/tasks/documents.h"
#include "evaluate/tasks/eval_tasks.h"
#include "evaluate/tasks/task_runner.h"

namespace hone::evaluate {

// What running experiments needs of the machine.
struct EvaluateParts {
    sandbox::Provider* provider = nullptr; // null: nothing can be isolated
    TaskSources* sources = nullptr;
    telemetry::Spans* spans = nullptr;  // null: there are none
    std::string directory{};            // for short-lived files, in the data directory
    std::string packages{};             // folder with packages for code
    SharedPlaces* places = nullptr;     // null: lanes need none
    AgentRuns* agents = nullptr;        // null: agents evaluate nothing
    RemoteAccess* remote = nullptr;     // null: no remote services are called
    notice::Notices* notices = nullptr; // null: there are none
    ExampleFiles* files = nullptr;      // null: examples name no files
};

struct Evaluate {
    Evaluate(sql::Database& database, const Clock& clock, access::Access& access, const EvaluateParts& parts = {})
        : datasets(database, clock, access, parts.files),
          proposals(database, clock, access, datasets),
          experiments(database, clock, access, datasets),
          prompts(database, clock, access),
          annotation_configs(database, clock, access),
          queues(database, clock, access, annotation_configs, datasets, parts.spans),
          calibrations(database, clock, access, parts.spans),
          tasks(database, clock, access, experiments, parts.sources),
          pairs(database, clock, access, experiments, parts.sources),
          playground(clock, access, datasets, prompts, parts.sources),
          agent_verdicts(database, clock),
          judges({database, clock, access,
                  [sources = parts.sources] { return sources == nullptr ? nullptr : sources->models(); },
                  [this](const auto& version, const auto& documents, const auto& stopped) {
                      return runner.run_code(version, documents, stopped);
                  },
                  parts.agents, parts.remote}),
          documents(access, parts.spans),
          eval_tasks(database, clock, access, parts.spans),
          runner({clock, datasets, experiments, tasks, judges, parts.provider, parts.sources, parts.spans,
                  parts.directory, parts.packages, parts.places}),
          eval_runner({database, clock, access, judges, documents, parts.spans, parts.notices, parts.places}),
          pair_runner(pairs, judges) {}

    Datasets datasets;
    Proposals proposals;
    Experiments experiments;
    Prompts prompts;
    AnnotationConfigs annotation_configs;
    Queues queues;
    Calibrations calibrations;
    ExperimentTasks tasks;
    PairTasks pairs;
    Playground playground;
    AgentVerdicts agent_verdicts;
    Judges judges;
    Documents documents;
    EvalTasks eval_tasks;
    ExperimentRunner runner;    // its threads use what stands above
    EvalTaskRunner eval_runner; // as do these, and the runner
    PairRunner pair_runner;
};

} // namespace hone::evaluate
