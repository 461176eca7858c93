// The examples of all families.
#pragma once

#include "api/families/drop_in/langsmith.examples.test.h"
#include "api/families/evaluate/calibrations.examples.test.h"
#include "api/families/evaluate/corrections.examples.test.h"
#include "api/families/evaluate/dataset_schema.examples.test.h"
#include "api/families/evaluate/dataset_sources.examples.test.h"
#include "api/families/evaluate/eval_tasks.examples.test.h"
#include "api/families/evaluate/evaluate_rows.examples.test.h"
#include "api/families/evaluate/experiment_tasks.examples.test.h"
#include "api/families/evaluate/pair_tasks.examples.test.h"
#include "api/families/evaluate/playground.examples.test.h"
#include "api/families/evaluate/proposals.examples.test.h"
#include "api/families/evaluate/queues.examples.test.h"
#include "api/families/loop/artifacts.examples.test.h"
#include "api/families/loop/automations.examples.test.h"
#include "api/families/loop/destinations.examples.test.h"
#include "api/families/loop/egress.examples.test.h"
#include "api/families/loop/encryption.examples.test.h"
#include "api/families/loop/evaluators.examples.test.h"
#include "api/families/loop/issues.examples.test.h"
#include "api/families/loop/monitors.examples.test.h"
#include "api/families/loop/notices.examples.test.h"
#include "api/families/loop/presets.examples.test.h"
#include "api/families/loop/pull_requests.examples.test.h"
#include "api/families/loop/replays.examples.test.h"
#include "api/families/loop/repos.examples.test.h"
#include "api/families/loop/reviews.examples.test.h"
#include "api/families/loop/run_files.examples.test.h"
#include "api/families/loop/run_records.examples.test.h"
#include "api/families/loop/runs.examples.test.h"
#include "api/families/loop/skills.examples.test.h"
#include "api/families/phoenix/phoenix_annotation_configs.examples.test.h"
#include "api/families/phoenix/phoenix_annotations.examples.test.h"
#include "api/families/phoenix/phoenix_dataset_files.examples.test.h"
#include "api/families/phoenix/phoenix_dataset_groups.examples.test.h"
#include "api/families/phoenix/phoenix_datasets.examples.test.h"
#include "api/families/phoenix/phoenix_experiment_runs.examples.test.h"
#include "api/families/phoenix/phoenix_experiments.examples.test.h"
#include "api/families/phoenix/phoenix_prompts.examples.test.h"
#include "api/families/phoenix/phoenix_span_queries.examples.test.h"
#include "api/families/phoenix/phoenix_spans.examples.test.h"
#include "api/families/phoenix/phoenix_traces.examples.test.h"
#include "api/families/team/agents.examples.test.h"
#include "api/families/team/audit.examples.test.h"
#include "api/families/team/budgets.examples.test.h"
#include "api/families/team/keys.examples.test.h"
#include "api/families/team/projects.examples.test.h"
#include "api/families/team/roles.examples.test.h"
#include "api/families/team/server.examples.test.h"
#include "api/families/team/sessions.examples.test.h"
#include "api/families/team/sign_on.examples.test.h"
#include "api/families/team/space_policies.examples.test.h"
#include "api/families/team/spaces.examples.test.h"
#include "api/families/team/storage.examples.test.h"
#include "api/families/traces/doctor.examples.test.h"
#include "api/families/traces/evals.examples.test.h"
#include "api/families/traces/logs.examples.test.h"
#include "api/families/traces/queries.examples.test.h"
#include "api/families/traces/records.examples.test.h"
#include "api/families/traces/tail.examples.test.h"
#include "api/families/traces/texts.examples.test.h"
#include "api/families/traces/trace_settings.examples.test.h"
#include "api/families/traces/traces.examples.test.h"
#include "api/families/traces/transfer.examples.test.h"
#include "api/families/traces/views.examples.test.h"
#include "api/mcp/mcp.examples.test.h"

#include <span>
#include <vector>

namespace hone::api::testing {

inline const std::vector<Example> examples = [] {
    std::vector<Example> all;
    for (const std::span<const Example> family : std::initializer_list<std::span<const Example>>{
             sessions_examples,
             sign_on_examples,
             agents_examples,
             spaces_examples,
             roles_examples,
             budgets_examples,
             space_policies_examples,
             projects_examples,
             keys_examples,
             audit_examples,
             server_examples,
             storage_examples,
             traces_examples,
             transfer_examples,
             tail_examples,
             texts_examples,
             views_examples,
             queries_examples,
             trace_settings_examples,
             evals_examples,
             phoenix_spans_examples,
             phoenix_traces_examples,
             phoenix_annotations_examples,
             phoenix_datasets_examples,
             phoenix_dataset_files_examples,
             phoenix_dataset_groups_examples,
             phoenix_experiments_examples,
             phoenix_experiment_runs_examples,
             dataset_sources_examples,
             evaluate_rows_examples,
             phoenix_annotation_configs_examples,
             phoenix_span_queries_examples,
             dataset_schema_examples,
             eval_tasks_examples,
             experiment_tasks_examples,
             playground_examples,
             proposals_examples,
             queues_examples,
             calibrations_examples,
             corrections_examples,
             pair_tasks_examples,
             phoenix_prompts_examples,
             presets_examples,
             runs_examples,
             run_records_examples,
             run_files_examples,
             artifacts_examples,
             mcp_examples,
             skills_examples,
             egress_examples,
             encryption_examples,
             automations_examples,
             monitors_examples,
             destinations_examples,
             notices_examples,
             issues_examples,
             evaluators_examples,
             repos_examples,
             reviews_examples,
             replays_examples,
             pull_requests_examples,
             records_examples,
             langsmith_examples,
             doctor_examples,
             logs_examples,
         })
        all.insert(all.end(), family.begin(), family.end());
    return all;
}();

} // namespace hone::api::testing
