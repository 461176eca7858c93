// The route table: the rows of all families, in the order of the documents. A family is a file in families/ (or mcp/)
// that ends with its rows.
#include "api/core/route.h"

namespace hone::api {

std::span<const Route> sessions_routes();
std::span<const Route> sign_on_routes();
std::span<const Route> agents_routes();
std::span<const Route> spaces_routes();
std::span<const Route> roles_routes();
std::span<const Route> budgets_routes();
std::span<const Route> space_policies_routes();
std::span<const Route> users_routes();
std::span<const Route> password_links_routes();
std::span<const Route> projects_routes();
std::span<const Route> keys_routes();
std::span<const Route> audit_routes();
std::span<const Route> server_routes();
std::span<const Route> storage_routes();
std::span<const Route> traces_routes();
std::span<const Route> records_routes();
std::span<const Route> langsmith_routes();
std::span<const Route> transfer_routes();
std::span<const Route> tail_routes();
std::span<const Route> texts_routes();
std::span<const Route> views_routes();
std::span<const Route> queries_routes();
std::span<const Route> doctor_routes();
std::span<const Route> logs_routes();
std::span<const Route> trace_settings_routes();
std::span<const Route> evals_routes();
std::span<const Route> deletion_routes();
std::span<const Route> phoenix_spans_routes();
std::span<const Route> phoenix_span_queries_routes();
std::span<const Route> phoenix_traces_routes();
std::span<const Route> phoenix_annotations_routes();
std::span<const Route> phoenix_annotation_configs_routes();
std::span<const Route> phoenix_datasets_routes();
std::span<const Route> phoenix_dataset_files_routes();
std::span<const Route> phoenix_dataset_groups_routes();
std::span<const Route> phoenix_experiments_routes();
std::span<const Route> phoenix_experiment_runs_routes();
std::span<const Route> dataset_schema_routes();
std::span<const Route> experiment_tasks_routes();
std::span<const Route> eval_tasks_routes();
std::span<const Route> playground_routes();
std::span<const Route> proposals_routes();
std::span<const Route> queues_routes();
std::span<const Route> calibrations_routes();
std::span<const Route> corrections_routes();
std::span<const Route> pair_tasks_routes();
std::span<const Route> phoenix_prompts_routes();
std::span<const Route> dataset_sources_routes();
std::span<const Route> evaluate_rows_routes();
std::span<const Route> presets_routes();
std::span<const Route> runs_routes();
std::span<const Route> run_records_routes();
std::span<const Route> run_files_routes();
std::span<const Route> artifacts_routes();
std::span<const Route> mcp_routes();
std::span<const Route> skills_routes();
std::span<const Route> egress_routes();
std::span<const Route> encryption_routes();
std::span<const Route> automations_routes();
std::span<const Route> monitors_routes();
std::span<const Route> destinations_routes();
std::span<const Route> notices_routes();
std::span<const Route> issues_routes();
std::span<const Route> evaluators_routes();
std::span<const Route> repos_routes();
std::span<const Route> reviews_routes();
std::span<const Route> replays_routes();
std::span<const Route> pull_requests_routes();
std::span<const Route> forge_hooks_routes();

std::span<const Route> routes() {
    static const std::vector<Route> all = [] {
        std::vector<Route> joined;
        for (const auto family : {
                 sessions_routes(),
                 sign_on_routes(),
                 agents_routes(),
                 spaces_routes(),
                 roles_routes(),
                 budgets_routes(),
                 space_policies_routes(),
                 users_routes(),
                 password_links_routes(),
                 projects_routes(),
                 keys_routes(),
                 audit_routes(),
                 server_routes(),
                 storage_routes(),
                 traces_routes(),
                 records_routes(),
                 langsmith_routes(),
                 transfer_routes(),
                 tail_routes(),
                 texts_routes(),
                 views_routes(),
                 queries_routes(),
                 doctor_routes(),
                 logs_routes(),
                 trace_settings_routes(),
                 evals_routes(),
                 deletion_routes(),
                 phoenix_spans_routes(),
                 phoenix_span_queries_routes(),
                 phoenix_traces_routes(),
                 phoenix_annotations_routes(),
                 phoenix_annotation_configs_routes(),
                 phoenix_datasets_routes(),
                 phoenix_dataset_files_routes(),
                 phoenix_dataset_groups_routes(),
                 phoenix_experiments_routes(),
                 phoenix_experiment_runs_routes(),
                 dataset_schema_routes(),
                 experiment_tasks_routes(),
                 eval_tasks_routes(),
                 playground_routes(),
                 proposals_routes(),
                 queues_routes(),
                 calibrations_routes(),
                 corrections_routes(),
                 pair_tasks_routes(),
                 phoenix_prompts_routes(),
                 dataset_sources_routes(),
                 evaluate_rows_routes(),
                 presets_routes(),
                 run_records_routes(), // before /v1/runs/{run}
                 runs_routes(),
                 run_files_routes(),
                 artifacts_routes(),
                 mcp_routes(),
                 skills_routes(),
                 egress_routes(),
                 encryption_routes(),
                 automations_routes(),
                 monitors_routes(),
                 destinations_routes(),
                 notices_routes(),
                 issues_routes(),
                 evaluators_routes(),
                 repos_routes(),
                 reviews_routes(),
                 replays_routes(),
                 pull_requests_routes(),
                 forge_hooks_routes(),
             })
            joined.insert(joined.end(), family.begin(), family.end());
        return joined;
    }();
    return all;
}

} // namespace hone::api
